package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestFailedCreateRecordsNothingAndStopsTheUpdate(t *testing.T) {
	k := newKit(t, failCreate("a", errRefused))
	var err error
	r := k.fails(program(func(s *script) {
		_, err = s.m.Register(s.ctx, registration("test:index:Thing", "a", nil))
		s.err = err
		s.thing("b", nil)
	}), "refused")
	require.ErrorIs(t, err, stages.ErrShutDown, "the program is never answered")
	require.Equal(t, []string{"create a"}, r.changed())
	require.Empty(t, k.names())
	require.Empty(t, k.state.Snapshot().Pending)
	r.requireDiagnostic(stages.Error, 2000, "refused")
	failure := lastFailure(r)
	require.Equal(t, stages.OpCreate, failure.Step.Op)
	require.Equal(t, 0, failure.Status)
	require.False(t, r.summary().MaybeCorrupt)
}

func TestFailureInAPreviewIsReportedAsOne(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Preview: true})
	r := k.try(sluice.Preview, program(one(nil)))
	r.requireFailure("refused to create a")
	r.requireDiagnostic(stages.Error, 2005, "Preview failed: the cloud refused to create a")
	for _, e := range r.events {
		_, ok := e.(stages.StepFailed)
		require.False(t, ok)
	}
}

func TestUncertainFailureIsToldInTheSummary(t *testing.T) {
	k := newKit(t, failCreate("a", &providers.UncertainError{Err: errRefused}))
	r := k.fails(program(one(nil)), "refused")
	require.True(t, r.summary().MaybeCorrupt)
	require.Empty(t, r.summary().Lost, "the provider has answered")
	require.Equal(t, 2, lastFailure(r).Status)
	require.Empty(t, k.names())
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestOperationWhoseAnswerIsLostStaysPending(t *testing.T) {
	k := newKit(t, failCreate("a", &providers.UncertainError{Err: errRefused, Lost: true}))
	r := k.fails(program(one(nil)), "refused")
	require.True(t, r.summary().MaybeCorrupt)
	require.Equal(t, []urn.URN{urnOf("a")}, r.summary().Lost)
	pending := k.state.Snapshot().Pending
	require.Len(t, pending, 1)
	require.Equal(t, state.Creating, pending[0].Type)
	require.Equal(t, urnOf("a"), pending[0].Resource.URN)
}

func TestFailedUpdateAndDeleteLeaveTheStateAlone(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate}, providertest.Failure{Method: providers.MethodDelete})
	k.up(program(one(in{"x": 1})))
	before := k.recorded("a")
	k.fails(program(one(in{"x": 2})), "refused to update a")
	require.Equal(t, before, k.recorded("a"))
	k.fails(nothing, "refused to delete a")
	require.Equal(t, before, k.recorded("a"))
}

func TestProviderWithoutAnIDForACreateIsAnError(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
			return providers.CreateResponse{}, nil
		}
	}
	k.fails(program(one(nil)), "provider did not return an ID from Create")
	require.Empty(t, k.names())
}

// All dependents of row 85: those of a failed create in every way, transitive ones, and independent resources.
func TestContinueOnErrorSkipsWhatDependsOnAFailure(t *testing.T) {
	k := newKit(t, failCreate("bad", errRefused))
	k.up(program(func(s *script) { s.thing("gone", nil) }))
	k.options.ContinueOnError = true
	replies := map[string]*stages.RegisterReply{}
	r := k.fails(program(func(s *script) {
		put := func(name string, with ...option) *stages.RegisterReply {
			replies[name] = s.thing(name, in{"x": 1}, with...)
			return replies[name]
		}
		bad := put("bad")
		bad.URN = urnOf("bad")
		skipped := put("by dependency", dependsOn(bad))
		put("by property", from("y", bad))
		put("by parent", parent(bad))
		put("by deletedWith", deletedWith(bad))
		put("by replaceWith", replaceWith(bad))
		put("transitive", dependsOn(skipped))
		g := s.group("group", dependsOn(bad))
		put("in the group", parent(g))
		put("independent", dependsOn(put("other")))
	}), "refused")
	for name, want := range map[string]stages.Result{
		"bad": stages.Fail, "by dependency": stages.Skip, "by property": stages.Skip, "by parent": stages.Skip, "by deletedWith": stages.Skip,
		"by replaceWith": stages.Skip, "transitive": stages.Skip, "in the group": stages.Skip, "independent": stages.Success, "other": stages.Success,
	} {
		require.Equal(t, want, replies[name].Result, name)
	}
	require.ElementsMatch(t, []string{"create bad", "create other", "create independent"}, r.changed())
	require.ElementsMatch(t, []string{"other", "independent", "gone"}, k.names())
}

