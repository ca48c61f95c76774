package rules

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// lose makes the next create of a resource create its object and lose the answer.
func lose(name string) providertest.Failure {
	return providertest.Failure{
		Method: providers.MethodCreate, Name: name, Nth: 1, Applied: true, Err: &providers.UncertainError{Err: errRefused, Lost: true},
	}
}

// resolves returns the same resolution for every interrupted create.
func resolves(r stages.CreateResolution) func(state.Pending) stages.CreateResolution {
	return func(state.Pending) stages.CreateResolution { return r }
}

// interruptedKit returns a stack of a and b whose create of a was interrupted after it had made idOf("a", 1).
func interruptedKit(t *testing.T) *kit {
	k := newKit(t, lose("a"))
	k.options.ContinueOnError = true
	k.fails(two, "refused")
	k.options.ContinueOnError = false
	require.Len(t, k.state.Snapshot().Pending, 1)
	require.Equal(t, []string{"b"}, k.names())
	return k
}

func requireInterrupted(t *testing.T, err error, u urn.URN) {
	t.Helper()
	var interrupted *stages.InterruptedCreateError
	require.ErrorAs(t, err, &interrupted)
	require.Equal(t, u, interrupted.URN)
	require.Contains(t, advice.Of(err), advice.On(advice.ResolveCreate, interrupted.Interrupted))
}

func TestACreateThatMayHaveBeenDoneIsNotRepeated(t *testing.T) {
	k := interruptedKit(t)
	before := k.state.Snapshot()

	// The preview reports it, still shows the planned changes, and does not call the provider about it.
	out := k.try(sluice.Preview, two)
	requireInterrupted(t, out.err, urnOf("a"))
	require.Len(t, out.diagnostics(stages.Error), 2, "one, and that the preview has failed")
	require.Equal(t, []string{"create a", "same b"}, out.steps())
	require.Empty(t, asked[providers.CreateRequest](out, "a"))
	require.Same(t, before, k.state.Snapshot())

	// The update fails before the create.
	out = k.try(sluice.Update, two)
	requireInterrupted(t, out.err, urnOf("a"))
	require.NotContains(t, out.steps(), "create a")
	require.Empty(t, asked[providers.CreateRequest](out, "a"))
	require.Equal(t, before.Pending, k.state.Snapshot().Pending)
	require.False(t, out.summary().MaybeCorrupt)

	// Its dependents are skipped, the rest is done.
	k.options.ContinueOnError = true
	out = k.try(sluice.Update, program(func(s *script) {
		a := s.thing("a", in{"x": 1})
		require.Equal(t, stages.Fail, a.Result)
		a.URN = urnOf("a")
		require.Equal(t, stages.Skip, s.thing("c", nil, dependsOn(a)).Result)
		s.thing("b", in{"x": 2})
	}))
	requireInterrupted(t, out.err, urnOf("a"))
	require.Equal(t, []string{"update b"}, out.changed())
	require.Equal(t, []string{"b"}, k.names())
	require.Len(t, k.state.Snapshot().Pending, 1)
}

func TestWhatIsDoneAboutAnInterruptedCreateIsForSomebodyToSay(t *testing.T) {
	for name, c := range map[string]struct {
		resolution stages.CreateResolution
		changed    []string
		id         string
		stays      bool // although no program declares the resource
	}{
		"another one":    {stages.CreateResolution{Again: true}, []string{"create a"}, idOf("a", 2), true},
		"nothing made":   {stages.CreateResolution{Clear: true}, []string{"create a"}, idOf("a", 2), false},
		"what was made":  {stages.CreateResolution{ID: idOf("a", 1)}, nil, idOf("a", 1), false},
		"made otherwise": {stages.CreateResolution{ID: idOf("a", 1)}, []string{"update a"}, idOf("a", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := two
			if name == "made otherwise" {
				p = program(func(s *script) {
					s.thing("a", in{"x": 2})
					s.thing("b", nil)
				})
			}
			for title, refresh := range map[string]bool{"plain": false, "refreshed": true} {
				t.Run(title, func(t *testing.T) {
					k := interruptedKit(t)
					k.options.ResolveCreate, k.options.Refresh = resolves(c.resolution), refresh
					before := k.state.Snapshot()
					preview := k.preview(p)
					require.Same(t, before, k.state.Snapshot())
					out := k.try(sluice.Update, p)
					require.NoError(t, out.err)
					require.Equal(t, preview.Changes, out.Changes)
					require.ElementsMatch(t, c.changed, out.changed())
					require.Equal(t, c.id, k.recorded("a").ID)
					require.Empty(t, k.state.Snapshot().Pending)

					// From then on there is nothing to report.
					k.options.ResolveCreate = nil
					require.Empty(t, k.try(sluice.Update, p).changed())
				})
			}
			t.Run("not declared", func(t *testing.T) {
				k := interruptedKit(t)
				k.options.ResolveCreate = resolves(c.resolution)
				out := k.try(sluice.Update, program(func(s *script) { s.thing("b", nil) }))
				require.NoError(t, out.err)
				require.Equal(t, c.stays, len(k.state.Snapshot().Pending) == 1)
				require.Equal(t, []string{"b"}, k.names(), "what was imported is not declared, so it is deleted")
			})
		})
	}
}

