package simulate

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// A delete-before-replace deletes the dependents of its root as fast as a destroy would: all that can be deleted at once,
// up to the number of workers. So does the end phase.
func TestClosuresAreDeletedAsWideAsTheyAre(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		uses := drawDependents(draw)
		workers := rapid.SampledFrom([]int{1, 2, 3, 8, 64}).Draw(draw, "workers")
		widest, levels := widths(uses)
		for _, way := range []string{"update", "destroy"} {
			var peak int
			var took time.Duration
			synctest.Test(t, func(t *testing.T) { peak, took = deletesOf(t, way, uses, workers) })
			require.Equal(draw, min(workers, widest), peak, way)
			if workers >= widest {
				require.Equal(draw, time.Duration(levels)*time.Second, took, way)
			}
		}
	})
}

// drawDependents draws which of the resources before it each dependent of a hub uses, besides the hub itself.
func drawDependents(t *rapid.T) [][]int {
	uses := make([][]int, rapid.IntRange(1, 25).Draw(t, "dependents"))
	for i := range uses {
		if i > 0 {
			uses[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, 3, rapid.ID[int]).Draw(t, fmt.Sprint("of ", i))
		}
	}
	return uses
}

// widths returns how many deletes can run at once if all take the same time, and the length of the longest sequence of
// them.
func widths(uses [][]int) (widest, levels int) {
	level := make([]int, len(uses))
	count := map[int]int{}
	for i := len(uses) - 1; i >= 0; i-- {
		count[level[i]]++
		widest = max(widest, count[level[i]])
		levels = max(levels, level[i]+1)
		for _, u := range uses[i] {
			level[u] = max(level[u], level[i]+1)
		}
	}
	return widest, levels
}

// deletesOf makes a hub with its dependents, replaces it or destroys everything, and returns the maximal number of
// concurrent deletes of dependents, and the total time during which any ran.
func deletesOf(t *testing.T, way string, uses [][]int, workers int) (peak int, took time.Duration) {
	var mu sync.Mutex
	ended := map[string]bool{}
	began := map[time.Time]int{} // the number of deletes, each of which takes a second
	cloud := providertest.NewCloud(providertest.Options{})
	host := providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		base, err := cloud.Host().Load(ctx, spec)
		return &providertest.Fake{Base: base, OnDelete: func(ctx context.Context, r providers.DeleteRequest) error {
			if r.Name == "hub" {
				return base.Delete(ctx, r)
			}
			mu.Lock()
			for _, user := range usersOf(uses, r.Name) {
				require.True(t, ended[user], "%s is deleted before %s, which uses it", r.Name, user)
			}
			began[time.Now()]++
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			ended[r.Name] = true
			mu.Unlock()
			return base.Delete(ctx, r)
		}}, err
	})
	o := sluice.Options{
		Stack: "dev", Project: "p", State: &sluice.MemoryState{}, Providers: host, Parallel: workers, Program: hub(uses, 1),
	}
	_, err := sluice.Update(t.Context(), o)
	require.NoError(t, err)
	if o.Program = hub(uses, 2); way == "update" {
		_, err = sluice.Update(t.Context(), o)
	} else {
		_, err = sluice.Destroy(t.Context(), o)
	}
	require.NoError(t, err)
	// A delete that ends at a moment is not concurrent with one that begins then.
	var first, last time.Time
	for at := range began {
		running := 0
		for other, n := range began {
			if age := at.Sub(other); age >= 0 && age < time.Second {
				running += n
			}
		}
		peak = max(peak, running)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return peak, last.Sub(first) + time.Second
}

// usersOf returns the dependents that use the one of this name.
func usersOf(uses [][]int, name string) []string {
	var users []string
	for i, on := range uses {
		for _, u := range on {
			if name == dependent(u) {
				users = append(users, dependent(i))
			}
		}
	}
	return users
}

func dependent(i int) string { return fmt.Sprint("d", i) }

// hub declares a resource that has to be deleted before it is replaced, and dependents that cannot stay without it.
func hub(uses [][]int, version float64) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		register := func(name string, inputs map[string]property.Value, on map[string]urn.URN) (urn.URN, error) {
			req := &stages.RegisterRequest{
				Type: "test:index:Thing", Name: name, Custom: true, Inputs: property.NewMap(inputs), PropertyDependencies: map[string][]urn.URN{},
			}
			for input, u := range on {
				req.PropertyDependencies[input] = []urn.URN{u}
				req.Dependencies = append(req.Dependencies, u)
			}
			reply, err := m.Register(ctx, req)
			if err != nil {
				return "", err
			}
			return reply.URN, nil
		}
		root, err := register("hub", map[string]property.Value{"dbr": property.Number(version)}, nil)
		if err != nil {
			return err
		}
		made := make([]urn.URN, len(uses))
		for i, on := range uses {
			inputs := map[string]property.Value{"immutableHub": property.String(string(root))}
			deps := map[string]urn.URN{"immutableHub": root}
			for _, u := range on {
				name := fmt.Sprint("immutable", u)
				inputs[name], deps[name] = property.String(string(made[u])), made[u]
			}
			if made[i], err = register(dependent(i), inputs, deps); err != nil {
				return err
			}
		}
		return nil
	}
}