func TestContinueOnErrorKeepsTheOldStatesOfWhatFailedOrWasSkipped(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "a"}, providertest.Failure{Method: providers.MethodCreate, Name: "c", Nth: 2})
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"x": v})
			a.URN = urnOf("a")
			s.thing("b", in{"x": v}, dependsOn(a))
			s.thing("c", in{"immutable": v})
		}
	}
	k.up(program(version(1)))
	before := k.state.Snapshot().Resources
	k.options.ContinueOnError = true
	r := k.fails(program(version(2)), "refused to update a")
	require.ElementsMatch(t, []string{"update a", "create c"}, r.changed())
	for _, b := range before {
		require.Equal(t, b, k.recorded(b.URN.Name()))
	}
}

func TestContinueOnErrorNeverDeletesFirstWithoutTheCreate(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "a"})
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"x": v})
			a.URN = urnOf("a")
			s.thing("b", in{"dbr": v}, dependsOn(a))
		}
	}
	k.up(program(version(1)))
	k.options.ContinueOnError = true
	r := k.fails(program(version(2)), "refused to update a")
	require.Equal(t, []string{"update a"}, r.changed())
	require.False(t, k.recorded("b").PendingReplacement)
}

func TestContinueOnErrorAnswersARegistrationWhoseDependentsDeleteFailed(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b"})
	version := func(v int, reply **stages.RegisterReply) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": v})
			*reply = a
			if a.Result == stages.Success {
				s.thing("b", nil, from("immutableOf", a))
			}
		}
	}
	var reply *stages.RegisterReply
	k.up(program(version(1, &reply)))
	k.options.ContinueOnError = true
	r := k.fails(program(version(2, &reply)), "refused to delete b")
	require.Equal(t, stages.Fail, reply.Result)
	require.Contains(t, r.changed(), "delete b")
	require.NotContains(t, r.changed(), "create a")
}

func TestProgramThatKnowsNoResultsGetsAnError(t *testing.T) {
	k := newKit(t, failCreate("a", errRefused))
	k.options.ContinueOnError = true
	var failed, skipped error
	k.fails(func(ctx context.Context, m stages.Monitor) error {
		old := func(r *stages.RegisterRequest) { r.SupportsResultReporting = false }
		_, failed = m.Register(ctx, registration("test:index:Thing", "a", nil, old))
		_, skipped = m.Register(ctx, registration("test:index:Thing", "b", nil, old, func(r *stages.RegisterRequest) { r.Dependencies = append(r.Dependencies, urnOf("a")) }))
		return nil
	}, "refused")
	require.ErrorIs(t, failed, stages.ErrRegistrationFailed)
	require.ErrorIs(t, skipped, stages.ErrRegistrationFailed)
}

func TestContinueOnErrorAnswersReadsThatFailed(t *testing.T) {
	k := newKit(t)
	k.options.ContinueOnError = true
	var failed, skipped *stages.RegisterReply
	r := k.fails(program(func(s *script) {
		failed = s.read("gone", "nobody")
		skipped = s.read("behind", "nobody", func(r *stages.ReadRequest) { r.Dependencies = append(r.Dependencies, failed.URN) })
		s.thing("a", nil)
	}), "resource 'nobody' does not exist")
	require.Equal(t, &stages.RegisterReply{URN: urnOf("gone"), Result: stages.Fail}, failed)
	require.Equal(t, &stages.RegisterReply{URN: urnOf("behind"), Result: stages.Skip}, skipped)
	require.Equal(t, []string{"create a"}, r.changed())
	require.Equal(t, []string{"a"}, k.names())
}

