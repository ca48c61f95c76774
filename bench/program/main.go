// Command program declares the resources of a benchmark, with Pulumi's Go SDK or with plain gRPC calls. The latter
// measure the engine more exactly, because they leave out the work of the SDK. With a file as its argument it only decodes this with encoding/json:
// the yardstick for commands that read a state.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/sluice-iac/sluice/bench/shape"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) > 1 {
		return decode(os.Args[1])
	}
	name, size, err := shape.FromEnvironment()
	if err != nil {
		return err
	}
	if size == 0 {
		return nil // the program itself is not measured
	}
	changed, err := shape.Changed()
	if err != nil {
		return err
	}
	if os.Getenv(shape.EnvClient) == shape.ClientSDK {
		return withSDK(name, size, changed)
	}
	return withCalls(name, size, changed)
}

func decode(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var all any
	return json.Unmarshal(text, &all)
}

type thing struct {
	pulumi.CustomResourceState
	ARN pulumi.StringOutput `pulumi:"arn"`
}

// withSDK declares the resources as a user's program does. A resource depends on another through a property, so that
// the SDK waits for its outputs.
func withSDK(name string, size, changed int) error {
	return pulumi.RunErr(func(ctx *pulumi.Context) error {
		things := make([]*thing, size)
		for i := range things {
			inputs := pulumi.Map{"index": pulumi.Int(i), "label": pulumi.String(shape.Label(i, changed)), "enabled": pulumi.Bool(true)}
			var options []pulumi.ResourceOption
			if on, ok := shape.DependencyOf(name, i); ok {
				inputs["upstream"] = things[on].ARN
				options = append(options, pulumi.DependsOn([]pulumi.Resource{things[on]}))
			}
			things[i] = &thing{}
			if err := ctx.RegisterResource(shape.Type, shape.Name(i), inputs, things[i], options...); err != nil {
				return err
			}
		}
		return nil
	})
}