func TestAnInterruptedCreateThatCannotBeImportedStopsTheUpdateBeforeTheProgram(t *testing.T) {
	k := interruptedKit(t)
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: "nowhere"})
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		out := k.try(op, program(func(*script) { require.Fail(t, "the program runs") }))
		out.requireFailure("'nowhere' does not exist")
		require.Len(t, k.state.Snapshot().Pending, 1)
	}
}

func TestAnInterruptedCreateIsKnownByItsFormerName(t *testing.T) {
	k := interruptedKit(t)
	renamed := program(func(s *script) {
		s.thing("new", in{"x": 1}, alias(urn.Alias{Name: "a"}))
		s.thing("b", nil)
	})
	out := k.try(sluice.Update, renamed)
	requireInterrupted(t, out.err, urnOf("new"))
	require.ErrorContains(t, out.err, string(urnOf("a")))
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 1)})
	out = k.up(renamed)
	require.Empty(t, out.changed())
	require.Equal(t, idOf("a", 1), k.recorded("new").ID)

	// Another object resolves it under the former name.
	k = interruptedKit(t)
	k.options.ResolveCreate = resolves(stages.CreateResolution{Again: true})
	out = k.try(sluice.Update, renamed)
	require.NoError(t, out.err)
	require.Equal(t, []string{"create new"}, out.changed())
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestARecordedObjectIsNotInDoubt(t *testing.T) {
	for name, value := range map[string]in{"updated": {"value": 2}, "replaced": {"immutable": 2}} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"value": 1})))
			pend(k, state.Pending{Type: state.Creating, Resource: k.recorded("a").Clone()})
			out := k.try(sluice.Update, program(one(value)))
			require.NoError(t, out.err)
			require.NotEmpty(t, out.changed())
			require.Len(t, k.state.Snapshot().Pending, 1, "nobody has resolved it")
		})
	}
}

func TestWhatMakesNothingOutsideTheStateIsMadeAgainAndResolved(t *testing.T) {
	k := newKit(t)
	k.up(nothing)
	pend(k,
		state.Pending{Type: state.Creating, Resource: &state.Resource{URN: "urn:pulumi:dev::p::test:index:Group::g", Type: "test:index:Group"}},
		state.Pending{Type: state.Creating, Resource: &state.Resource{URN: "urn:pulumi:dev::p::pulumi:providers:test::v", Type: "pulumi:providers:test", Custom: true}})
	k.up(program(func(s *script) {
		s.group("g")
		s.provider("v", nil)
	}))
}

func TestAReplacementThatMayHaveBeenMadeIsNotRepeated(t *testing.T) {
	for name, first := range map[string]bool{"created first": false, "deleted first": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := func(version int) func(*script) {
				return func(s *script) {
					a := s.thing("a", in{"immutable": version}, deleteFirst(first))
					s.thing("b", nil, dependsOn(a), from("immutable", a))
				}
			}
			k.up(program(p(1)))
			half := k.recorded("a").Clone()
			half.ID, half.Outputs = "", values(nil)
			pend(k, state.Pending{Type: state.Creating, Resource: half})
			for title, coe := range map[string]bool{"stopping": false, "going on": true} {
				t.Run(title, func(t *testing.T) {
					k.options.ContinueOnError = coe
					out := k.try(sluice.Preview, program(p(2)))
					requireInterrupted(t, out.err, urnOf("a"))
					out = k.try(sluice.Update, program(p(2)))
					requireInterrupted(t, out.err, urnOf("a"))
					require.Empty(t, out.changed(), "nothing is deleted for it either")
					require.Equal(t, []string{"a", "b"}, k.names())
				})
			}
			out := k.try(sluice.Update, program(p(1)))
			require.NoError(t, out.err, "what is not created is not in question")
			k.options.ResolveCreate = resolves(stages.CreateResolution{Again: true})
			k.up(program(p(2)))
		})
	}
}

