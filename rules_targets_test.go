package sluice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func set(t *testing.T, patterns ...string) *urn.PatternSet {
	t.Helper()
	s, err := urn.CompileSet(patterns...)
	require.NoError(t, err)
	return s
}

// three declares b after a, and c, with this size.
func three(size int) func(s *script) {
	return func(s *script) {
		a := s.thing("a", in{"size": size})
		s.thing("b", in{"size": size}, dependsOn(a))
		s.thing("c", in{"size": size})
	}
}

func TestTargetsAloneAreTouched(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Targets = set(t, string(urnOf("a")))
	require.Equal(t, []string{"update a"}, k.up(program(three(2))).changed())
	k.options.Targeting.TargetDependents = true
	require.Equal(t, []string{"update b"}, k.up(program(three(2))).changed())
	require.Equal(t, property.Number(1), k.recorded("c").Inputs.At("size"))
}

func TestTargetedResourceMayNotDependOnOneThatIsNotCreated(t *testing.T) {
	k := newKit(t)
	k.options.Targeting.Targets = set(t, string(urnOf("b")))
	k.fails(program(three(1)), "was not specified in --target list").requireDiagnostic(sluice.Error, 2013, "'"+string(urnOf("a"))+"'")
	k.options.Targeting.Targets = set(t, string(urnOf("c")))
	require.Equal(t, []string{"create c"}, k.up(program(three(1))).changed()) // the others may depend on each other
	require.Equal(t, []string{"c"}, k.names())
}

func TestTargetsThatLackWhatTheyNeedAreRefusedWithAllThatIsToBeAdded(t *testing.T) {
	p := program(func(s *script) {
		a := s.thing("a", nil)
		b := s.thing("b", nil, dependsOn(a))
		s.thing("apart", nil)
		s.thing("c", nil, dependsOn(b))
	})
	k := newKit(t)
	k.options.Targeting.Targets = set(t, string(urnOf("c")))
	text := "Add what it needs: --target '" + string(urnOf("a")) + "' --target '" + string(urnOf("b")) + "'"
	r := k.try(sluice.Preview, p)
	r.requireFailure(text)
	r.requireDiagnostic(sluice.Error, 2013, text)
	require.Empty(t, k.fails(p, text).changed())

	k.options.Targeting.Targets = set(t, string(urnOf("a")), string(urnOf("b")), string(urnOf("c")))
	require.Equal(t, []string{"create a", "create b", "create c"}, k.up(p).changed())
}

func TestDeletesThatTargetsImplyAreRefusedWithAllThatIsToBeAdded(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		s.thing("c", nil, dependsOn(s.thing("b", nil, dependsOn(a))))
	}))
	before := k.state.Snapshot()
	k.options.Targeting.Targets = set(t, string(urnOf("a")))
	r := k.try(sluice.Destroy, nil)
	r.requireFailure("will be destroyed but was not specified")
	r.requireDiagnostic(sluice.Info, 0, "to delete them too, add: --target '"+string(urnOf("b"))+"' --target '"+string(urnOf("c"))+"'")
	require.Empty(t, r.changed())
	require.Equal(t, before.Resources, k.state.Snapshot().Resources)

	k.options.Targeting.Targets = set(t, string(urnOf("a")), string(urnOf("b")), string(urnOf("c")))
	k.destroy()
	require.Empty(t, k.names())
}

func TestDestroyOfATargetAsksForItsDependents(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Targets = set(t, string(urnOf("a")))
	out := k.try(sluice.Destroy, nil)
	out.requireDiagnostic(sluice.Error, 2014, string(urnOf("b")))
	require.Empty(t, out.changed())
	k.options.Targeting.TargetDependents = true
	require.Equal(t, []string{"delete b", "delete a"}, k.destroy().changed())
	require.Equal(t, []string{"c"}, k.names())
}

func TestExcludesAreLeftWithTheirDependents(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Excludes = set(t, "**::a")
	k.options.Targeting.ExcludeDependents = true
	require.Equal(t, []string{"update c"}, k.up(program(three(2))).changed())
	require.Equal(t, []string{"delete c"}, k.destroy().changed())
}

