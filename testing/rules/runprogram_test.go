package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// running makes the operations of a kit run the program.
func running(k *kit) *kit {
	k.options.RunProgram = true
	return k
}

func TestRefreshByProgramReadsWithTheProgramsProviderAndSkipsWhatIsNew(t *testing.T) {
	k := running(newKit(t))
	declare := func(region string, fresh bool) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("mine", in{"region": region})
			s.thing("a", in{"size": 1}, via(ref))
			if fresh {
				n := s.thing("n", nil, via(ref))
				require.True(t, n.Unknown)
				require.Empty(t, n.ID)
			}
		}
	}
	k.up(program(declare("here", false)))
	used := noteRegions(k)
	out := k.try(sluice.Refresh, program(declare("there", true)))
	require.NoError(t, out.err)
	require.Equal(t, []string{"there"}, used["read"])
	require.Equal(t, []string{"here", "there"}, regions(k, out))
	require.Equal(t, []string{"read a", "diff a"}, out.did())
	require.Equal(t, []string{"mine", "a"}, k.names())
}

// noteRegions records the region of each read and delete from now on.
func noteRegions(k *kit) map[string][]string {
	used := map[string][]string{}
	k.fake = func(f *providertest.Fake) {
		base, region := f.Base, "" // of this instance of the provider
		f.OnConfigure = func(ctx context.Context, r providers.ConfigureRequest) error {
			region = r.Inputs.At("region").AsString()
			return base.Configure(ctx, r)
		}
		f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
			used["read"] = append(used["read"], region)
			return base.Read(ctx, r)
		}
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			used["delete"] = append(used["delete"], region)
			return base.Delete(ctx, r)
		}
	}
	return used
}

// regions returns the old and the new region of the recorded provider.
func regions(k *kit, out *ran) []string {
	k.t.Helper()
	for _, s := range out.Steps() {
		if s.Op == stages.OpUpdate && s.URN.Name() == "mine" && !s.Internal {
			return []string{s.Old.Inputs.At("region").AsString(), k.recorded("mine").Inputs.At("region").AsString()}
		}
	}
	return nil
}

func TestRefreshByProgramReadsWhatTheProgramDoesNotDeclareAndDeletesNothing(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) {
		s.thing("a", nil)
		s.thing("b", nil)
	}))
	out := k.try(sluice.Refresh, program(func(s *script) { s.thing("a", nil) }))
	require.NoError(t, out.err)
	require.ElementsMatch(t, []string{"read a", "diff a", "read b", "diff b"}, out.did())
	require.Equal(t, []string{"a", "b"}, k.names())
}

func TestRefreshByProgramKeepsReferencesToWhatItLeavesOut(t *testing.T) {
	for name, choose := range map[string]func(*stages.Targeting){
		"excludes": func(sel *stages.Targeting) { sel.Excludes = set(t, string(urnOf("a"))) },
		"targets":  func(sel *stages.Targeting) { sel.Targets = set(t, string(urnOf("b"))) },
	} {
		t.Run(name, func(t *testing.T) {
			k := running(newKit(t))
			p := program(func(s *script) {
				a := s.thing("a", nil)
				s.thing("b", nil, from("value", a), deletedWith(a))
			})
			k.up(p)
			before := k.recorded("b")
			choose(&k.options.Targeting)
			out := k.try(sluice.Refresh, p)
			require.NoError(t, out.err)
			require.ElementsMatch(t, []string{"read b", "diff b"}, out.did())
			after := k.recorded("b")
			require.Equal(t, []urn.URN{urnOf("a")}, after.Dependencies)
			require.Equal(t, before.PropertyDependencies, after.PropertyDependencies)
			require.Equal(t, urnOf("a"), after.DeletedWith)
		})
	}
}

func TestUpdateThatRefreshesByProgramMakesAgainWhatIsGone(t *testing.T) {
	k := running(newKit(t))
	p := program(func(s *script) { s.thing("b", nil, dependsOn(s.thing("a", nil))) })
	k.up(p)
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	k.options.Refresh = true
	out := k.up(p)
	require.Equal(t, []string{"create a"}, out.changed())
	require.Equal(t, stages.ReasonVanished, out.step(stages.OpCreate, "a").Reason.Kind)
	require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("b").Dependencies)
}

