// Package shape describes the stacks that the benchmarks measure, so that a name means the same to every program and to
// the floor. It is independent of engines.
//
// Invariant: a resource depends only on resources with smaller numbers.
package shape

import (
	"fmt"
	"math"
	"os"
	"strconv"
)

// Type is the type of every resource.
const Type = "simple:index:Thing"

// Component is the type of components.
const Component = "simple:index:Group"

// Names of the shapes.
const (
	Wide    = "wide"    // independent resources
	Chain   = "chain"   // each depends on the one before
	Hub     = "hub"     // all depend on the first
	Tree    = "tree"    // components within components; each has nine resources
	Layers  = "layers"  // each depends on three of the layer before; there are as many layers as resources in one
	Hubs    = "hubs"    // each depends on one of the first ten
	Aliases = "aliases" // independent, with three former names each
	Large   = "large"   // independent, with inputs of 10 KB
)

// All returns the names of the shapes. Programs in processes declare only [Simple] ones.
func All() []string { return append(Simple(), Tree, Layers, Hubs, Aliases, Large) }

// Simple returns the shapes whose resources have at most one dependency, and nothing else that is special.
func Simple() []string { return []string{Wide, Chain, Hub} }

// Numbers of the shapes.
const (
	family     = 10 // a component and its resources
	branches   = 4  // components within a component
	hubs       = 10
	fewest     = 3 // dependencies on the layer before
	formerly   = 3 // former names of a resource with aliases
	largeInput = 10_000
)

// Resource is the definition of a resource in a shape. Others are referred to by number.
type Resource struct {
	Component bool
	Parent    int // -1 for none
	Needs     []int
	Aliases   int // how many former names it has
	Payload   int // bytes of an additional input
}

// Of describes resource i of a stack.
func Of(name string, size, i int) Resource {
	r := Resource{Parent: -1}
	switch name {
	case Tree:
		group := i / family
		r.Component = i%family == 0
		switch {
		case !r.Component:
			r.Parent = group * family
		case group > 0:
			r.Parent = (group - 1) / branches * family
		}
	case Layers:
		width := layerWidth(size)
		if layer := i / width; layer > 0 {
			for n := range min(fewest, width) {
				r.Needs = append(r.Needs, (layer-1)*width+(i+n)%width)
			}
		}
	case Hubs:
		if i >= hubs {
			r.Needs = []int{i % hubs}
		}
	case Aliases:
		r.Aliases = formerly
	case Large:
		r.Payload = largeInput
	default:
		if on, ok := DependencyOf(name, i); ok {
			r.Needs = []int{on}
		}
	}
	return r
}

func layerWidth(size int) int { return max(1, int(math.Sqrt(float64(size)))) }

// Depth returns the number of resources in the longest chain of dependencies.
func Depth(name string, size int) int {
	switch name {
	case Chain:
		return size
	case Layers:
		width := layerWidth(size)
		return (size + width - 1) / width
	case Hub, Hubs:
		return min(size, 2)
	}
	return 1
}

// Managed returns how many resources of a stack a provider manages: all but components.
func Managed(name string, size int) int {
	if name == Tree {
		return size - (size+family-1)/family
	}
	return size
}

// DependencyOf returns the resource on which resource i of a simple shape depends; ok is false when it depends on none.
func DependencyOf(name string, i int) (dependency int, ok bool) {
	switch {
	case i == 0 || name == Wide:
		return 0, false
	case name == Chain:
		return i - 1, true
	}
	return 0, true
}

// Label returns an input of resource i, if so many resources have changed.
func Label(i, changed int) string {
	if i < changed {
		return "changed"
	}
	return "benchmark"
}

// Name returns the name of resource i.
func Name(i int) string { return fmt.Sprintf("thing-%05d", i) }

// Environment variables that define the resources of a program process.
const (
	EnvShape  = "BENCH_SHAPE"
	EnvSize   = "BENCH_SIZE"
	EnvClient = "BENCH_CLIENT" // of a program in Go: ClientSDK or ClientThin
	EnvKey    = "BENCH_KEY"    // of a ClientThin: an input of the hub; a change replaces the hub and all its dependents
	// EnvChanged names a file with the number of resources of a program in Go that have other inputs than without it; "" is none.
	EnvChanged = "BENCH_CHANGED"
)

// The clients with which a program process calls the monitor.
const (
	ClientSDK    = "sdk"    // Pulumi's Go SDK
	ClientThin   = "thin"   // plain gRPC calls
	ClientNode   = "node"   // Pulumi's Node.js SDK
	ClientPython = "python" // Pulumi's Python SDK
)

// KeyOfHub and InputOfHub are inputs of a hub that is deleted before it is replaced when its key changes, and of its dependents.
const (
	KeyOfHub   = "dbrKey"
	InputOfHub = "immutableHub"
)

// EnvLatencies is the file in which a [ClientThin] writes how many nanoseconds each resource waited for its answer, one in a line.
const EnvLatencies = "BENCH_LATENCIES"

// Changed returns how many resources a program process declares with other inputs.
func Changed() (int, error) {
	file := os.Getenv(EnvChanged)
	if file == "" {
		return 0, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, fmt.Errorf("reading what %s names: %w", EnvChanged, err)
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s must hold a number of resources: %w", file, err)
	}
	return n, nil
}

// FromEnvironment returns the stack that a program process declares.
func FromEnvironment() (name string, size int, err error) {
	size, err = strconv.Atoi(os.Getenv(EnvSize))
	if err != nil {
		return "", 0, fmt.Errorf("%s must be the number of resources: %w", EnvSize, err)
	}
	return os.Getenv(EnvShape), size, nil
}
