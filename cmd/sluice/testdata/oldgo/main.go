// Command old is a program with an old version of the SDK, which testdata/languages/old_sdks.txtar runs.
package main

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

type thing struct {
	pulumi.CustomResourceState
	Value pulumi.AnyOutput    `pulumi:"value"`
	Tag   pulumi.StringOutput `pulumi:"tag"`
	Arn   pulumi.StringOutput `pulumi:"arn"`
}

type provider struct{ pulumi.ProviderResourceState }

type group struct{ pulumi.ResourceState }

func main() { pulumi.Run(declare) }

func declare(ctx *pulumi.Context) error {
	transformed := ctx.RegisterStackTransformation(func(a *pulumi.ResourceTransformationArgs) *pulumi.ResourceTransformationResult {
		if a.Name != "tagged" {
			return nil
		}
		props := a.Props.(pulumi.Map)
		props["tag"] = pulumi.String("transformed")
		return &pulumi.ResourceTransformationResult{Props: props, Opts: a.Opts}
	})
	var web group
	var a, b, last, t thing
	var explicit provider
	region := config.Get(ctx, "region")
	if region == "" {
		region = "eu"
	}
	err := errors.Join(transformed,
		ctx.RegisterComponentResource("shop:index:Group", "web", &web),
		ctx.RegisterResource("simple:index:Thing", "web-a", pulumi.Map{"immutableRegion": pulumi.String(region)}, &a, pulumi.Parent(&web)),
		ctx.RegisterResource("simple:index:Thing", "web-b", pulumi.Map{"value": a.Arn, "password": config.RequireSecret(ctx, "password")}, &b, pulumi.Parent(&web)),
		ctx.RegisterResourceOutputs(&web, pulumi.Map{"arn": b.Arn}),
		ctx.RegisterResource("pulumi:providers:simple", "explicit", pulumi.Map{"directory": pulumi.String(config.Require(ctx, "directory"))}, &explicit),
	)
	if err != nil {
		return err
	}
	var back struct {
		Echo string `pulumi:"echo"`
	}
	err = errors.Join(
		ctx.RegisterResource("simple:index:Thing", "last", pulumi.Map{}, &last, pulumi.Provider(&explicit), pulumi.DependsOn([]pulumi.Resource{&web})),
		ctx.RegisterResource("simple:index:Thing", "tagged", pulumi.Map{"tag": pulumi.String("plain"), "value": pulumi.String(config.Get(ctx, "value"))}, &t),
		ctx.Invoke("simple:index:echo", &struct {
			Echo string `pulumi:"echo"`
		}{"back"}, &back),
	)
	if err != nil {
		return err
	}
	ctx.Export("echo", pulumi.String(back.Echo))
	ctx.Export("tag", t.Tag)
	ctx.Export("secret", config.RequireSecret(ctx, "password").ApplyT(func(p string) string { return "pw:" + p }))
	return nil
}
