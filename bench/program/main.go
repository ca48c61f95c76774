// Command program declares the resources of a benchmark, with Pulumi's Go SDK or with plain gRPC calls. The latter
// measure the engine more exactly, because they leave out the work of the SDK.
package main

import (
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/bench/shape"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	name, size, err := shape.FromEnvironment()
	if err != nil {
		return err
	}
	if size == 0 {
		return nil // the program itself is not measured
	}
	if os.Getenv(shape.EnvClient) == shape.ClientSDK {
		return withSDK(name, size)
	}
	return withCalls(name, size)
}
