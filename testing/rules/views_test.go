package rules

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// The views of steps.md 9.9: the states that providers publish below resources.

const viewType = "test:index:View"

// publisher has the views that the providers of a test publish. A nil function publishes nothing.
type publisher struct {
	onCreate func(providers.CreateRequest) []providers.ViewStep
	onUpdate func(providers.UpdateRequest) []providers.ViewStep
	onDelete func(providers.DeleteRequest) []providers.ViewStep
	onRead   func(providers.ReadRequest) []providers.ViewStep
}

// publishing makes the providers of a kit publish views during their calls.
func publishing(k *kit, p *publisher) {
	k.fake = func(f *providertest.Fake) {
		base := f.Base
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			err := publish(ctx, r.Status, p.onCreate, r)
			out, failed := base.Create(ctx, r)
			return out, errors.Join(err, failed)
		}
		f.OnUpdate = func(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
			err := publish(ctx, r.Status, p.onUpdate, r)
			out, failed := base.Update(ctx, r)
			return out, errors.Join(err, failed)
		}
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			return errors.Join(publish(ctx, r.Status, p.onDelete, r), base.Delete(ctx, r))
		}
		f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
			err := publish(ctx, r.Status, p.onRead, r)
			out, failed := base.Read(ctx, r)
			return out, errors.Join(err, failed)
		}
	}
}

func publish[Req any](ctx context.Context, s providers.Status, steps func(Req) []providers.ViewStep, r Req) error {
	if steps == nil {
		return nil
	}
	return s.Publish(ctx, steps(r)...)
}

// view returns a view that shows one property of its resource.
func view(name string, shown any) *providers.View {
	return &providers.View{Type: viewType, Name: name, Inputs: values(in{"input": shown}), Outputs: values(in{"result": shown})}
}

func viewSteps(steps ...providers.ViewStep) []providers.ViewStep { return steps }

// usual publishes one view for each resource. It has the name of the resource with "-view", and shows the property
// "size".
func usual() *publisher {
	shown := func(name string, inputs property.Map) *providers.View { return view(name+"-view", inputs.At("size")) }
	return &publisher{
		onCreate: func(r providers.CreateRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: shown(r.Name, r.Properties)})
		},
		onUpdate: func(r providers.UpdateRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{
				Op: providers.ViewUpdate, Old: &r.OldViews[0], New: shown(r.Name, r.NewInputs), Diffs: []string{"input"},
			})
		},
		onDelete: func(r providers.DeleteRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: providers.ViewDelete, Old: &r.OldViews[0]})
		},
	}
}

// viewOf returns the URN of a view of a thing without parent.
func viewOf(owner, name string) urn.URN {
	return urn.New("dev", "p", urnOf(owner).QualifiedType(), viewType, name)
}

// sized declares one thing with one property.
func sized(name string, size any, with ...option) func(*script) {
	return func(s *script) { s.thing(name, in{"size": size}, with...) }
}

func TestViewsAreStoredUnderTheirOwnerAndCountedLikeResources(t *testing.T) {
	k := newKit(t)
	publishing(k, usual())

	p := k.preview(program(sized("a", 1)))
	require.Equal(t, []string{"create a", "create a-view"}, p.steps())
	p.requireCounts(map[stages.Op]int{stages.OpCreate: 2})
	require.Nil(t, k.state.Snapshot(), "a preview records nothing")

	out := k.up(program(sized("a", 1)))
	out.requireCounts(map[stages.Op]int{stages.OpCreate: 2})
	v := k.recorded("a-view")
	require.Equal(t, &state.Resource{
		URN: viewOf("a", "a-view"), Type: viewType, Parent: urnOf("a"), ViewOf: urnOf("a"),
		Inputs: values(in{"input": 1}), Outputs: values(in{"result": 1}),
	}, v)
	require.Equal(t, out.step(stages.OpCreate, "a-view").Reason.Cause, urnOf("a"))

	out = k.up(program(sized("a", 1)))
	require.Equal(t, []string{"same a", "same a-view"}, out.steps())
	out.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, v, k.recorded("a-view"))

	out = k.up(program(sized("a", 2)))
	require.Equal(t, []string{"update a", "update a-view"}, out.steps())
	out.requireCounts(map[stages.Op]int{stages.OpUpdate: 2})
	require.Equal(t, []providers.View{*view("a-view", 1)}, askedOnce[providers.UpdateRequest](out, "a").OldViews)
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
	require.Equal(t, []string{"input"}, out.step(stages.OpUpdate, "a-view").Diffs)

	p = k.preview(program(func(*script) {}))
	require.Equal(t, []string{"delete a", "delete a-view"}, p.steps(), "previews of deletes make up the deletes of views")
	p.requireCounts(map[stages.Op]int{stages.OpDelete: 2})

	out = k.up(program(func(*script) {}))
	require.Equal(t, []string{"delete a", "delete a-view"}, out.steps())
	out.requireCounts(map[stages.Op]int{stages.OpDelete: 2})
	require.Equal(t, []providers.View{*view("a-view", 2)}, askedOnce[providers.DeleteRequest](out, "a").OldViews)
	require.Empty(t, k.names())
}

