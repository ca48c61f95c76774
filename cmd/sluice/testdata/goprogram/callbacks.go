package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// callbacks declares resources with transforms and hooks. The setting "refuse" names the hooks that fail.
func callbacks(ctx *pulumi.Context, c settings) error {
	if err := registerTransforms(ctx); err != nil {
		return err
	}
	hooks, err := bindHooks(ctx, c)
	if err != nil {
		return err
	}
	var g group
	tagged := func(_ context.Context, args *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
		args.Props["tag"] = pulumi.String("by the group")
		return &pulumi.ResourceTransformResult{Props: args.Props, Opts: args.Opts}
	}
	if err := ctx.RegisterComponentResource("shop:index:Group", "group", &g, pulumi.Transforms([]pulumi.ResourceTransform{tagged})); err != nil {
		return err
	}
	if _, err := newThing(ctx, "child", pulumi.Map{"password": c.RequireSecret("password")}, pulumi.Parent(&g)); err != nil {
		return err
	}
	if _, err := newThing(ctx, "hooked", pulumi.Map{"size": pulumi.Int(c.GetInt("size"))}, pulumi.ResourceHooks(hooks)); err != nil {
		return err
	}
	if err := exportEcho(ctx); err != nil {
		return err
	}
	return nil
}

func registerTransforms(ctx *pulumi.Context) error {
	err := ctx.RegisterResourceTransform(func(_ context.Context, args *pulumi.ResourceTransformArgs) *pulumi.ResourceTransformResult {
		if args.Type != "simple:index:Thing" {
			return nil
		}
		args.Props["value"] = pulumi.String("by the stack")
		args.Opts.IgnoreChanges = append(args.Opts.IgnoreChanges, "ignored")
		return &pulumi.ResourceTransformResult{Props: args.Props, Opts: args.Opts}
	})
	if err != nil {
		return err
	}
	return ctx.RegisterInvokeTransform(func(_ context.Context, args *pulumi.InvokeTransformArgs) *pulumi.InvokeTransformResult {
		args.Args["echo"] = pulumi.String("forth")
		return &pulumi.InvokeTransformResult{Args: args.Args, Opts: args.Opts}
	})
}

// bindHooks returns hooks around every operation, each of which logs a message.
func bindHooks(ctx *pulumi.Context, c settings) (*pulumi.ResourceHookBinding, error) {
	var failure error
	hook := func(name string) []*pulumi.ResourceHook {
		h, err := ctx.RegisterResourceHook(name, func(args *pulumi.ResourceHookArgs) error {
			if strings.Contains(c.Get("refuse"), name) {
				return errors.New("the hook refuses " + args.Name)
			}
			size := args.NewInputs["size"]
			return ctx.Log.Info(fmt.Sprintf("%s of %s, size %v", name, args.Name, size.V), nil)
		}, nil)
		failure = errors.Join(failure, err)
		return []*pulumi.ResourceHook{h}
	}
	return &pulumi.ResourceHookBinding{
		BeforeCreate: hook("before create"), AfterCreate: hook("after create"),
		BeforeUpdate: hook("before update"), AfterUpdate: hook("after update"),
		BeforeDelete: hook("before delete"), AfterDelete: hook("after delete"),
	}, failure
}

// reference exports outputs of the stack that the setting "other" names.
func reference(ctx *pulumi.Context, c settings) error {
	other, err := pulumi.NewStackReference(ctx, c.Get("other"), nil)
	if err != nil {
		return err
	}
	ctx.Export("where", pulumi.Sprintf("%s, said in Go", other.GetOutput(pulumi.String("where"))))
	ctx.Export("password", other.GetOutput(pulumi.String("password")))
	return nil
}
