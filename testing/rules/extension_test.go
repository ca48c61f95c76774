package rules

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// extended registers an extension of the package test and returns an option that makes a resource belong to it.
func (s *script) extended(name, blob string) option {
	ref := ""
	if s.err == nil {
		ref, s.err = s.m.RegisterPackage(s.ctx, stages.Package{
			Name: "test", Extension: &stages.Parameterization{Name: name, Version: "1.0.0", Value: []byte(blob)},
		})
	}
	return func(r *stages.RegisterRequest) { r.PackageRef = ref }
}

// withExtensions declares a and b of the extension x, and c of y.
func withExtensions(s *script) {
	x, again, y := s.extended("x", "blob x"), s.extended("x", "blob x"), s.extended("y", "blob y")
	s.register("x:index:Thing", "a", in{"size": 1}, x)
	s.register("x:index:Thing", "b", nil, again)
	s.register("y:index:Thing", "c", nil, y)
}

// parameterized returns the names of the extensions that providers received, in order. It checks that no call about a
// resource of an extension came before.
func (r *ran) parameterized() []string {
	r.t.Helper()
	var names []string
	for _, c := range r.calls {
		switch c.Method {
		case providertest.MethodParameterize:
			names = append(names, c.Token)
		case providers.MethodCheck, providers.MethodCreate, providers.MethodDiff, providers.MethodRead, providers.MethodDelete:
			if pkg := c.URN.Type().Package(); pkg == "x" || pkg == "y" {
				require.Contains(r.t, names, pkg, "%s of %s", c.Method, c.URN.Name())
			}
		}
	}
	return names
}

func TestExtensionIsAppliedOnceToEachProviderBeforeItsResources(t *testing.T) {
	k := newKit(t)
	r := k.up(program(withExtensions))
	require.ElementsMatch(t, []string{"x", "y"}, r.parameterized())
	a, b, c := k.recorded("a"), k.recorded("b"), k.recorded("c")
	require.Equal(t, a.ExtensionRef, b.ExtensionRef)
	require.NotEqual(t, a.ExtensionRef, c.ExtensionRef)
	require.Equal(t, a.Provider, c.Provider)
	require.Contains(t, a.Provider, "pulumi:providers:test::default", "the provider is that of the package extended")

	require.Len(t, k.state.Snapshot().Extensions, 2)
	var blob struct {
		Name, Version string
		Value         []byte
	}
	require.NoError(t, json.Unmarshal(k.state.Snapshot().Extensions[a.ExtensionRef], &blob))
	require.Equal(t, "x 1.0.0 blob x", blob.Name+" "+blob.Version+" "+string(blob.Value))

	require.ElementsMatch(t, []string{"x", "y"}, k.up(program(withExtensions)).parameterized())
	require.ElementsMatch(t, []string{"x", "y"}, k.preview(program(withExtensions)).parameterized())
}

func TestExtensionsComeFromTheStateWhereNoProgramRuns(t *testing.T) {
	k := newKit(t)
	k.up(program(withExtensions))
	r := k.try(sluice.Refresh, nil)
	require.NoError(t, r.err)
	require.ElementsMatch(t, []string{"x", "y"}, r.parameterized())

	r = k.up(program(func(s *script) { s.register("x:index:Thing", "a", in{"size": 1}, s.extended("x", "blob x")) }))
	require.ElementsMatch(t, []string{"x", "y"}, r.parameterized())
	require.Len(t, k.state.Snapshot().Extensions, 1, "what nobody refers to is dropped")

	require.Equal(t, []string{"x"}, k.destroy().parameterized())
	require.Empty(t, k.state.Snapshot().Extensions)
}

func TestStateWithoutItsExtensionIsNotTouched(t *testing.T) {
	k := newKit(t)
	k.up(program(withExtensions))
	s := *k.state.Snapshot()
	s.Extensions = nil
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
	r := k.try(sluice.Destroy, nil)
	r.requireFailure("the recorded state has no extension")
	require.Empty(t, r.changed())
	require.Len(t, k.names(), 3)
}

func TestExtensionThatItsProviderRefusesStopsTheRun(t *testing.T) {
	for name, test := range map[string]struct {
		answer providers.ParameterizeResponse
		err    error
		text   string
	}{
		"error":      {err: errors.New("no such thing"), text: "no such thing"},
		"other name": {answer: providers.ParameterizeResponse{Name: "z"}, text: `parameterize response name "z" does not match expected package "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake = func(f *providertest.Fake) {
				f.OnParameterize = func(context.Context, providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
					return test.answer, test.err
				}
			}
			r := k.fails(program(withExtensions), test.text)
			require.Empty(t, r.changed())
		})
	}
}

func TestExtensionIsAppliedBeforeAConstructAndAnInvoke(t *testing.T) {
	k := newKit(t)
	var order []string
	var monitor stages.Monitor
	k.fake = func(f *providertest.Fake) {
		f.OnParameterize = func(_ context.Context, q providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
			order = append(order, "extend "+q.Name)
			return providers.ParameterizeResponse{Name: q.Name, Version: q.Version}, nil
		}
		f.OnConstruct = func(ctx context.Context, r providers.ConstructRequest) (providers.ConstructResponse, error) {
			order = append(order, "construct")
			made, err := monitor.Register(ctx, registration(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom = false }))
			if err != nil {
				return providers.ConstructResponse{}, err
			}
			return providers.ConstructResponse{URN: made.URN}, nil
		}
		f.OnInvoke = func(context.Context, providers.InvokeRequest) (providers.InvokeResponse, error) {
			order = append(order, "invoke")
			return providers.InvokeResponse{}, nil
		}
	}
	k.up(program(func(s *script) {
		monitor = s.m
		s.register("x:index:Parts", "parts", nil, s.extended("x", "blob x"), func(r *stages.RegisterRequest) { r.Custom, r.Remote = false, true })
		var y stages.RegisterRequest
		s.extended("y", "blob y")(&y)
		if s.err == nil {
			_, s.err = s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "y:index:find", PackageRef: y.PackageRef})
		}
	}))
	require.Equal(t, []string{"extend x", "construct", "extend y", "invoke"}, order)
}