// In a preview, the configuration of the program's provider may not be known yet, so that nothing can be read with it.
func TestPreviewedRefreshByProgramKeepsWhatItCannotReadAsItIsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		do    operation
		shown stages.Op
	}{
		"an update": {sluice.Preview, stages.OpUpdate}, // it is not known whether there are changes
		"a refresh": {sluice.PreviewRefresh, stages.OpSame},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(newKit(t))
			k.up(program(func(s *script) {
				_, ref := s.provider("mine", in{"region": "here"})
				s.thing("a", in{"x": 1}, via(ref))
			}))
			k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate, r.InitErrors = true, []string{"not healthy"} })
			was := k.recorded("a")
			k.options.Refresh = c.shown == stages.OpUpdate
			r := k.try(c.do, program(func(s *script) {
				_, ref := s.provider("mine", in{"region": property.Computed()})
				s.thing("a", in{"x": 1}, via(ref))
			}))
			require.NoError(t, r.err)
			require.Empty(t, asked[providers.ReadRequest](r, "a"))
			r.requireDiagnostic(stages.Warning, 0, "so the object is not read")
			require.Equal(t, was, r.step(c.shown, "a").Old)
			if c.shown == stages.OpSame {
				require.Equal(t, was, r.step(c.shown, "a").New)
				require.Equal(t, stages.Reason{Kind: stages.ReasonUnchanged}, r.step(c.shown, "a").Reason)
			}
		})
	}
}

func TestDestroyByProgramDeletesWithTheProgramsProvider(t *testing.T) {
	k := running(newKit(t))
	declare := func(region string) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("mine", in{"region": region})
			s.thing("a", nil, via(ref))
		}
	}
	k.up(program(declare("here")))
	used := noteRegions(k)
	out := k.try(sluice.Destroy, program(declare("there")))
	require.NoError(t, out.err)
	require.Equal(t, []string{"there"}, used["delete"])
	require.Equal(t, []string{"update mine", "same a", "delete a", "delete mine"}, out.steps())
	require.Empty(t, k.names())
}

func TestDestroyByProgramCreatesNothing(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) { s.thing("a", nil) }))
	out := k.try(sluice.Destroy, program(func(s *script) {
		n := s.thing("n", nil, dependsOn(s.thing("a", nil)))
		s.group("g", dependsOn(n))
		s.thing("inner", nil, dependsOn(n))
	}))
	require.NoError(t, out.err)
	require.Equal(t, []string{"delete a"}, out.changed())
	require.Equal(t, []string{"same a", "same n", "same g", "same inner", "delete a"}, out.steps())
	require.Empty(t, k.names())
}

func TestDestroyByProgramTellsTheOutputsOfWhatRefersToSomethingNew(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) {
		s.thing("a", in{"size": 1})
		s.group("g")
	}))
	known := k.recorded("a").Outputs
	var a, g *stages.RegisterReply
	out := k.try(sluice.Destroy, program(func(s *script) {
		n := s.thing("n", nil)
		a, g = s.thing("a", in{"size": 1}, dependsOn(n)), s.group("g", dependsOn(n))
	}))
	require.NoError(t, out.err)
	require.Equal(t, known, a.Outputs)
	require.True(t, a.Unknown)
	require.Empty(t, a.ID)
	require.True(t, g.Unknown)
	require.Equal(t, []string{"delete a"}, out.changed())
	require.Empty(t, k.names())
}

func TestDestroyByProgramLeavesNothingOfAnEmptyStack(t *testing.T) {
	k := running(newKit(t))
	out := k.try(sluice.Destroy, program(func(s *script) { s.thing("a", nil, parent(s.group("g"))) }))
	require.NoError(t, out.err)
	require.Empty(t, k.names(), "components neither")
}

func TestDestroyByProgramDeletesWhatHasBeenRenamedOnce(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) { s.thing("old", nil) }))
	out := k.try(sluice.Destroy, program(func(s *script) { s.thing("new", nil, alias(urn.Alias{URN: urnOf("old")})) }))
	require.NoError(t, out.err)
	require.Equal(t, []string{"same new", "delete new"}, out.steps())
	require.Equal(t, []string{"delete new"}, out.changed())
	require.Empty(t, k.names())
}

