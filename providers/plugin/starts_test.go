package plugin_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// sharing is a host that shares the test plugin, which is on the PATH, and the count of its starts.
func sharing(t *testing.T) *installation {
	t.Helper()
	i := &installation{starts: filepath.Join(t.TempDir(), "starts")}
	s := setup{env: map[string]string{"SIMPLE_STARTS": i.starts}}
	o := options(s)
	o.Shares = true
	i.host = plugin.NewHost(o)
	t.Cleanup(func() { require.NoError(t, i.host.Close()) })
	return i
}

// loaded starts a provider, uses it, and returns the function that closes it.
func (i *installation) loaded(t *testing.T, spec providers.Spec) (end func()) {
	t.Helper()
	p, err := i.host.Load(t.Context(), spec)
	require.NoError(t, err)
	requireWorks(t, p)
	return func() { require.NoError(t, p.Close()) }
}

func requireWorks(t *testing.T, p providers.Provider) {
	t.Helper()
	require.NoError(t, p.Configure(t.Context(), providers.ConfigureRequest{URN: "urn:pulumi:dev::p::pulumi:providers:simple::main"}))
	_, err := create(t.Context(), p, "a", object("value", "x"))
	require.NoError(t, err)
}

func TestOneProcessServesASchemaAndAProvider(t *testing.T) {
	spec := providers.Spec{Package: "simple", Exact: true} // which does not matter to the process
	t.Run("the schema first", func(t *testing.T) {
		i := sharing(t)
		i.schema(t, simple, nil)
		i.schema(t, providers.Spec{Package: "simple"}, nil)
		end := i.loaded(t, spec)
		require.Equal(t, 2, i.started(t), "a package in a version, and in any")
		end()
	})
	t.Run("the provider first", func(t *testing.T) {
		i := sharing(t)
		end := i.loaded(t, spec)
		text, started := i.schema(t, providers.Spec{Package: "simple"}, nil)
		require.Contains(t, text, `"name":"simple"`)
		require.Zero(t, started)
		end()
		_, started = i.schema(t, providers.Spec{Package: "simple"}, nil)
		require.Equal(t, 1, started, "it has been closed")
		i.loaded(t, spec)()
		require.Equal(t, 2, i.started(t))
	})
	t.Run("at the same time", func(t *testing.T) {
		i := sharing(t)
		var all conc.WaitGroup
		for range 4 {
			all.Go(func() {
				_, err := providers.Schema(t.Context(), i.host, providers.Spec{Package: "simple"}, nil)
				assert.NoError(t, err)
			})
		}
		all.Go(func() { i.loaded(t, spec)() })
		all.Wait()
		require.LessOrEqual(t, i.started(t), 2, "schemas after the end of the provider share another one")
	})
}

func TestEachProviderHasAProcessOfItsOwn(t *testing.T) {
	i := sharing(t)
	i.schema(t, providers.Spec{Package: "simple"}, nil)
	first := i.loaded(t, providers.Spec{Package: "simple"})
	second := i.loaded(t, providers.Spec{Package: "simple"})
	require.Equal(t, 2, i.started(t))
	first()
	second()
}

func TestAParameterizedSchemaLeavesTheProviderAlone(t *testing.T) {
	i := sharing(t)
	end := i.loaded(t, providers.Spec{Package: "simple"})
	text, started := i.schema(t, providers.Spec{Package: "simple"}, &providers.ParameterizeRequest{Name: "more", Version: "2.0.0", Value: []byte("extend more")})
	require.Contains(t, text, `"simple:index:Extended"`)
	require.Equal(t, 1, started)
	end()
}

func TestAProviderIsStartedAgainIfTheRequestOfItsSchemaFailed(t *testing.T) {
	i := sharing(t)
	left, leave := context.WithCancel(t.Context())
	leave()
	_, err := providers.Schema(left, i.host, providers.Spec{Package: "simple"}, nil)
	require.ErrorIs(t, err, context.Canceled)
	i.loaded(t, providers.Spec{Package: "simple"})()
}

func TestNoOperationTakesOverWhatWasStartedForAnEarlierOne(t *testing.T) {
	i := sharing(t)
	i.schema(t, providers.Spec{Package: "simple"}, nil)
	require.NoError(t, i.host.EndUnused())
	end := i.loaded(t, providers.Spec{Package: "simple"})
	require.Equal(t, 2, i.started(t))
	require.NoError(t, i.host.EndUnused())
	_, started := i.schema(t, providers.Spec{Package: "simple"}, nil)
	require.Zero(t, started, "the provider still runs")
	end()
}

func TestAHostEndsWhatWasStartedOnlyForItsSchema(t *testing.T) {
	i := sharing(t)
	i.schema(t, providers.Spec{Package: "simple"}, nil)
	require.NoError(t, i.host.Close())
	_, err := providers.Schema(t.Context(), i.host, providers.Spec{Package: "simple"}, nil)
	require.ErrorContains(t, err, "the host of plugins is closed")
	// TestMain finds what is left running.
}
