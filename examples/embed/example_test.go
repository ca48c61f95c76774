package embed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
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
		for _, step := range result.Steps() {
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

// The state is in a folder. One call selects the stack, locks it, runs the update, writes the history, and unlocks it.
func Example_locked() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: "file://" + filepath.ToSlash(dir), Project: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	options := sluice.Options{
		Project: "shop", Stack: "dev", Providers: providertest.NewCloud(providertest.Options{}).Host(),
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
			_, err := m.Register(ctx, &stages.RegisterRequest{
				Type: "simple:index:Thing", Name: "web", Custom: true,
				Inputs: property.NewMap(map[string]property.Value{"size": property.Number(1)}),
			})
			return err
		}),
	}
	how := host.LockedOptions{Create: true, Secrets: secrets.Plain{}, Operation: "update"}
	err = host.Locked(ctx, b, "dev", how, func(ctx context.Context, s backend.Stack) error {
		options.State = s
		_, err := sluice.Update(ctx, options)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = host.Locked(ctx, b, "dev", host.LockedOptions{}, func(ctx context.Context, s backend.Stack) error {
		history, _, err := s.History(ctx)
		for _, u := range history {
			fmt.Println(u.Kind, u.Result, u.ResourceChanges)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// update succeeded map[create:1]
	// <nil>
}
