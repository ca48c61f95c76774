package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

var (
	web       = urn.New("dev", "p", "", thing, "web")
	ref       = urn.ProviderRef{URN: urn.New("dev", "p", "", "pulumi:providers:x", "main"), ID: "1"}
	errBroken = errors.New("it broke")
)

// rig is the access of a run to one recorded provider that is not started.
type rig struct {
	Access *access.Access
	fake   *providertest.Fake
	loads  int
	told   []stages.Diagnostic
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{fake: providertest.NewFake("x")}
	r.fake.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return nil }
	host := providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) {
		r.loads++
		return r.fake, nil
	})
	registry := providers.NewRegistry(t.Context(), host, providers.RegistryOptions{})
	t.Cleanup(func() { require.NoError(t, registry.Close()) })
	recorded := &state.Resource{URN: ref.URN, Type: ref.URN.Type(), Custom: true, ID: ref.ID}
	c := control.NewControl(t.Context(), stages.RunInfo{}, time.Now, func(e stages.Event) { r.told = append(r.told, e.(stages.Diagnostic)) })
	b, w := rooms.NewRooms(stages.Settings{})
	w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{Resources: []*state.Resource{recorded}}})
	r.Access = &access.Access{Control: c, Rooms: b, Registry: registry, Extensions: access.NewExtensions(nil)}
	return r
}

func registration(provider string) stages.Located {
	return stages.Located{Seq: 1, URN: web, Registered: stages.Registered{Goal: &stages.Goal{Type: thing, Provider: provider}}}
}

func TestAProviderThatCannotBeHadEndsTheRegistration(t *testing.T) {
	unknown := urn.ProviderRef{URN: ref.URN, ID: "2"}.String()
	for provider, c := range map[string]struct {
		code int
		text string
	}{
		"main":                      {stages.CodeBadProvider, "bad provider reference 'main' for resource '" + string(web) + "'"},
		urn.DeniedRef("x").String(): {stages.CodeProviderDenied, "Default provider for 'x' disabled. '" + string(web) + "' must use an explicit provider."},
		unknown:                     {stages.CodeUnknownProvider, "unknown provider '" + unknown + "'"},
	} {
		r := newRig(t)
		_, err := r.Access.ProviderOf(registration(provider))
		require.True(t, stages.IsReported(err))
		require.ErrorContains(t, err, c.text)
		require.Equal(t, c.code, r.told[0].Code)
		require.True(t, r.Access.Control.IsHalted())
	}
}

func TestARecordedProviderIsStartedForTheFirstWhoNeedsIt(t *testing.T) {
	r := newRig(t)
	l := registration(ref.String())
	for range 2 {
		require.NoError(t, r.Access.EnsureProvider(t.Context(), l))
		_, err := r.Access.ProviderOf(l)
		require.NoError(t, err)
		_, err = r.Access.ProviderFor(t.Context(), &state.Resource{URN: web, Type: thing, Custom: true, Provider: ref.String()})
		require.NoError(t, err)
	}
	require.Equal(t, 1, r.loads)
}

func TestComponentsHaveNoProvider(t *testing.T) {
	r := newRig(t)
	p, err := r.Access.ProviderOfState(&state.Resource{URN: web, Type: thing, Provider: ref.String()})
	require.NoError(t, err)
	require.Nil(t, p)
	require.Zero(t, r.loads)
}

func TestTheRegistryHasTheProviderOfProviders(t *testing.T) {
	r := newRig(t)
	p, err := r.Access.ProviderFor(t.Context(), &state.Resource{URN: ref.URN, Type: ref.URN.Type(), Custom: true})
	require.NoError(t, err)
	require.Same(t, r.Access.Registry.Resources(), p)
}

func TestAStateWhoseProviderIsNotRecordedCannotBeReached(t *testing.T) {
	r := newRig(t)
	lost := urn.ProviderRef{URN: ref.URN, ID: "2"}.String()
	_, err := r.Access.ProviderFor(t.Context(), &state.Resource{URN: web, Type: thing, Provider: lost})
	require.ErrorContains(t, err, "could not find provider "+lost)
	require.False(t, r.Access.Control.HasFailed(), "who asks says what that means")
}

func (r *rig) diff(t *testing.T, answer providers.DiffResponse, failure error) (providers.DiffResponse, stages.Decider, error) {
	t.Helper()
	r.fake.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) { return answer, failure }
	one, two := property.Number(1), property.Number(2)
	old := &state.Resource{URN: web, Type: thing, Inputs: property.NewMap(map[string]property.Value{"size": one, "zone": one})}
	res, by, say, err := r.Access.AskDiff(t.Context(), r.fake, web, old, property.NewMap(map[string]property.Value{"size": two, "zone": two}), true, []string{"zone"})
	if say != nil {
		say()
	}
	return res, by, err
}