func TestViewStepsBeginWhenPublishedAndEndAfterTheirOwnersStepInTheOrderOfPublication(t *testing.T) {
	k := newKit(t)
	publishing(k, &publisher{
		onCreate: func(providers.CreateRequest) []providers.ViewStep {
			return viewSteps(
				providers.ViewStep{Op: providers.ViewCreate, New: view("second", 1)},
				providers.ViewStep{Op: providers.ViewCreate, New: view("first", 1)})
		},
		onDelete: func(r providers.DeleteRequest) []providers.ViewStep {
			return viewSteps(
				providers.ViewStep{Op: providers.ViewDelete, Old: &r.OldViews[1]},
				providers.ViewStep{Op: providers.ViewDelete, Old: &r.OldViews[0]})
		},
	})
	begun := func(r *ran) (order []string) {
		for _, e := range r.events {
			switch e := e.(type) {
			case stages.StepStarted:
				order = append(order, "begin "+e.Step.URN.Name())
			case stages.StepDone:
				order = append(order, "end "+e.Step.URN.Name())
			}
		}
		return order
	}
	out := k.up(program(func(s *script) { s.thing("a", nil) }))
	require.Equal(t, []string{
		"begin default", "end default", "begin a", "begin second", "begin first", "end a", "end second", "end first",
	}, begun(out))

	out = k.destroy()
	require.Equal(t, []string{
		"begin a", "begin second", "begin first", "end second", "end first", "end a", "begin default", "end default",
	}, begun(out), "views are gone before their owner is")
}

func TestAViewStepIsPendingFromItsPublicationAndEveryMomentIsSound(t *testing.T) {
	k := newKit(t)
	publishing(k, usual())
	var pending []string
	moments := 0
	k.options.State = &watchedState{MemoryState: k.state, watch: func(s *state.Snapshot) {
		require.NoError(t, state.Verify(s))
		moments++
		pending = nil
		for _, p := range s.Pending {
			pending = append(pending, string(p.Type)+" "+p.Resource.URN.Name())
		}
	}}
	base := k.fake
	var during [][]string
	k.fake = func(f *providertest.Fake) {
		base(f)
		create, remove := f.OnCreate, f.OnDelete
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			out, err := create(ctx, r)
			during = append(during, pending)
			return out, err
		}
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			err := remove(ctx, r)
			during = append(during, pending)
			return err
		}
	}
	k.up(program(sized("a", 1)))
	k.up(program(sized("a", 2, deleteFirst(true), replaceOn("size"))))
	k.up(program(sized("a", 3, replaceOn("size"))))
	require.Equal(t, [][]string{
		{"creating a-view", "creating a"},
		{"deleting a-view", "deleting a"}, {"creating a-view", "creating a"},
		{"creating a-view", "creating a"}, {"deleting a-view", "deleting a"},
	}, during)
	require.Greater(t, moments, 20)
}

