// Command quickstart is an ordinary Pulumi program: a network, a database with a secret, and as many servers as the
// configuration says, in a made-up cloud that lives in a folder of the checkout.
//
// Run it with ./examples/quickstart/run, change something, and run it again. What a change means depends on the
// property: one whose name begins with "immutable" needs a replacement, one with "dbr" a replacement that deletes first,
// and any other is updated in place.
package main

import (
	"fmt"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// thing is a resource of the made-up cloud. Its outputs are its inputs and an address.
type thing struct {
	pulumi.CustomResourceState

	Arn pulumi.StringOutput `pulumi:"arn"`
}

func newThing(ctx *pulumi.Context, name string, inputs pulumi.Map, options ...pulumi.ResourceOption) (*thing, error) {
	var t thing
	return &t, ctx.RegisterResource("simple:index:Thing", name, inputs, &t, options...)
}

func main() { pulumi.Run(declare) }

func declare(ctx *pulumi.Context) error {
	password, _ := ctx.GetConfig("quickstart:password")
	text, _ := ctx.GetConfig("quickstart:servers")
	servers, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("the setting quickstart:servers must be a number: %w", err)
	}

	network, err := newThing(ctx, "network", pulumi.Map{"immutableRange": pulumi.String("10.0.0.0/16")})
	if err != nil {
		return err
	}
	database, err := newThing(ctx, "database", pulumi.Map{
		"network":  network.Arn,
		"size":     pulumi.String("small"),
		"password": pulumi.ToSecret(password),
	})
	if err != nil {
		return err
	}
	var addresses pulumi.StringArray
	for i := range servers {
		server, err := newThing(ctx, fmt.Sprintf("server-%d", i), pulumi.Map{"network": network.Arn, "database": database.Arn})
		if err != nil {
			return err
		}
		addresses = append(addresses, server.Arn)
	}
	ctx.Export("addresses", addresses)
	return nil
}
