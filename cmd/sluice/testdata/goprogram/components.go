package main

import (
	"context"
	"reflect"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// greeter is a component that a package in another language constructs.
type greeter struct {
	pulumi.ResourceState
	Greeting pulumi.StringOutput `pulumi:"greeting"`
	Hidden   pulumi.StringOutput `pulumi:"hidden"`
}

// shout is what the method of a greeter returns.
type shout struct {
	Res string `pulumi:"res"`
}

type shoutOutput struct{ *pulumi.OutputState }

func (shoutOutput) ElementType() reflect.Type { return reflect.TypeFor[shout]() }

func init() { pulumi.RegisterOutputType(shoutOutput{}) }

// components declares a greeter of each package that the setting "packages" lists, and calls the method of the one in Go. A transform
// reaches into all of them.
func components(ctx *pulumi.Context, c settings) error {
	err := ctx.RegisterResourceTransform(func(_ context.Context, args *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
		if args.Type != "simple:index:Thing" {
			return nil
		}
		args.Props["tag"] = pulumi.String("by Go")
		return &pulumi.ResourceTransformResult{Props: args.Props, Opts: args.Opts}
	})
	if err != nil {
		return err
	}
	for _, pkg := range strings.Split(c.Get("packages"), ",") {
		var g greeter
		inputs := pulumi.Map{"who": pulumi.String("Go"), "password": c.RequireSecret("password")}
		if err := ctx.RegisterRemoteComponentResource(pkg+":index:Greeter", pkg, inputs, &g); err != nil {
			return err
		}
		ctx.Export(pkg, g.Greeting)
		ctx.Export(pkg+"Hidden", g.Hidden)
		if pkg != "golang" {
			continue
		}
		out, err := ctx.Call("golang:index:Greeter/shout", pulumi.Map{"mark": pulumi.String("!")}, shoutOutput{}, &g)
		if err != nil {
			return err
		}
		ctx.Export("shout", out.ApplyT(func(v any) string { return v.(shout).Res }))
	}
	return nil
}