func TestAReplacedResourceGetsNewViewsAndLosesTheOldOnes(t *testing.T) {
	for name, first := range map[string]bool{"create before delete": false, "delete before replace": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			publishing(k, usual())
			made := func(size int) func(*script) {
				return func(s *script) {
					s.thing("a", in{"size": size, "region": size}, deleteFirst(first), replaceOn("region"))
				}
			}
			k.up(program(made(1)))
			want := []string{"create-replacement a", "create a-view", "replace a", "delete-replaced a", "delete a-view"}
			if first {
				want = []string{"delete-replaced a", "delete a-view", "replace a", "create-replacement a", "create a-view"}
			}
			p := k.preview(program(made(2)))
			require.Equal(t, want, p.steps())
			out := k.up(program(made(2)))
			require.Equal(t, want, out.steps())
			require.Equal(t, p.Changes, out.Changes)
			out.requireCounts(map[stages.Op]int{stages.OpReplace: 1, stages.OpCreate: 1, stages.OpDelete: 1})
			require.Equal(t, []string{"a", "a-view"}, k.names())
			require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
		})
	}
}

func TestViewsOfAnOldCopyWhoseDeleteFailedAreDeletedWithItLater(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	p := usual()
	deletes := p.onDelete
	p.onDelete = nil
	publishing(k, p)
	made := func(size int) func(*script) {
		return func(s *script) { s.thing("a", in{"size": size, "region": size}, replaceOn("region")) }
	}
	k.up(program(made(1)))
	k.fails(program(made(2)), "")
	require.Equal(t, []string{"a", "a (delete)", "a-view", "a-view (delete)"}, k.names())

	p.onDelete = deletes
	out := k.up(program(made(2)))
	require.Equal(t, []providers.View{*view("a-view", 1)}, askedOnce[providers.DeleteRequest](out, "a").OldViews)
	require.Equal(t, []string{"same a", "same a-view", "delete-replaced a", "delete a-view"}, out.steps())
	require.Equal(t, []string{"a", "a-view"}, k.names())
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
}

func TestViewsGoWithTheirOwnerWhateverItsProviderSays(t *testing.T) {
	for name, with := range map[string]option{
		"a provider that says nothing": func(*stages.RegisterRequest) {},
		"a retained resource":          retain(true),
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := usual()
			p.onDelete = nil
			publishing(k, p)
			k.up(program(sized("a", 1, with)))
			predicted := k.preview(program(func(*script) {}))
			out := k.try(sluice.Update, program(func(*script) {}))
			require.NoError(t, out.err)
			require.Equal(t, []string{"delete a", "delete a-view"}, out.steps())
			require.Equal(t, predicted.Changes, out.Changes)
			require.Empty(t, k.names())
		})
	}
}

func TestAFailedViewStepFailsTheStepOfItsOwner(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	k.up(program(sized("a", 1)))

	p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
		return viewSteps(
			providers.ViewStep{Op: providers.ViewUpdate, Error: "it broke", Old: &r.OldViews[0], New: view("a-view", 2)},
			providers.ViewStep{Op: providers.ViewCreate, New: view("another", 2)})
	}
	answered := false
	out := k.fails(program(func(s *script) {
		s.thing("a", in{"size": 2})
		answered = s.err == nil
	}), "it broke")
	require.False(t, answered)
	out.requireDiagnostic(stages.Error, 2000, "it broke")
	require.Len(t, out.diagnostics(stages.Error), 2, "of the view and of the run")
	require.Equal(t, values(in{"size": 2}), k.recorded("a").Inputs, "the resource itself was updated")
	require.Equal(t, values(in{"result": 1}), k.recorded("a-view").Outputs)
	require.Equal(t, values(in{"result": 2}), k.recorded("another").Outputs)
	require.Empty(t, k.state.Snapshot().Pending)

	p.onDelete = func(r providers.DeleteRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewDelete, Error: "it is stuck", Old: &r.OldViews[0]})
	}
	out = k.fails(program(func(*script) {}), "it is stuck")
	require.Len(t, out.diagnostics(stages.Error), 2)
	require.Equal(t, []string{"a", "a-view", "another"}, k.names(), "nothing is forgotten")
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestAFailedViewStepOfUnknownOutcomeMakesTheStateUncertain(t *testing.T) {
	k := newKit(t)
	publishing(k, &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewCreate, Error: "who knows", Status: providers.ViewUnknown, New: view("v", 1)})
	}})
	out := k.fails(program(func(s *script) { s.thing("a", nil) }), "who knows")
	require.True(t, out.summary().MaybeCorrupt)
	require.Equal(t, []string{"a"}, k.names())
}

