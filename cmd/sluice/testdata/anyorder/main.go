// A program that registers its resources from many goroutines, after random times. Each of its groups is a source, two users of the
// source whose replacements delete first, and a resource that depends on both users. The setting "drop" leaves the last one out.
package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

type thing struct {
	pulumi.CustomResourceState
	Values pulumi.StringMapOutput `pulumi:"values"`
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		size := config.Get(ctx, "size")
		var wg sync.WaitGroup
		for i := range 26 {
			wg.Go(func() { group(ctx, i, size) })
		}
		wg.Wait()
		return nil
	})
}

func group(ctx *pulumi.Context, i int, size string) {
	source := register(ctx, fmt.Sprint("s", i), pulumi.Map{"size": pulumi.String(size)}, false)
	var wg sync.WaitGroup
	users := make([]*thing, 2)
	for j, name := range []string{"a", "b"} {
		wg.Go(func() {
			users[j] = register(ctx, fmt.Sprint(name, i), pulumi.Map{"size": source.Values.MapIndex(pulumi.String("key"))}, true)
		})
	}
	wg.Wait()
	if config.GetBool(ctx, "drop") {
		return
	}
	register(ctx, fmt.Sprint("c", i), pulumi.Map{
		"x": users[0].Values.MapIndex(pulumi.String("key")), "y": users[1].Values.MapIndex(pulumi.String("key")),
	}, false)
}

func register(ctx *pulumi.Context, name string, properties pulumi.Map, deletesFirst bool) *thing {
	time.Sleep(rand.N(20 * time.Millisecond))
	var keys pulumi.StringArray
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		keys = append(keys, pulumi.String(key))
	}
	made := &thing{}
	err := ctx.RegisterResource("sim:index:Resource", name, pulumi.Map{
		"properties": properties, "computed": pulumi.StringArray{pulumi.String("key")}, "replaceOn": keys,
	}, made, pulumi.DeleteBeforeReplace(deletesFirst))
	if err != nil {
		panic(err)
	}
	return made
}