func TestContinueOnErrorTellsWhatExistsInSpiteOfTheFailure(t *testing.T) {
	k := newKit(t)
	k.options.ContinueOnError = true
	var reply *stages.RegisterReply
	k.fails(program(func(s *script) { reply = s.thing("a", in{"unhealthy": true}) }), "a is unhealthy")
	require.Equal(t, stages.Fail, reply.Result)
	require.Equal(t, idOf("a", 1), reply.ID)
}

func TestContinueOnErrorLeavesTheResultOfAFunctionOpenThatIsToComeAfterAFailure(t *testing.T) {
	for name, test := range map[string]struct {
		failure providertest.Failure
		unknown bool
	}{
		"of a create":                       {failCreate("a", errRefused), true},
		"of an update, which leaves the ID": {providertest.Failure{Method: providers.MethodUpdate, URN: urnOf("a"), Err: errRefused}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, test.failure)
			if !test.unknown {
				k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
			}
			k.options.ContinueOnError = true
			var reply *stages.InvokeReply
			k.fails(program(func(s *script) {
				a := s.thing("a", in{"size": 2})
				reply, s.err = s.m.Invoke(s.ctx, &stages.InvokeRequest{
					Token: "test:index:echo", Args: values(in{"x": 1}), DependsOn: []urn.URN{a.URN},
				})
			}), "refused")
			require.Equal(t, test.unknown, reply.Unknown)
		})
	}
}

func TestContinueOnErrorStopsForRefusedInputs(t *testing.T) {
	k := newKit(t)
	k.options.ContinueOnError = true
	r := k.fails(program(func(s *script) {
		s.thing("a", in{"invalid": 1})
		s.thing("b", nil)
	}), "never valid")
	require.Empty(t, r.changed())
}

func TestContinueOnErrorFailsWithADefaultProviderThatCannotBeMade(t *testing.T) {
	k := newKit(t)
	k.options.ContinueOnError = true
	k.fake = func(f *providertest.Fake) {
		f.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return errRefused }
	}
	r := k.try(sluice.Update, func(ctx context.Context, m stages.Monitor) error {
		return together(4, func(i int) error {
			reply, err := m.Register(ctx, registration("test:index:Thing", string(rune('a'+i)), nil))
			if err == nil && reply.Result == stages.Success {
				return errors.New("made")
			}
			return nil
		})
	})
	r.requireFailure("refused")
	require.Empty(t, r.changed())
}

