// Command program declares the resources of a benchmark, with Pulumi's Go SDK or with bare gRPC calls: the second shows
// more of the engine, because the SDK's own work is left out.
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
		return nil // what is measured is everything but the program
	}
	if os.Getenv(shape.EnvClient) == shape.ClientSDK {
		return withSDK(name, size)
	}
	return withCalls(name, size)
}