func TestTargetThatDoesNotExistIsRefused(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Targets = set(t, string(urnOf("nobody")))
	for _, op := range []operation{sluice.Update, sluice.Destroy, sluice.Refresh} {
		out := k.try(op, program(three(1)))
		out.requireFailure("one or more targets could not be found")
		out.requireDiagnostic(sluice.Error, 2011, "Did you forget to escape $ in your shell?")
	}
	k.options.Targeting.Targets = set(t, "**::nobody")
	require.Empty(t, k.up(program(three(2))).changed())
}

func TestRequestedReplacementsAreThoseNamed(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Replace = set(t, string(urnOf("a")), string(urnOf("c")))
	require.ElementsMatch(t, []string{"create a", "create c", "delete a", "delete c"}, k.up(program(three(1))).changed())
}

func TestRefreshRecordsWhatIsThere(t *testing.T) {
	type row struct {
		id, arn string
		inputs  in
		gone    bool
		partial bool
		want    sluice.Op
	}
	for name, test := range map[string]row{
		"unchanged":    {id: "x", arn: "old", inputs: in{"size": 1}, want: sluice.OpSame},
		"outputs only": {id: "x", arn: "new", inputs: in{"size": 1}, want: sluice.OpSame},
		"inputs":       {id: "x", arn: "old", inputs: in{"size": 2}, want: sluice.OpUpdate},
		"another ID":   {id: "y", arn: "old", inputs: in{"size": 1}, want: sluice.OpSame},
		"gone":         {gone: true, want: sluice.OpDelete},
		"not healthy":  {id: "x", arn: "old", inputs: in{"size": 1}, partial: true, want: sluice.OpSame},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
			k.fake = func(f *providertest.Fake) {
				f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
					switch {
					case test.gone:
						return providers.ReadResponse{}, nil
					case test.partial:
						return providers.ReadResponse{}, &providers.InitError{
							ID: test.id, Reasons: []string{"it is ill"}, Inputs: values(test.inputs), HasInputs: true, Properties: values(in{"arn": test.arn}),
						}
					}
					return providers.ReadResponse{
						ID: test.id, Exists: true, Inputs: values(test.inputs), HasInputs: true, Properties: values(in{"arn": test.arn}),
					}, nil
				}
			}
			out := k.try(sluice.Refresh, nil)
			require.NoError(t, out.err)
			out.step(test.want, "a")
			require.Empty(t, out.changed())
			if test.gone {
				require.Empty(t, k.names())
				return
			}
			a := k.recorded("a")
			require.Equal(t, test.id, a.ID)
			require.Equal(t, values(test.inputs), a.Inputs)
			require.Equal(t, property.String(test.arn), a.Outputs.At("arn"))
			if test.partial {
				require.Equal(t, []string{"it is ill"}, a.InitErrors)
				out.requireDiagnostic(sluice.Warning, 0, "Refreshed resource is in an unhealthy state:\n* it is ill")
			}
		})
	}
}

func TestRefreshThatMissesADependencyStripsReferencesToIt(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		s.thing("b", nil, dependsOn(a), deletedWith(a))
	}))
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	require.NoError(t, k.try(sluice.Refresh, nil).err)
	b := k.recorded("b")
	require.Empty(t, b.Dependencies)
	require.Empty(t, b.DeletedWith)
}

func TestWhatAsksForItIsReadBeforeTheProgramAndNothingElse(t *testing.T) {
	k := newKit(t)
	p := program(three(1))
	k.up(p)
	k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate = true })
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	out := k.up(p)
	require.Equal(t, "read a", out.did()[0])
	require.Equal(t, []string{"create a"}, out.changed())
	require.NotContains(t, out.did(), "read c")
}

func TestPendingOperationsAreListedByAnUpdateAndNotByARefreshOrAPreview(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	interrupt(k, "a")
	nothing := program(func(*script) {})
	k.try(sluice.Update, nothing).requireDiagnostic(sluice.Warning, 0, string(urnOf("a"))+", interrupted while creating")
	require.Empty(t, k.try(sluice.Preview, nothing).diagnostics(sluice.Warning))
	require.Empty(t, k.try(sluice.Refresh, nil).diagnostics(sluice.Warning))
	require.Len(t, k.state.Snapshot().Pending, 1)
}