func TestWhatIsLeftOfAFailedViewStepIsRecorded(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	k.up(program(sized("a", 1)))
	p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{
			Op: providers.ViewUpdate, Error: "half done", Status: providers.ViewPartialFailure, Old: &r.OldViews[0], New: view("a-view", 2),
		})
	}
	k.fails(program(sized("a", 2)), "half done")
	require.Equal(t, values(in{"input": 1}), k.recorded("a-view").Inputs, "so that the next run sees a difference")
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
}

func TestViewsOfAResourceThatWasNotCreatedAreNotRecorded(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a"})
	publishing(k, usual())
	k.fails(program(sized("a", 1)), "")
	require.Empty(t, k.names())
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestAFailedUpdateKeepsWhatItsViewsHaveBecome(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "a"})
	publishing(k, usual())
	k.up(program(sized("a", 1)))
	k.fails(program(sized("a", 2)), "")
	require.Equal(t, values(in{"size": 1}), k.recorded("a").Inputs)
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
}

func TestAFailedViewIsAFailureOfItsOwnerWithContinueOnError(t *testing.T) {
	k := newKit(t)
	k.options.ContinueOnError = true
	publishing(k, &publisher{onCreate: func(r providers.CreateRequest) []providers.ViewStep {
		if r.Name != "a" {
			return nil
		}
		return viewSteps(providers.ViewStep{Op: providers.ViewCreate, Error: "it broke", New: view("v", 1)})
	}})
	var results []stages.Result
	k.fails(program(func(s *script) {
		a := s.thing("a", nil)
		b := s.thing("b", nil, dependsOn(a))
		c := s.thing("c", nil)
		results = append(results, a.Result, b.Result, c.Result)
	}), "it broke")
	require.Equal(t, []stages.Result{stages.Fail, stages.Skip, stages.Success}, results)
	require.ElementsMatch(t, []string{"a", "c"}, k.names())
}

func TestACallThatIsTriedAgainPublishesAgain(t *testing.T) {
	k := newKit(t,
		providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 1},
		providertest.Failure{Method: providers.MethodUpdate, Name: "a", Nth: 1},
		providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	publishing(k, usual())
	again := func(f func(*script)) func(*script) {
		return func(s *script) {
			s.err = s.m.RegisterErrorHook(s.ctx, stages.ErrorHook{Name: "again", Run: func(context.Context, stages.HookInput) (bool, error) {
				return true, nil
			}})
			f(s)
		}
	}
	k.up(program(again(sized("a", 1, hooks("OnError", "again")))))
	require.Equal(t, values(in{"result": 1}), k.recorded("a-view").Outputs)
	k.up(program(again(sized("a", 2, hooks("OnError", "again")))))
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
	out := k.up(program(again(func(*script) {})))
	require.Equal(t, []string{"delete a", "delete a"}, out.changed())
	require.Empty(t, k.names())
}

func TestPublishingWhatMakesNoSenseIsRefusedAndTakesNothing(t *testing.T) {
	good := providers.ViewStep{Op: providers.ViewCreate, New: view("good", 1)}
	for name, c := range map[string]struct {
		step providers.ViewStep
		text string
	}{
		"an unknown operation":        {providers.ViewStep{New: view("v", 1)}, "unknown step op 0"},
		"an unknown status":           {providers.ViewStep{Op: providers.ViewCreate, Status: 7, New: view("v", 1)}, "unknown step status 7"},
		"an old view that is not one": {providers.ViewStep{Op: providers.ViewDelete, Old: view("never", 1)}, "there is no view never"},
		"a delete of nothing":         {providers.ViewStep{Op: providers.ViewDelete}, "delete needs the old state"},
		"a create of nothing":         {providers.ViewStep{Op: providers.ViewCreate}, "create needs the new state"},
		"a view without a name":       {providers.ViewStep{Op: providers.ViewCreate, New: view("", 1)}, "a view needs a type and a name"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			publishing(k, &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep { return viewSteps(good, c.step) }})
			out := k.fails(program(func(s *script) { s.thing("a", nil) }), c.text)
			require.Equal(t, []string{"create a"}, out.steps())
		})
	}
}