func TestDestroyByProgramKeepsTheProtectedAndTheirProvider(t *testing.T) {
	k := running(newKit(t))
	p := program(func(s *script) {
		_, ref := s.provider("mine", nil)
		s.thing("a", nil, via(ref), protect(true))
		s.thing("b", nil, via(ref))
	})
	k.up(p)
	out := k.try(sluice.Destroy, p)
	out.requireFailure("protected")
	require.Equal(t, []string{"delete b"}, out.changed())
	require.Equal(t, []string{"mine", "a"}, k.names())
}

func TestDestroyByProgramDeletesDependentsThatTheProgramDoesNotDeclareFirst(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) { s.thing("b", nil, dependsOn(s.thing("a", nil))) }))
	out := k.try(sluice.Destroy, program(func(s *script) { s.thing("a", nil) }))
	require.NoError(t, out.err)
	require.Equal(t, []string{"delete b", "delete a"}, out.changed())
}

func TestReadOfWhatIsNotCreatedIsNotMade(t *testing.T) {
	for name, op := range map[string]operation{"refresh": sluice.Refresh, "destroy": sluice.Destroy} {
		t.Run(name, func(t *testing.T) {
			k := running(newKit(t))
			k.exists("there", nil)
			k.up(program(func(s *script) { s.thing("a", nil) }))
			out := k.try(op, program(func(s *script) {
				s.thing("a", nil)
				n := s.thing("n", nil)
				child := s.read("child", "there", func(r *stages.ReadRequest) { r.Parent = n.URN })
				require.True(t, child.Unknown)
				require.True(t, s.read("unknown", "", func(r *stages.ReadRequest) { r.ID = property.Computed() }).Unknown)
			}))
			require.NoError(t, out.err)
			require.NotContains(t, out.did(), "read child")
			require.NotContains(t, k.names(), "child")
		})
	}
}

func TestDestroyByProgramDeletesWhatStillUsesAnOldCopyBeforeThat(t *testing.T) {
	k := running(newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "b"}))
	declare := func(zone int) source.Func {
		return program(func(s *script) {
			a := s.thing("a", in{"immutable": zone})
			s.thing("b", in{"size": zone}, dependsOn(a))
		})
	}
	k.up(declare(1))
	k.fails(declare(2), "b")
	require.Contains(t, k.names(), "a (delete)")
	out := k.try(sluice.Destroy, declare(2))
	require.NoError(t, out.err)
	require.Len(t, out.changed(), 3)
	require.Equal(t, "delete b", out.changed()[0])
}

func TestDestroyByProgramDeletesDependentsOfWhatHasBeenRenamedFirst(t *testing.T) {
	k := running(newKit(t))
	k.up(program(func(s *script) { s.thing("b", nil, dependsOn(s.thing("old", nil))) }))
	out := k.try(sluice.Destroy, program(func(s *script) { s.thing("new", nil, alias(urn.Alias{URN: urnOf("old")})) }))
	require.NoError(t, out.err)
	require.Equal(t, []string{"delete b", "delete new"}, out.changed())
}

func TestDestroyByProgramLetsGoOfWhatWasRead(t *testing.T) {
	k := running(newKit(t))
	k.exists("there", nil)
	p := program(func(s *script) { s.read("r", "there") })
	k.up(p)
	out := k.try(sluice.Destroy, p)
	require.NoError(t, out.err)
	require.Empty(t, out.changed())
	require.Equal(t, []string{"read r", "discard r"}, out.steps())
	require.Empty(t, k.names())
}

func TestDeleteHooksNeedTheProgramAndRunWhileItIsAlive(t *testing.T) {
	k := newKit(t)
	var ran []string
	p := program(func(s *script) {
		if s.err = s.m.RegisterHook(s.ctx, stages.Hook{Name: "h", Run: func(_ context.Context, in stages.HookInput) error {
			ran = append(ran, in.Name)
			return nil
		}}); s.err == nil {
			s.thing("a", nil, hooks("BeforeDelete", "h"), hooks("AfterDelete", "h"))
		}
	})
	k.up(p)
	before := k.state.Snapshot()
	_, err := sluice.Destroy(t.Context(), k.options)
	require.ErrorContains(t, err, "Resource has delete hooks registered, but the program is not running. Hooks: h, h")
	require.Equal(t, []advice.Advice{advice.On(advice.RunProgram)}, advice.Of(err))
	require.Same(t, before, k.state.Snapshot())

	out := running(k).try(sluice.Destroy, p)
	require.NoError(t, out.err)
	require.Equal(t, []string{"a", "a"}, ran)
	require.Empty(t, k.names())
}

