package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/sluice-iac/sluice/bench/shape"
)

type thing struct {
	pulumi.CustomResourceState
	ARN pulumi.StringOutput `pulumi:"arn"`
}

// withSDK declares the resources as a user's program does. A resource depends on another through a property, so that
// the SDK waits for its outputs.
func withSDK(name string, size int) error {
	return pulumi.RunErr(func(ctx *pulumi.Context) error {
		things := make([]*thing, size)
		for i := range things {
			inputs := pulumi.Map{"index": pulumi.Int(i), "label": pulumi.String("benchmark"), "enabled": pulumi.Bool(true)}
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