func TestAReplacementInterruptedAfterItsDeleteIsAdopted(t *testing.T) {
	for name, settle := range map[string]operation{"recover": sluice.Recover, "update": sluice.Update} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{
				Method: providers.MethodCreate, Name: "a", Nth: 2, Applied: true, Err: &providers.UncertainError{Err: errRefused, Lost: true},
			})
			p := func(version int) func(*script) {
				return func(s *script) {
					a := s.thing("a", in{"immutable": version}, deleteFirst(true))
					s.thing("b", nil, dependsOn(a))
				}
			}
			k.up(program(p(1)))
			k.fails(program(p(2)), "refused")
			require.Contains(t, k.names(), "a (pending)")
			requireInterrupted(t, k.try(sluice.Update, program(p(2))).err, urnOf("a"))

			k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 2)})
			out := k.try(settle, program(p(2)))
			require.NoError(t, out.err)
			require.Equal(t, idOf("a", 2), k.recorded("a").ID)
			require.Empty(t, k.state.Snapshot().Pending)
			k.options.ResolveCreate = nil
			k.up(program(p(2)))
			require.Equal(t, idOf("a", 2), k.recorded("a").ID)
		})
	}
}

// replaced declares the thing a, which a change of version replaces, with a dependency and a dependent. Version 2 also has the
// new thing c, another dependency of a.
func replaced(version int, with ...option) source.Func {
	return program(func(s *script) {
		var uses []option
		if version > 1 {
			uses = append(uses, dependsOn(s.thing("c", nil)))
		}
		a := s.thing("a", in{"immutable": version}, append(uses, with...)...)
		s.thing("b", nil, dependsOn(a), from("value", a))
	})
}

func inCloud(t *testing.T, k *kit, id string) bool {
	t.Helper()
	all, err := k.cloud.Records()
	require.NoError(t, err)
	return slices.ContainsFunc(all, func(r providertest.Record) bool { return r.ID == id })
}

// interruptedReplacement returns a stack of a and b, and c, whose replacement of a by idOf("a", 2) was interrupted after the new
// object was created.
func interruptedReplacement(t *testing.T, with ...option) *kit {
	k := newKit(t, providertest.Failure{
		Method: providers.MethodCreate, Name: "a", Nth: 2, Applied: true, Err: &providers.UncertainError{Err: errRefused, Lost: true},
	})
	k.up(replaced(1))
	k.fails(replaced(2, with...), "refused")
	require.Equal(t, []string{"a", "b", "c"}, k.names())
	require.Len(t, k.state.Snapshot().Pending, 1)
	return k
}

func TestAReplacementInterruptedBeforeItsDeleteIsAdoptedAndTheOldObjectDeleted(t *testing.T) {
	for name, settle := range map[string]operation{"recover": sluice.Recover, "refresh": sluice.Refresh, "update": sluice.Update} {
		t.Run(name, func(t *testing.T) {
			k := interruptedReplacement(t)
			requireInterrupted(t, k.try(sluice.Update, replaced(2)).err, urnOf("a"))
			k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 2)})
			if name == "update" {
				require.NoError(t, k.try(sluice.Preview, replaced(2)).err)
				require.Len(t, k.state.Snapshot().Pending, 1, "a preview records nothing")
			}
			require.NoError(t, k.try(settle, replaced(2)).err)
			require.Empty(t, k.state.Snapshot().Pending)
			if name != "update" {
				require.NoError(t, state.Verify(k.state.Snapshot()))
				require.Equal(t, []string{"c", "a", "a (delete)", "b"}, k.names())
				require.Equal(t, idOf("a", 2), k.all("a")[0].ID)
				require.Equal(t, []urn.URN{urnOf("c")}, k.all("a")[0].Dependencies)
				require.Equal(t, idOf("a", 1), k.all("a")[1].ID)
				require.True(t, inCloud(t, k, idOf("a", 1)), "nothing is deleted without an update")
				k.options.ResolveCreate = nil
				out := k.try(sluice.Update, replaced(2))
				require.NoError(t, out.err)
				require.ElementsMatch(t, []string{"update b", "delete a"}, out.changed())
			}
			require.Equal(t, []string{"c", "a", "b"}, k.names())
			require.Equal(t, idOf("a", 2), k.recorded("a").ID)
			require.False(t, inCloud(t, k, idOf("a", 1)))
			k.options.ResolveCreate = nil
			require.Empty(t, k.up(replaced(2)).changed())
		})
	}
}

func TestADestroyDeletesBothObjectsOfAnInterruptedReplacement(t *testing.T) {
	k := interruptedReplacement(t)
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 2)})
	require.NoError(t, k.try(sluice.Destroy, nil).err)
	require.Empty(t, k.names())
	require.False(t, inCloud(t, k, idOf("a", 1)))
	require.False(t, inCloud(t, k, idOf("a", 2)))
}

