//go:build unix

package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
)

var anySimple = providers.Spec{Package: "simple"}

// keeping is a host that keeps the test plugin between runs.
func keeping(t *testing.T, s setup) *installation {
	t.Helper()
	i := &installation{starts: filepath.Join(t.TempDir(), "starts")}
	if s.env == nil {
		s.env = map[string]string{}
	}
	s.env["SIMPLE_STARTS"] = i.starts
	o := options(s)
	o.Shares, o.Keeps = true, true
	i.host = plugin.NewHost(o)
	t.Cleanup(func() { require.NoError(t, i.host.Close()) })
	return i
}

func (i *installation) load(t *testing.T) providers.Provider {
	t.Helper()
	p, err := i.host.Load(t.Context(), anySimple)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// sized is a configuration with which objects have an output of that many bytes.
func sized(bytes string) providers.ConfigureRequest {
	return providers.ConfigureRequest{URN: "urn:pulumi:dev::p::pulumi:providers:simple::main", ID: "1", Inputs: object("hugeBytes", bytes)}
}

// requireSize checks that a provider has the configuration.
func requireSize(t *testing.T, p providers.Provider, bytes int) {
	t.Helper()
	made, err := create(t.Context(), p, "a", object("value", "x"))
	require.NoError(t, err)
	huge, _ := made.Properties.Get("huge")
	require.Len(t, huge.AsString(), bytes)
}

// pids are the processes of the plugin in the order of their starts.
func (i *installation) pids(t *testing.T) (all []int) {
	t.Helper()
	content, err := os.ReadFile(i.starts)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		all = append(all, pid)
	}
	return all
}

func requireEnded(t *testing.T, pid int) {
	t.Helper()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
}

// create begins a call that hangs, and returns its later error.
func (h hanging) create(t *testing.T, ctx context.Context, p providers.Provider) <-chan error {
	t.Helper()
	over := make(chan error, 1)
	var caller conc.WaitGroup
	t.Cleanup(caller.Wait)
	caller.Go(func() {
		_, err := create(ctx, p, "a", object("value", "x"))
		over <- err
	})
	select {
	case <-h.heard:
	case err := <-over:
		require.Fail(t, "the call does not hang", "%v", err)
	}
	return over
}

func TestALaterRunTakesOverAPlugin(t *testing.T) {
	i := keeping(t, setup{})
	first := i.load(t)
	require.NoError(t, first.Configure(t.Context(), sized("3")))
	made, err := create(t.Context(), first, "a", object("value", "x"))
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.NoError(t, i.host.EndUnused())

	second := i.load(t)
	_, err = second.CheckConfig(t.Context(), providers.CheckRequest{URN: sized("").URN, News: object("hugeBytes", "3")})
	require.NoError(t, err)
	require.NoError(t, second.Configure(t.Context(), sized("3")))
	requireSize(t, second, 3)
	read, err := second.Read(t.Context(), providers.ReadRequest{URN: "urn:pulumi:dev::p::simple:index:Thing::a", Type: thing, ID: made.ID})
	require.NoError(t, err)
	require.Equal(t, made.ID, read.ID, "the cloud is in the memory of the process")
	require.Equal(t, 1, i.started(t))

	_, err = create(t.Context(), first, "b", object("value", "x"))
	require.ErrorContains(t, err, "closed")
	require.NoError(t, first.Close())
	requireSize(t, second, 3)

	require.NoError(t, second.Close())
	require.NoError(t, i.host.Close())
	requireEnded(t, i.pids(t)[0])
}

func TestAPluginIsConfiguredOnce(t *testing.T) {
	i := keeping(t, setup{})
	first := i.load(t)
	require.NoError(t, first.Configure(t.Context(), sized("3")))
	require.NoError(t, first.Close())

	other := i.load(t)
	require.NoError(t, other.Configure(t.Context(), sized("4")))
	require.Equal(t, 2, i.started(t))
	same := i.load(t)
	require.NoError(t, same.Configure(t.Context(), sized("3")))
	require.Equal(t, 2, i.started(t))
	requireSize(t, other, 4)
	requireSize(t, same, 3)
	another := sized("3")
	another.ID = "2"
	require.NoError(t, same.Close())
	require.NoError(t, i.load(t).Configure(t.Context(), another))
	require.Equal(t, 3, i.started(t))
}

