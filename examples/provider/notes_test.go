package provider_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/examples/provider"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

func TestNotesFulfilTheContract(t *testing.T) {
	folder := t.TempDir()
	note := func(title, text string) property.Map {
		return property.NewMap(map[string]property.Value{"title": property.String(title), "text": property.String(text)})
	}
	providertest.Check(t, func() providers.Provider { return provider.NewNotes(folder) }, providertest.Case{
		Type:   "notes:index:Note",
		Inputs: note("shopping", "milk and bread"), Updated: note("shopping", "milk"), Replaced: note("errands", "milk"),
		Exists: func() any {
			names, err := filepath.Glob(filepath.Join(folder, "*"))
			require.NoError(t, err)
			return names
		},
	})
}

// Without a title, the provider generates one.
func TestNotesWithoutATitleFulfilTheContract(t *testing.T) {
	folder := t.TempDir()
	providertest.Check(t, func() providers.Provider { return provider.NewNotes(folder) }, providertest.Case{
		Type: "notes:index:Note", Inputs: property.NewMap(map[string]property.Value{"text": property.String("milk")}),
	})
}

func TestASecretNoteStaysSecret(t *testing.T) {
	stack := &sluice.MemoryState{}
	engine := sluice.Standard(sluice.Options{
		Project: "shop", Stack: "dev", State: stack, Providers: provider.NewNotes(t.TempDir()).Host(),
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
			_, err := m.Register(ctx, &stages.RegisterRequest{
				Type: "notes:index:Note", Name: "diary", Custom: true,
				Inputs: property.NewMap(map[string]property.Value{"text": property.Secret(property.String("dear diary"))}),
			})
			return err
		}),
	})
	for _, operation := range []func(context.Context) (*sluice.Result, error){engine.Update, engine.Refresh, engine.Update} {
		_, err := operation(t.Context())
		require.NoError(t, err)
		resources := stack.Snapshot().Resources
		note := resources[len(resources)-1]
		require.True(t, note.Inputs.At("text").IsSecret())
		require.True(t, note.Outputs.At("text").IsSecret())
	}
}

func TestAWrongNoteIsRefused(t *testing.T) {
	answer, err := provider.NewNotes(t.TempDir()).Check(t.Context(), providers.CheckRequest{
		News: property.NewMap(map[string]property.Value{"title": property.String("../x")}),
	})
	require.NoError(t, err)
	require.Len(t, answer.Failures, 2)
}

func TestAStackOfNotes(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	engine := sluice.Standard(sluice.Options{
		Project: "shop", Stack: "dev", State: &sluice.MemoryState{},
		Providers: provider.NewNotes(folder).Host(), // or host.NewPluginHost
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
			_, err := m.Register(ctx, &stages.RegisterRequest{
				Type: "notes:index:Note", Name: "shopping", Custom: true,
				Inputs: property.NewMap(map[string]property.Value{"text": property.String("milk and bread")}),
			})
			return err
		}),
	})
	result, err := engine.Update(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, result.Changes[stages.OpCreate])

	names, err := filepath.Glob(filepath.Join(folder, "shopping-*"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	again, err := engine.Preview(ctx)
	require.NoError(t, err)
	require.False(t, again.HasChanges())

	require.NoError(t, os.Remove(names[0]))
	result, err = engine.Refresh(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, result.Changes[stages.OpDelete], "somebody has removed it")
	result, err = engine.Update(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, result.Changes[stages.OpCreate])
	_, err = engine.Destroy(ctx)
	require.NoError(t, err)
	names, err = filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Empty(t, names)
}