func TestTheOldObjectOfAnInterruptedReplacementIsNotWhatTheCreateMade(t *testing.T) {
	k := interruptedReplacement(t)
	before := k.state.Snapshot()
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 1)})
	k.try(sluice.Recover, nil).requireFailure(idOf("a", 1) + " is the object that was to be replaced")
	require.Equal(t, before.Pending, k.state.Snapshot().Pending)
	require.Equal(t, []string{"a", "b", "c"}, k.names())
}

func TestTheOldObjectIsKnownByAnotherFormOfItsID(t *testing.T) {
	k := interruptedReplacement(t)
	k.fake = func(f *providertest.Fake) {
		f.OnRead = func(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
			req.ID = strings.TrimPrefix(req.ID, "arn:")
			return f.Base.Read(ctx, req)
		}
	}
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: "arn:" + idOf("a", 1)})
	k.try(sluice.Recover, nil).requireFailure(idOf("a", 1) + " is the object that was to be replaced")
	require.Len(t, k.state.Snapshot().Pending, 1)
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: "arn:" + idOf("a", 2)})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Equal(t, idOf("a", 2), k.all("a")[0].ID)
	k.options.ResolveCreate = nil
	k.up(replaced(2))
}

func TestARenamedReplacementThatWasInterruptedIsAdopted(t *testing.T) {
	k := newKit(t, providertest.Failure{
		Method: providers.MethodCreate, Name: "new", Nth: 1, Applied: true, Err: &providers.UncertainError{Err: errRefused, Lost: true},
	})
	p := func(name string, version int, with ...option) source.Func {
		return program(func(s *script) {
			a := s.thing(name, in{"immutable": version}, with...)
			s.thing("b", nil, dependsOn(a))
		})
	}
	k.up(p("a", 1))
	renamed := p("new", 2, alias(urn.Alias{Name: "a"}))
	k.fails(renamed, "refused")
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("new", 1)})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.NoError(t, state.Verify(k.state.Snapshot()))
	require.Equal(t, []string{"new", "new (delete)", "b"}, k.names())
	k.options.ResolveCreate = nil
	out := k.try(sluice.Update, renamed)
	require.NoError(t, out.err)
	require.ElementsMatch(t, []string{"delete new"}, out.changed())
	require.False(t, inCloud(t, k, idOf("a", 1)))
}

func TestWhatHasBeenRecordedSinceACreateWasInterruptedIsNotDeletedForIt(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"value": 1})))
	half := k.recorded("a").Clone()
	half.ID, half.Outputs = "", values(nil)
	half.Created, half.Modified = time.Time{}, time.Time{} // the create of something new: Pulumi has repeated it
	pend(k, state.Pending{Type: state.Creating, Resource: half})
	k.exists("other", in{"value": 1})
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: "other"})
	k.try(sluice.Recover, nil).requireFailure("is recorded already, with the ID " + idOf("a", 1))
	require.Equal(t, []string{"a"}, k.names())
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 1)})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestAnImportResolvesAnInterruptedCreate(t *testing.T) {
	t.Run("by the program", func(t *testing.T) {
		k := interruptedKit(t)
		out := k.up(program(func(s *script) {
			s.thing("a", in{"x": 1}, func(r *stages.RegisterRequest) { r.ImportID = idOf("a", 1) })
			s.thing("b", nil)
		}))
		require.Contains(t, out.steps(), "import a")
	})
	t.Run("by the command", func(t *testing.T) {
		k := interruptedKit(t)
		request := stages.ImportRequest{Type: "test:index:Thing", Name: "a", ID: idOf("a", 1)}
		imports := func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			return sluice.Import(ctx, o, request)
		}
		k.exists("other", nil)
		request.ID = "nowhere"
		require.Error(t, k.try(imports, nil).err)
		require.Len(t, k.state.Snapshot().Pending, 1, "nothing was imported")
		request.ID = idOf("a", 1)
		out := k.try(imports, nil)
		require.NoError(t, out.err)
		require.Empty(t, k.state.Snapshot().Pending)
	})
}

func TestAReadResolvesAnInterruptedCreateOnlyIfSomebodySaysSo(t *testing.T) {
	for name, again := range map[string]bool{"said": true, "not said": false} {
		t.Run(name, func(t *testing.T) {
			k := interruptedKit(t)
			k.options.ResolveCreate = resolves(stages.CreateResolution{Again: again})
			out := k.try(sluice.Update, program(func(s *script) {
				s.read("a", idOf("a", 1))
				s.thing("b", nil)
			}))
			require.NoError(t, out.err)
			require.Equal(t, again, len(k.state.Snapshot().Pending) == 0)
		})
	}
}