func TestTheProvidersAnswerToDiffCounts(t *testing.T) {
	answer := providers.DiffResponse{Changes: providers.DiffNone}
	got, by, err := newRig(t).diff(t, answer, nil)
	require.NoError(t, err)
	require.Equal(t, stages.ByDiff, by)
	require.Equal(t, answer, got)
}

func TestTheEngineComparesWhereTheProviderDoesNotKnow(t *testing.T) {
	got, by, err := newRig(t).diff(t, providers.DiffResponse{Changes: providers.DiffUnknown, ReplaceKeys: []string{"size"}}, nil)
	require.NoError(t, err)
	require.Equal(t, stages.ByEngine, by)
	require.Equal(t, providers.DiffResponse{
		Changes: providers.DiffSome, ChangedKeys: []string{"size"}, ReplaceKeys: []string{"size"},
		DetailedDiff: map[string]providers.PropertyDiff{"size": {Kind: providers.DiffUpdate, InputDiff: true}},
	}, got, "ignored properties do not count, and replace keys stay")
}

func TestAProviderThatIsNotConfiguredYetMayChangeAnything(t *testing.T) {
	r := newRig(t)
	got, by, err := r.diff(t, providers.DiffResponse{}, &providers.DiffUnavailableError{Reason: "not yet"})
	require.NoError(t, err)
	require.Equal(t, stages.ByNotYet, by)
	require.Equal(t, providers.DiffSome, got.Changes)
	require.Equal(t, stages.Warning, r.told[0].Severity)
	require.Equal(t, "not yet", r.told[0].Message)
}

func TestAnAnswerToDiffThatMeansNothingIsAnError(t *testing.T) {
	_, by, err := newRig(t).diff(t, providers.DiffResponse{Changes: 99}, nil)
	require.ErrorContains(t, err, "unrecognized diff state")
	require.Equal(t, stages.ByNobody, by)
	_, _, err = newRig(t).diff(t, providers.DiffResponse{}, errBroken)
	require.ErrorIs(t, err, errBroken)
}

var extension = stages.Parameterization{Name: "ext", Version: "1.0.0", Value: []byte("v")}

func TestAProviderIsToldOfEachExtensionOnce(t *testing.T) {
	r := newRig(t)
	fails, told := true, 0
	r.fake.OnParameterize = func(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
		told++
		if fails {
			return providers.ParameterizeResponse{}, errBroken
		}
		return providers.ParameterizeResponse{Name: req.Name}, nil
	}
	known := r.Access.Extensions.Register(extension)
	s := &state.Resource{URN: web, Type: thing, Custom: true, Provider: ref.String(), ExtensionRef: known}
	_, err := r.Access.ProviderFor(t.Context(), s)
	require.ErrorIs(t, err, errBroken)
	fails = false
	for range 2 {
		_, err = r.Access.ProviderFor(t.Context(), s)
		require.NoError(t, err)
	}
	require.Equal(t, 2, told, "a failure is not remembered, a success is")
}

func TestAnExtensionIsFoundInTheRecordedState(t *testing.T) {
	first := access.NewExtensions(nil)
	known := first.Register(extension)
	recorded := first.Recorded(known)
	require.NotEmpty(t, recorded)

	later := access.NewExtensions(map[string]json.RawMessage{known: recorded})
	require.Nil(t, later.Recorded(known), "what the state has already is not recorded again")
	var got providers.ParameterizeRequest
	fake := providertest.NewFake("x")
	fake.OnParameterize = func(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
		got = req
		return providers.ParameterizeResponse{Name: req.Name}, nil
	}
	require.NoError(t, later.Apply(t.Context(), fake, known))
	require.Equal(t, providers.ParameterizeRequest{Name: "ext", Version: "1.0.0", Value: []byte("v")}, got)
	require.ErrorContains(t, later.Apply(t.Context(), fake, "other"), "the recorded state has no extension other")
}

func TestAProviderMustServeTheExtensionThatItWasAskedFor(t *testing.T) {
	fake := providertest.NewFake("x")
	fake.OnParameterize = func(context.Context, providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
		return providers.ParameterizeResponse{Name: "another"}, nil
	}
	e := access.NewExtensions(nil)
	require.ErrorContains(t, e.Apply(t.Context(), fake, e.Register(extension)), `does not match expected package "ext"`)
}
