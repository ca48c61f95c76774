// Package shape describes the stacks that the benchmarks measure, so that a name means the same to every program and to
// the floor. It is independent of engines.
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

// Name returns the name of resource i.
func Name(i int) string { return fmt.Sprintf("thing-%05d", i) }

// Environment variables that define what a program process declares.
const (
	EnvShape  = "BENCH_SHAPE"
	EnvSize   = "BENCH_SIZE"
	EnvClient = "BENCH_CLIENT" // ClientSDK or ClientThin
)

// The clients with which a program process calls the monitor.
const (
	ClientSDK  = "sdk"  // Pulumi's Go SDK
	ClientThin = "thin" // plain gRPC calls
)

// FromEnvironment returns the stack that a program process declares.
func FromEnvironment() (name string, size int, err error) {
	size, err = strconv.Atoi(os.Getenv(EnvSize))
	if err != nil {
		return "", 0, fmt.Errorf("%s must be the number of resources: %w", EnvSize, err)
	}
	return os.Getenv(EnvShape), size, nil
}