func TestWhatIsNotTargetedIsNotInQuestion(t *testing.T) {
	k := interruptedKit(t)
	set, err := urn.CompileSet("**::b")
	require.NoError(t, err)
	k.options.Targeting.Targets = set
	out := k.try(sluice.Update, program(func(s *script) {
		s.thing("a", in{"x": 1})
		s.thing("b", in{"x": 1})
	}))
	require.NoError(t, out.err)
	require.Equal(t, []string{"update b"}, out.changed())
	require.Len(t, k.state.Snapshot().Pending, 1)
}

func TestAPlanIsMadeOfAnInterruptedCreateOnlyOnceItIsResolved(t *testing.T) {
	for name, c := range map[string]stages.CreateResolution{"another one": {Again: true}, "nothing made": {Clear: true}, "what was made": {ID: idOf("a", 1)}} {
		t.Run(name, func(t *testing.T) {
			k := interruptedKit(t)
			k.options.MakePlan = true
			out := k.try(sluice.Preview, two)
			requireInterrupted(t, out.err, urnOf("a"))
			require.Nil(t, out.Plan)

			k.options.ResolveCreate = resolves(c)
			plan := k.preview(two).Plan
			require.NotNil(t, plan)
			k.options.MakePlan, k.options.Plan, k.options.ResolveCreate = false, plan, nil
			require.Error(t, k.try(sluice.Update, two).err)
			k.options.ResolveCreate = resolves(c)
			out = k.try(sluice.Update, two)
			require.NoError(t, out.err)
			require.Empty(t, k.state.Snapshot().Pending)
		})
	}
}

func TestThereIsNoOtherTryWhenNobodyKnowsWhatTheFirstHasDone(t *testing.T) {
	k := newKit(t, lose("a"))
	times := 0
	out := k.try(sluice.Update, program(func(s *script) {
		s.err = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "again", Run: func(context.Context, stages.HookInput) (bool, error) {
			times++
			return true, nil
		}})
		s.thing("a", nil, hooks("OnError", "again"))
	}))
	require.Error(t, out.err)
	require.Equal(t, 1, times)
	require.Len(t, asked[providers.CreateRequest](out, "a"), 1)
	require.Len(t, k.state.Snapshot().Pending, 1)
}

func TestACreateWithoutAnIDStaysPending(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
			return providers.CreateResponse{}, nil
		}
	}
	out := k.fails(program(one(nil)), "provider did not return an ID from Create")
	require.True(t, out.summary().MaybeCorrupt)
	require.Len(t, k.state.Snapshot().Pending, 1)
}

func TestAnErrorOfTheProviderItselfLeavesNothingPending(t *testing.T) {
	for name, err := range map[string]error{"certain": errRefused, "uncertain": &providers.UncertainError{Err: errors.New("internal")}} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, failCreate("a", err))
			k.fails(program(one(nil)), err.Error())
			require.Empty(t, k.state.Snapshot().Pending)
		})
	}
}

func TestInterruptedOperationsAreListedBeforeAnythingIsDone(t *testing.T) {
	k := interruptedKit(t)
	for _, op := range []operation{sluice.Preview, sluice.Update, sluice.PreviewDestroy, sluice.Destroy} {
		out := k.try(op, two)
		out.requireDiagnostic(stages.Warning, 0, string(urnOf("a"))+", interrupted while creating")
		warnings := out.diagnostics(stages.Warning)
		require.Len(t, warnings, 1)
		require.Contains(t, warnings[0].Message, "with 1 pending operations from previous deployment.")
		require.Equal(t, []advice.Advice{advice.On(advice.Recover)}, warnings[0].Advice)
		require.Len(t, warnings[0].Pending, 1)
		require.Equal(t, urnOf("a"), warnings[0].Pending[0].Resource.URN)
	}
	for _, op := range []operation{sluice.PreviewRefresh, sluice.Refresh} {
		require.Empty(t, k.try(op, nil).diagnostics(stages.Warning))
	}
	require.Len(t, k.state.Snapshot().Pending, 1)
}

func TestADestroyDeletesWhatAnInterruptedCreateHasMadeIfItIsToldTheID(t *testing.T) {
	k := interruptedKit(t)
	k.options.ResolveCreate = resolves(stages.CreateResolution{ID: idOf("a", 1)})
	out := k.destroy()
	require.ElementsMatch(t, []string{"delete a", "delete b"}, out.changed())
	require.Empty(t, k.names())
}