func TestNothingIsPublishedAfterTheCall(t *testing.T) {
	k := newKit(t)
	var status providers.Status
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			status = r.Status
			return f.Base.Create(ctx, r)
		}
	}
	k.up(program(func(s *script) {
		s.thing("a", nil)
		err := status.Publish(s.ctx, providers.ViewStep{Op: providers.ViewCreate, New: view("v", 1)})
		require.ErrorContains(t, err, "is over")
	}))
	require.Equal(t, []string{"a"}, k.names())
}

func TestAViewHasItsURNToItself(t *testing.T) {
	t.Run("a resource that comes later", func(t *testing.T) {
		k := newKit(t)
		publishing(k, &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view("v", 1)})
		}})
		k.fails(program(func(s *script) {
			a := s.thing("a", nil)
			s.register(viewType, "v", nil, parent(a))
		}), "is a view that the provider of "+string(urnOf("a"))+" publishes")
		k.fails(program(func(s *script) {
			a := s.thing("a", nil)
			s.register(viewType, "v", nil, parent(a))
		}), "give the resource another name")
		require.Equal(t, []string{"a", "v"}, k.names())
	})
	t.Run("a view that comes later", func(t *testing.T) {
		k := newKit(t)
		p := &publisher{onUpdate: func(providers.UpdateRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view("v", 1)})
		}}
		publishing(k, p)
		both := func(size int) func(*script) {
			return func(s *script) { s.register(viewType, "v", nil, parent(s.thing("a", in{"size": size}))) }
		}
		k.up(program(both(1)))
		k.fails(program(both(2)), "is a resource of the program; give the view another name")
		require.Equal(t, "", string(k.recorded("v").ViewOf))
	})
}

func TestAViewThatIsMadeAgainTakesThePlaceOfTheOneOfItsName(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	k.up(program(sized("a", 1)))
	p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view("a-view", 2)})
	}
	k.up(program(sized("a", 2)))
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
}

func TestReplacementsOfViewsAreSteps(t *testing.T) {
	for name, c := range map[string]struct {
		steps func(old, now *providers.View) []providers.ViewStep
		want  []string
	}{
		"create before delete": {func(old, now *providers.View) []providers.ViewStep {
			return viewSteps(
				providers.ViewStep{Op: providers.ViewCreateReplacement, Old: old, New: now},
				providers.ViewStep{Op: providers.ViewReplace, Old: old, New: now},
				providers.ViewStep{Op: providers.ViewDeleteReplaced, Old: old})
		}, []string{"update a", "create-replacement a-view", "replace a-view", "delete-replaced a-view"}},
		"delete before replace": {func(old, now *providers.View) []providers.ViewStep {
			return viewSteps(
				providers.ViewStep{Op: providers.ViewDeleteReplaced, Old: old},
				providers.ViewStep{Op: providers.ViewReplace, New: now},
				providers.ViewStep{Op: providers.ViewCreateReplacement, New: now})
		}, []string{"update a", "delete-replaced a-view", "replace a-view", "create-replacement a-view"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := usual()
			publishing(k, p)
			k.up(program(sized("a", 1)))
			p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
				return c.steps(&r.OldViews[0], view("a-view", 2))
			}
			out := k.up(program(sized("a", 2)))
			require.Equal(t, c.want, out.steps())
			out.requireCounts(map[stages.Op]int{stages.OpUpdate: 1, stages.OpReplace: 1})
			require.Equal(t, []string{"a", "a-view"}, k.names())
			require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
		})
	}
}

