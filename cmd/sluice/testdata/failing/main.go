// A program that registers its resources from many goroutines, after random times. The inputs of every other resource are refused, and it has a
// user.
package main

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type text struct {
	pulumi.CustomResourceState
	Result pulumi.StringOutput `pulumi:"result"`
}

type thing struct{ pulumi.CustomResourceState }

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				time.Sleep(rand.N(20 * time.Millisecond))
				length := 5 - 10*(i%2)
				made := &text{}
				must(ctx.RegisterResource("random:index/randomString:RandomString", fmt.Sprint("text", i), pulumi.Map{"length": pulumi.Int(length)}, made))
				must(ctx.RegisterResource("sim:index:Resource", fmt.Sprint("user", i), pulumi.Map{"properties": pulumi.Map{"of": made.Result}}, &thing{}))
			})
		}
		wg.Wait()
		return nil
	})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
