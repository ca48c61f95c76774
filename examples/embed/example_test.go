package embed_test

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// A program that declares one resource is previewed, run, run again, and its stack destroyed.
func Example() {
	program := source.Func(func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Register(ctx, &stages.RegisterRequest{
			Type: "simple:index:Thing", Name: "web", Custom: true,
			Inputs: property.NewMap(map[string]property.Value{"size": property.Number(1)}),
		})
		return err
	})
	options := sluice.Options{
		Project: "shop", Stack: "dev", Program: program, State: &sluice.MemoryState{},
		Providers: providertest.NewCloud(providertest.Options{}).Host(),
	}
	for _, operation := range []func(context.Context, sluice.Options) (*sluice.Result, error){
		sluice.Preview, sluice.Update, sluice.Update, sluice.Destroy,
	} {
		result, err := operation(context.Background(), options)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, step := range result.Steps {
			if !step.Internal { // default providers are
				fmt.Println(step.Op, step.URN)
			}
		}
	}
	// Output:
	// create urn:pulumi:dev::shop::simple:index:Thing::web
	// create urn:pulumi:dev::shop::simple:index:Thing::web
	// same urn:pulumi:dev::shop::simple:index:Thing::web
	// delete urn:pulumi:dev::shop::simple:index:Thing::web
}