func TestARefreshFindsViewsChangedGoneAndNew(t *testing.T) {
	k := newKit(t)
	p := &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep {
		return viewSteps(
			providers.ViewStep{Op: providers.ViewCreate, New: view("changed", 1)},
			providers.ViewStep{Op: providers.ViewCreate, New: view("gone", 1)},
			providers.ViewStep{Op: providers.ViewCreate, New: view("kept", 1)})
	}}
	publishing(k, p)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	p.onRead = func(r providers.ReadRequest) []providers.ViewStep {
		return viewSteps(
			providers.ViewStep{Op: providers.ViewUpdate, Old: &r.OldViews[0], New: view("changed", 2)},
			providers.ViewStep{Op: providers.ViewDelete, Old: &r.OldViews[1]},
			providers.ViewStep{Op: providers.ViewSame, Old: &r.OldViews[2], New: &r.OldViews[2]},
			providers.ViewStep{Op: providers.ViewCreate, New: view("added", 2)})
	}

	out := k.try(sluice.PreviewRefresh, nil)
	require.NoError(t, out.err)
	out.requireCounts(map[stages.Op]int{stages.OpSame: 2, stages.OpUpdate: 1, stages.OpDelete: 1, stages.OpCreate: 1})
	require.Equal(t, []string{"a", "changed", "gone", "kept"}, k.names())

	out = k.try(sluice.Refresh, nil)
	require.NoError(t, out.err)
	require.Equal(t, []string{"refresh a", "refresh changed", "refresh gone", "refresh kept", "refresh added"}, out.steps())
	out.requireCounts(map[stages.Op]int{stages.OpSame: 2, stages.OpUpdate: 1, stages.OpDelete: 1, stages.OpCreate: 1})
	require.ElementsMatch(t, []string{"a", "changed", "kept", "added"}, k.names())
	require.Equal(t, values(in{"result": 2}), k.recorded("changed").Outputs)
	require.Equal(t, urnOf("a"), k.recorded("added").ViewOf)
	require.Len(t, asked[providers.ReadRequest](out, "a"), 1, "views are not read on their own")
}

func TestViewsOfWhatARefreshFindsGoneAreGone(t *testing.T) {
	k := newKit(t)
	publishing(k, usual())
	k.up(program(sized("a", 1)))
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	out := k.try(sluice.Refresh, nil)
	require.NoError(t, out.err)
	out.requireCounts(map[stages.Op]int{stages.OpDelete: 2})
	require.Empty(t, k.names())
}

func TestAFailedViewStepFailsARefreshAndKeepsWhatWasFound(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	k.up(program(sized("a", 1)))
	require.NoError(t, k.cloud.Put(providertest.Record{ID: idOf("a", 1), URN: urnOf("a"), Inputs: values(in{"size": 5})}))
	p.onRead = func(r providers.ReadRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewUpdate, Error: "it broke", Old: &r.OldViews[0], New: view("a-view", 2)})
	}
	out := k.try(sluice.Refresh, nil)
	out.requireFailure("it broke")
	require.Equal(t, values(in{"size": 5}), k.recorded("a").Inputs)
	require.Equal(t, values(in{"result": 1}), k.recorded("a-view").Outputs)
}

func TestViewsThatARefreshDroppedAreMadeAgainInTheSameRun(t *testing.T) {
	for name, asks := range map[string]func(*kit){
		"asked for":           func(k *kit) { k.options.Refresh = true },
		"before every update": func(k *kit) { k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := usual()
			publishing(k, p)
			k.up(program(sized("a", 1)))
			asks(k)
			p.onRead = func(r providers.ReadRequest) []providers.ViewStep {
				return viewSteps(providers.ViewStep{Op: providers.ViewDelete, Old: &r.OldViews[0]})
			}
			p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
				require.Empty(t, r.OldViews)
				return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view("a-view", 3)})
			}
			out := k.up(program(sized("a", 2)))
			require.Equal(t, []string{"refresh a", "refresh a-view", "update a", "create a-view"}, out.steps())
			out.requireCounts(map[stages.Op]int{stages.OpUpdate: 1, stages.OpCreate: 1})
			require.Equal(t, values(in{"result": 3}), k.recorded("a-view").Outputs)
		})
	}
}

func TestImportsAndReadsPublishViews(t *testing.T) {
	k := newKit(t)
	k.exists("there", in{"size": 1})
	publishing(k, &publisher{onRead: func(r providers.ReadRequest) []providers.ViewStep {
		if len(r.OldViews) > 0 {
			return nil
		}
		return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view(r.Name+"-view", 1)})
	}})
	k.foreign = nil
	out := k.up(program(func(s *script) {
		s.thing("a", in{"size": 1}, func(r *stages.RegisterRequest) { r.ImportID = "there" })
		s.read("b", "there")
	}))
	require.Equal(t, []string{"import a", "create a-view", "read b", "create b-view"}, out.steps())
	require.ElementsMatch(t, []string{"a", "a-view", "b", "b-view"}, k.names())
}

