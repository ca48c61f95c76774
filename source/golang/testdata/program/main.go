// Command program is run by the tests of package golang. Its first argument selects its behaviour.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type thing struct {
	pulumi.CustomResourceState
	Value pulumi.StringOutput `pulumi:"value"`
}

func newThing(ctx *pulumi.Context, name string, value pulumi.Input, options ...pulumi.ResourceOption) (*thing, error) {
	var t thing
	return &t, ctx.RegisterResource("test:index:Thing", name, pulumi.Map{"value": value}, &t, options...)
}

func main() {
	what := ""
	if len(os.Args) > 1 {
		what = os.Args[1]
	}
	switch what {
	case "exit":
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(7)
	case "panic":
		panic("this program panics")
	}
	pulumi.Run(func(ctx *pulumi.Context) error {
		switch what {
		case "fail":
			return errors.New("this program fails")
		case "many":
			return many(ctx)
		}
		return declare(ctx)
	})
}

func declare(ctx *pulumi.Context) error {
	fmt.Println("hello from the program")
	greeting, _ := ctx.GetConfig("proj:greeting")
	first, err := newThing(ctx, "first", pulumi.String(greeting))
	if err != nil {
		return err
	}
	second, err := newThing(ctx, "second", first.Value, pulumi.Protect(true))
	if err != nil {
		return err
	}
	password, _ := ctx.GetConfig("proj:password")
	if !ctx.IsConfigSecret("proj:password") {
		return errors.New("the password is not known to be secret")
	}
	if _, err := newThing(ctx, "secret", pulumi.ToSecret(password)); err != nil {
		return err
	}
	ctx.Export("greeting", second.Value)
	ctx.Export("where", pulumi.String(fmt.Sprintf("%s/%s/%s/%t", ctx.Organization(), ctx.Project(), ctx.Stack(), ctx.DryRun())))
	return ctx.Log.Warn("mind the gap", &pulumi.LogArgs{Resource: first})
}

func many(ctx *pulumi.Context) error {
	for i := range 1000 {
		if _, err := newThing(ctx, fmt.Sprintf("thing-%d", i), pulumi.Int(i)); err != nil {
			return err
		}
	}
	return nil
}