func TestInterruptedReplacementIsNotDeletedAgainByADestroyByProgram(t *testing.T) {
	k := running(newKit(t))
	p := program(func(s *script) { s.thing("a", nil) })
	k.up(p)
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	k.change("a", func(r *state.Resource) { r.PendingReplacement = true })
	out := k.try(sluice.Destroy, p)
	require.NoError(t, out.err)
	require.Empty(t, out.changed())
	require.Empty(t, k.names())
}

func TestPendingCreateIsForgottenOrImportedByARefresh(t *testing.T) {
	for name, resolution := range map[string]stages.CreateResolution{"forgotten": {Clear: true}, "imported": {ID: idOf("a", 1)}, "left": {}} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
			interrupt(k, "a")
			k.options.ResolveCreate = func(op state.Pending) stages.CreateResolution {
				require.Equal(t, urnOf("a"), op.Resource.URN)
				return resolution
			}
			preview := k.try(sluice.PreviewRefresh, nil)
			require.NoError(t, preview.err)
			require.Len(t, k.state.Snapshot().Pending, 1)
			out := k.try(sluice.Refresh, nil)
			require.NoError(t, out.err)
			switch name {
			case "left":
				require.Len(t, k.state.Snapshot().Pending, 1)
			case "forgotten":
				require.Empty(t, k.state.Snapshot().Pending)
				require.Empty(t, k.names())
			case "imported":
				require.Equal(t, preview.Changes, out.Changes)
				require.Empty(t, k.state.Snapshot().Pending)
				require.Equal(t, idOf("a", 1), k.recorded("a").ID)
				require.Equal(t, property.Number(1), k.recorded("a").Inputs.At("size"))
			}
		})
	}
}

func TestPendingCreateStaysWhenTheObjectToImportDoesNotExist(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	interrupt(k, "a")
	k.options.ResolveCreate = func(state.Pending) stages.CreateResolution { return stages.CreateResolution{ID: "nowhere"} }
	out := k.try(sluice.Refresh, nil)
	out.requireFailure("'nowhere' does not exist")
	require.Len(t, k.state.Snapshot().Pending, 1)
}

// interrupt turns a recorded resource into one whose create was interrupted.
func interrupt(k *kit, name string) {
	k.t.Helper()
	old := k.recorded(name)
	s := *k.state.Snapshot()
	s.Resources = nil
	for _, r := range k.state.Snapshot().Resources {
		if r != old {
			s.Resources = append(s.Resources, r)
		}
	}
	half := old.Clone()
	half.ID, half.Outputs = "", property.Map{}
	s.Pending = []state.Pending{{Type: state.Creating, Resource: half}}
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
}

// asking is a program that requests a version of the package test.
type asking struct{ source.Func }

func (asking) Packages(context.Context) ([]stages.Package, error) {
	return []stages.Package{{Name: "test", Version: "2.1.0"}}, nil
}

func TestOlderPackagesThanTheProgramAsksForAreWarnedOfWhereItDoesNotRun(t *testing.T) {
	for kind, op := range map[string]operation{"refresh": sluice.Refresh, "destroy": sluice.Destroy} {
		t.Run(kind, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.provider("mine", in{"version": "2.0.0"}) }))
			warned := func(p source.Program) (found bool) {
				o := k.options
				o.Program = p
				o.Observe = func(e stages.Event) {
					if d, ok := e.(stages.Diagnostic); ok && d.Severity == stages.Warning {
						found = found || d.Message == kind+" operation is using an older version of package 'test' than the specified program version: 2.0.0 < 2.1.0"
					}
				}
				_, err := op(t.Context(), o)
				require.NoError(t, err)
				return found
			}
			require.True(t, warned(asking{}))
			require.False(t, warned(nil))
		})
	}
}