func TestPanicsBecomeErrors(t *testing.T) {
	boom := func() { panic("boom") }
	tests := map[string]func(f *providertest.Fake){
		"configure": func(f *providertest.Fake) {
			f.OnConfigure = func(context.Context, providers.ConfigureRequest) error { boom(); return nil }
		},
		"check": func(f *providertest.Fake) {
			f.OnCheck = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
				boom()
				return providers.CheckResponse{}, nil
			}
		},
		"diff": func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				boom()
				return providers.DiffResponse{}, nil
			}
		},
		"create": func(f *providertest.Fake) {
			f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
				boom()
				return providers.CreateResponse{}, nil
			}
		},
		"update": func(f *providertest.Fake) {
			f.OnUpdate = func(context.Context, providers.UpdateRequest) (providers.UpdateResponse, error) {
				boom()
				return providers.UpdateResponse{}, nil
			}
		},
		"delete": func(f *providertest.Fake) {
			f.OnDelete = func(context.Context, providers.DeleteRequest) error { boom(); return nil }
		},
		"probe": func(f *providertest.Fake) {
			f.OnDiff = func(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
				if r.Name == "probed" {
					boom()
				}
				return f.Base.Diff(ctx, r)
			}
		},
		"check config": func(f *providertest.Fake) {
			f.OnCheckConfig = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
				boom()
				return providers.CheckResponse{}, nil
			}
		},
	}
	for name, breakIt := range tests {
		t.Run("of a provider in "+name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				s.thing("a", in{"x": 1})
				s.thing("gone", nil)
				s.thing("probed", nil, from("immutableOf", s.thing("root", in{"dbr": 1})))
			}))
			k.fake = breakIt
			r := k.try(sluice.Update, program(func(s *script) {
				s.thing("a", in{"x": 2})
				s.thing("new", nil)
				s.thing("probed", nil, from("immutableOf", s.thing("root", in{"dbr": 2})))
			}))
			r.requireFailure("boom")
			// The outcome of a call that panicked is uncertain: its operation stays pending.
			pending := map[string]state.PendingType{"create": state.Creating, "update": state.Updating, "delete": state.Deleting}
			if want, ok := pending[name]; ok {
				require.NotEmpty(t, r.snapshot.Pending)
				require.Equal(t, want, r.snapshot.Pending[0].Type)
			} else {
				require.Empty(t, r.snapshot.Pending)
			}
		})
	}
	t.Run("of a provider in a delete at the end", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(nil)))
		k.fake = tests["delete"]
		r := k.try(sluice.Update, nothing)
		r.requireFailure("boom")
		require.Len(t, r.snapshot.Pending, 1)
		require.Equal(t, []string{"a"}, k.names())
	})
	t.Run("of a program", func(t *testing.T) {
		k := newKit(t)
		r := k.try(sluice.Update, program(func(s *script) { s.thing("a", nil); boom() }))
		r.requireFailure("boom")
		require.Equal(t, []string{"a"}, k.names())
	})
	t.Run("of an analyzer", func(t *testing.T) {
		k := newKit(t)
		k.options.Analyzers = []stages.Analyzer{analyzer{analyze: func(stages.Analysis) []stages.Violation { boom(); return nil }}}
		r := k.try(sluice.Update, program(one(nil)))
		r.requireFailure("boom")
	})
	t.Run("of a transform", func(t *testing.T) {
		k := newKit(t)
		r := k.try(sluice.Update, program(func(s *script) {
			s.thing("a", nil, func(r *stages.RegisterRequest) {
				r.Transforms = []stages.Transform{func(context.Context, stages.TransformInput) (stages.TransformInput, error) {
					boom()
					return stages.TransformInput{}, nil
				}}
			})
		}))
		r.requireFailure("boom")
	})
	t.Run("of an invoked function", func(t *testing.T) {
		k := newKit(t)
		k.fake = func(f *providertest.Fake) {
			f.OnInvoke = func(context.Context, providers.InvokeRequest) (providers.InvokeResponse, error) {
				boom()
				return providers.InvokeResponse{}, nil
			}
		}
		r := k.try(sluice.Update, func(ctx context.Context, m stages.Monitor) error {
			_, err := m.Invoke(ctx, &stages.InvokeRequest{Token: "test:index:echo"})
			return err
		})
		r.requireFailure("boom")
	})
	t.Run("of a hook", func(t *testing.T) {
		k := newKit(t)
		r := k.try(sluice.Update, program(func(s *script) {
			s.err = s.m.RegisterHook(s.ctx, stages.Hook{Name: "h", Run: func(context.Context, stages.HookInput) error { boom(); return nil }})
			s.thing("a", nil, hooks("BeforeCreate", "h"))
		}))
		r.requireFailure("boom")
	})
}

// A program may use the reply at once, and not wait for running steps.
func TestARefusedRegistrationIsAnsweredWhileOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		begun, answered := await.NewEvent(), await.NewEvent()
		first := false
		k.fake = func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
				begun.Fire()
				ctx, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				first = answered.Wait(ctx) == nil
				return f.Base.Create(context.WithoutCancel(ctx), r)
			}
		}
		k.fails(program(func(s *script) {
			var wg conc.WaitGroup
			wg.Go(func() { _, _ = s.m.Register(s.ctx, registration("test:index:Thing", "running", nil)) })
			require.NoError(t, begun.Wait(s.ctx))
			_, s.err = s.m.Register(s.ctx, registration("test:index:Thing", "refused", in{"invalid": 1}))
			answered.Fire()
			wg.Wait()
		}), "never valid")
		require.True(t, first)
		require.Equal(t, []string{"running"}, k.names())
	})
}