func TestViewsFollowARenamedOwner(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	moved := func(size int) func(*script) {
		return func(s *script) {
			g := s.group("g")
			s.thing("a", in{"size": size}, parent(g), alias(urn.Alias{URN: urnOf("a")}))
		}
	}
	out := k.up(program(moved(1)))
	require.Equal(t, []string{"create g", "same a", "same a-view"}, out.steps())
	a, v := k.recorded("a"), k.recorded("a-view")
	require.Equal(t, a.URN, v.ViewOf)
	require.Equal(t, a.URN, v.Parent)
	require.Equal(t, urn.New("dev", "p", a.URN.QualifiedType(), viewType, "a-view"), v.URN)

	// Moved and changed at once: the provider uses the old name of the view.
	k = newKit(t)
	publishing(k, p)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	k.up(program(moved(2)))
	require.Equal(t, a.URN, k.recorded("a-view").ViewOf)
	require.Equal(t, values(in{"result": 2}), k.recorded("a-view").Outputs)
}

func TestViewsOfWhatIsNotTargetedStay(t *testing.T) {
	k := newKit(t)
	publishing(k, usual())
	both := func(size int) func(*script) {
		return func(s *script) { sized("a", size)(s); sized("b", size)(s) }
	}
	k.up(program(both(1)))
	targets, err := urn.CompileSet(string(urnOf("b")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	k.up(program(both(2)))
	require.Equal(t, values(in{"result": 1}), k.recorded("a-view").Outputs)
	require.Equal(t, values(in{"result": 2}), k.recorded("b-view").Outputs)
}

func TestSecretsOfViewsStaySecret(t *testing.T) {
	k := newKit(t)
	publishing(k, &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: &providers.View{
			Type: viewType, Name: "v", Inputs: values(in{"key": secret("s")}), Outputs: values(in{"key": "s"}),
		}})
	}})
	k.up(program(func(s *script) { s.thing("a", nil) }))
	require.True(t, k.recorded("v").Outputs.At("key").IsSecret())
}

// A view with another name takes the place of the one that its provider names as old. What depends on it follows, also if it is not targeted.
func TestWhatDependsOnAViewFollowsItsNewName(t *testing.T) {
	k := newKit(t)
	p := usual()
	publishing(k, p)
	both := func(size int) func(*script) {
		return func(s *script) { sized("a", size)(s); s.group("b") }
	}
	k.up(program(sized("a", 1)))
	k.up(program(both(1)))
	k.change("b", func(r *state.Resource) { r.Dependencies = []urn.URN{viewOf("a", "a-view")} })
	p.onUpdate = func(r providers.UpdateRequest) []providers.ViewStep {
		return viewSteps(providers.ViewStep{Op: providers.ViewUpdate, Old: &r.OldViews[0], New: view("renamed", 2)})
	}
	targets, err := urn.CompileSet(string(urnOf("a")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	out := k.up(program(both(2)))
	require.Contains(t, out.steps(), "update renamed")
	require.Equal(t, []urn.URN{viewOf("a", "renamed")}, k.recorded("b").Dependencies)
	require.NotContains(t, k.names(), "a-view")
}

func TestAViewThatAReadConfirmsStaysRecorded(t *testing.T) {
	for _, op := range []providers.ViewOp{providers.ViewSame, providers.ViewRefresh} {
		k := newKit(t)
		p := &publisher{onCreate: func(providers.CreateRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: providers.ViewCreate, New: view("kept", 1)})
		}}
		publishing(k, p)
		k.up(program(func(s *script) { s.thing("a", nil) }))
		p.onRead = func(r providers.ReadRequest) []providers.ViewStep {
			return viewSteps(providers.ViewStep{Op: op, Old: &r.OldViews[0]})
		}
		require.NoError(t, k.try(sluice.Refresh, nil).err)
		require.Equal(t, []string{"a", "kept"}, k.names())
	}
}