func TestAPluginWithoutAConfigurationIsTakenOver(t *testing.T) {
	i := keeping(t, setup{})
	require.NoError(t, i.load(t).Close())
	p := i.load(t)
	require.NoError(t, p.Configure(t.Context(), sized("3")))
	requireSize(t, p, 3)
	require.Equal(t, 1, i.started(t))
}

func TestProvidersFindThePluginsWithTheirConfigurations(t *testing.T) {
	sizes := []string{"3", "4", "5"}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}} {
		i := keeping(t, setup{})
		var run []providers.Provider
		for _, size := range sizes {
			p := i.load(t)
			require.NoError(t, p.Configure(t.Context(), sized(size)))
			run = append(run, p)
		}
		for _, p := range run {
			require.NoError(t, p.Close())
		}
		loaded := []providers.Provider{i.load(t), i.load(t), i.load(t)}
		for n, at := range order {
			require.NoError(t, loaded[n].Configure(t.Context(), sized(sizes[at])))
		}
		for n, at := range order {
			requireSize(t, loaded[n], 3+at)
		}
		require.Equal(t, 3, i.started(t))
	}
}

func TestAPluginIsNotTakenOver(t *testing.T) {
	hang := newHanging()
	for name, spoil := range map[string]func(t *testing.T, i *installation, p providers.Provider){
		"that was cancelled": func(t *testing.T, _ *installation, p providers.Provider) {
			require.NoError(t, p.Configure(t.Context(), sized("3")))
			require.NoError(t, p.Cancel(t.Context()))
		},
		"whose configuration failed": func(t *testing.T, _ *installation, p providers.Provider) {
			require.Error(t, p.Configure(t.Context(), providers.ConfigureRequest{Inputs: object("missingKeys", "true")}))
		},
		"that serves another package": func(t *testing.T, _ *installation, p providers.Provider) {
			_, err := p.Parameterize(t.Context(), providers.ParameterizeRequest{Name: "more", Version: "2.0.0", Value: []byte("extend more")})
			require.NoError(t, err)
		},
		"that has ended": func(t *testing.T, i *installation, p providers.Provider) {
			require.NoError(t, p.Configure(t.Context(), providers.ConfigureRequest{Inputs: object("crashOn", "create")}))
			_, err := create(t.Context(), p, "a", object("value", "x"))
			require.Error(t, err)
		},
		"with an abandoned call": func(t *testing.T, _ *installation, p providers.Provider) {
			require.NoError(t, p.Configure(t.Context(), providers.ConfigureRequest{Inputs: object("hangOn", "create")}))
			ctx, leave := context.WithCancel(t.Context())
			over := hang.create(t, ctx, p)
			leave()
			require.ErrorIs(t, <-over, context.Canceled)
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := keeping(t, setup{output: hang.output})
			p := i.load(t)
			spoil(t, i, p)
			require.NoError(t, p.Close())
			requireEnded(t, i.pids(t)[0])
			next := i.load(t)
			require.NoError(t, next.Configure(t.Context(), sized("3")))
			requireSize(t, next, 3)
			require.Equal(t, 2, i.started(t))
		})
	}
	t.Run("that ends while nobody uses it", func(t *testing.T) {
		i := keeping(t, setup{})
		require.NoError(t, i.load(t).Close())
		require.NoError(t, syscall.Kill(i.pids(t)[0], syscall.SIGKILL))
		require.Eventually(t, func() bool {
			p := i.load(t)
			defer func() { require.NoError(t, p.Close()) }()
			return i.started(t) == 2
		}, 5*time.Minute, time.Millisecond)
	})
	t.Run("with a call under way", func(t *testing.T) {
		i := keeping(t, setup{output: hang.output})
		p := i.load(t)
		require.NoError(t, p.Configure(t.Context(), providers.ConfigureRequest{Inputs: object("hangOn", "create")}))
		over := hang.create(t, t.Context(), p)
		require.NoError(t, p.Close())
		require.Error(t, <-over)
		requireEnded(t, i.pids(t)[0])
	})
}

func TestAKeptPluginServesItsSchema(t *testing.T) {
	i := keeping(t, setup{})
	i.schema(t, anySimple, nil)
	require.NoError(t, i.host.EndUnused())
	p := i.load(t)
	require.NoError(t, p.Close())
	i.schema(t, anySimple, nil)
	require.Equal(t, 1, i.started(t))
}
