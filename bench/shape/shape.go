// Package shape describes the stacks that the benchmarks measure, so that every program and the floor mean the same by a
// name. It knows nothing of engines.
//
// Invariant: a resource depends only on resources with smaller numbers.
package shape

import (
	"fmt"
	"os"
	"strconv"
)

// Type is the type of every resource.
const Type = "simple:index:Thing"

// Names of the shapes.
const (
	Wide  = "wide"  // independent resources
	Chain = "chain" // each depends on the one before
	Hub   = "hub"   // all depend on the first
)

// All are the names of the shapes.
var All = [...]string{Wide, Chain, Hub}

// DependencyOf returns the resource on which resource i of a shape depends; ok is false when it depends on none.
func DependencyOf(name string, i int) (dependency int, ok bool) {
	switch {
	case i == 0 || name == Wide:
		return 0, false
	case name == Chain:
		return i - 1, true
	}
	return 0, true
}

// Name is the name of resource i.
func Name(i int) string { return fmt.Sprintf("thing-%05d", i) }

// Environment variables through which a program process is told what to declare.
const (
	EnvShape  = "BENCH_SHAPE"
	EnvSize   = "BENCH_SIZE"
	EnvClient = "BENCH_CLIENT" // ClientSDK or ClientThin
)

// How a program process speaks to the monitor.
const (
	ClientSDK  = "sdk"  // Pulumi's Go SDK
	ClientThin = "thin" // bare gRPC calls
)

// FromEnvironment returns what a program process is to declare.
func FromEnvironment() (name string, size int, err error) {
	size, err = strconv.Atoi(os.Getenv(EnvSize))
	if err != nil {
		return "", 0, fmt.Errorf("%s must be the number of resources: %w", EnvSize, err)
	}
	return os.Getenv(EnvShape), size, nil
}
