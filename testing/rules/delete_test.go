package rules

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestDeletesFollowDependencies(t *testing.T) {
	build := program(func(s *script) {
		_, ref := s.provider("prov", nil)
		a := s.thing("a", nil, via(ref))
		g := s.group("g")
		b := s.thing("b", nil, via(ref), dependsOn(a), parent(g))
		c := s.thing("c", nil, via(ref), parent(b))
		s.thing("d", nil, via(ref), from("x", c))
		e := s.thing("e", nil, via(ref), replaceWith(a))
		s.thing("f", nil, via(ref), deletedWith(e))
		s.thing("alone", nil, via(ref))
	})
	for name, op := range map[string]func(*kit) *ran{
		"update without them": func(k *kit) *ran { return k.up(nothing) },
		"destroy":             func(k *kit) *ran { return k.destroy() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(build)
			k.cloudFollows("f", "e")
			r := op(k)
			r.requireCounts(map[stages.Op]int{stages.OpDelete: 9})
			steps := make([]string, 0, 9)
			for _, s := range r.steps() {
				steps = append(steps, s[len("delete "):])
			}
			requireOrder(t, steps, [][2]string{
				{"b", "a"}, {"b", "g"}, {"c", "b"}, {"d", "c"}, {"e", "a"}, {"f", "e"},
				{"a", "prov"}, {"alone", "prov"}, {"d", "prov"}, {"f", "prov"}, {"e", "prov"},
			}...)
			require.Empty(t, k.state.Snapshot().Resources)
			require.Empty(t, asked[providers.DeleteRequest](r, "f"), "it goes with e")
			del := askedOnce[providers.DeleteRequest](r, "d")
			require.Contains(t, del.ID, "d-")
			require.NotZero(t, del.Inputs.Len())
			require.NotZero(t, del.Outputs.Len())
		})
	}
}

// cloudFollows makes the cloud delete one thing together with another.
func (k *kit) cloudFollows(follower, leader string) {
	id := k.recorded(follower).ID
	k.fake = func(f *providertest.Fake) {
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			if r.Name == leader {
				if err := k.cloud.Remove(id); err != nil {
					return err
				}
			}
			return f.Base.Delete(ctx, r)
		}
	}
}

// A resource that is not declared refers to its deletedWith resource by the old name.
func TestDeletedWithFollowsANewNameInADestroyByProgram(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("follower", nil, deletedWith(s.thing("leader", nil))) }))
	k.cloudFollows("follower", "renamed")
	k.options.RunProgram = true
	r := k.try(sluice.Destroy, program(func(s *script) { s.thing("renamed", nil, alias(urn.Alias{Name: "leader"})) }))
	require.NoError(t, r.err)
	require.Equal(t, []string{"delete renamed"}, r.changed())
	k.requireTruth()
}

func TestPreviewOfDeletesAsksNobody(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	r := k.preview(nothing)
	r.requireCounts(map[stages.Op]int{stages.OpDelete: 1})
	require.Empty(t, r.changed())
	r = k.try(sluice.PreviewDestroy, nil)
	require.NoError(t, r.err)
	r.requireCounts(map[stages.Op]int{stages.OpDelete: 1})
	require.Empty(t, r.changed())
	require.Equal(t, []string{"a"}, k.names())
}

func TestWhatTheEngineDoesNotOwnIsLetGoWithoutACall(t *testing.T) {
	t.Run("retained", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(nil, retain(true))))
		r := k.try(sluice.Update, nothing)
		require.NoError(t, r.err)
		r.requireCounts(map[stages.Op]int{stages.OpDelete: 1})
		require.Empty(t, r.changed())
		require.Empty(t, k.names())
	})
	t.Run("external", func(t *testing.T) {
		k := newKit(t)
		k.exists("x", nil)
		k.up(program(func(s *script) { s.read("r", "x") }))
		r := k.up(nothing)
		r.requireCounts(map[stages.Op]int{stages.OpDiscard: 1})
		require.Empty(t, r.changed())
		require.Empty(t, k.names())
		require.False(t, r.HasChanges())
	})
	t.Run("retained in a replacement, by the old state's flag", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"immutable": 1}, retain(true))))
		r := k.try(sluice.Update, program(one(in{"immutable": 2})))
		require.NoError(t, r.err)
		require.Equal(t, []string{"create a"}, r.changed())
	})
}

func TestEveryProtectedResourceIsReportedAndNothingOfItsIsDeleted(t *testing.T) {
	for name, op := range map[string]operation{"update": sluice.Update, "destroy": sluice.Destroy} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				_, ref := s.provider("prov", nil)
				_, other := s.provider("other", nil)
				a := s.thing("a", nil, via(ref))
				g := s.group("g")
				s.thing("p", nil, via(ref), dependsOn(a), parent(g), protect(true))
				s.thing("q", nil, via(ref), protect(true))
				s.thing("x", nil, via(other), dependsOn(a))
			}))
			r := k.try(op, nothing)
			r.requireFailure("cannot be deleted")
			for _, n := range []string{"p", "q"} {
				r.requireDiagnostic(stages.Error, 2000, "resource \""+string(k.recorded(n).URN)+"\" cannot be deleted\nbecause it is protected.")
				r.requireAdvice(stages.Error, advice.On(advice.Unprotect, k.recorded(n).URN))
			}
			require.Len(t, r.diagnostics(stages.Error), 3) // the third one reports that the run failed
			require.Equal(t, []string{"delete x"}, r.changed())
			require.ElementsMatch(t, []string{"prov", "a", "g", "p", "q"}, k.names())

			k.options.IgnoreProtect = true
			require.NoError(t, k.try(op, nothing).err)
			require.Empty(t, k.names())
		})
	}
}

func TestFailedDeleteKeepsWhatItDependsOnAndNothingElse(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Nth: 1})
		k.options.ContinueOnError = goOn
		k.up(program(func(s *script) {
			_, ref := s.provider("prov", nil)
			_, other := s.provider("other", nil)
			a := s.thing("a", nil, via(ref))
			g := s.group("g")
			b := s.thing("b", nil, via(ref), dependsOn(a), parent(g))
			s.thing("c", nil, via(ref), dependsOn(b))
			x := s.thing("x", nil, via(other))
			s.thing("y", nil, via(other), dependsOn(x))
		}))
		r := k.try(sluice.Destroy, nil)
		r.requireFailure("refused to delete b")
		for _, n := range []string{"prov", "a", "g", "b"} {
			require.Contains(t, k.names(), n)
		}
		require.NotContains(t, k.names(), "c")
		if goOn {
			require.ElementsMatch(t, []string{"prov", "a", "g", "b"}, k.names())
		}
		k.destroy()
	}
}

func TestChildrenOfARemovedComponentAreDeletedBeforeWhatItDependsOn(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		g := s.group("g", dependsOn(a))
		s.thing("child", nil, parent(g))
		s.thing("user", nil, dependsOn(g))
	}))
	r := k.up(nothing)
	steps := r.steps()
	requireOrder(t, steps, [2]string{"delete child", "delete g"}, [2]string{"delete g", "delete a"}, [2]string{"delete user", "delete child"})
}

func TestProgramErrorDeletesNothing(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	r := k.fails(program(func(s *script) {
		s.thing("b", nil)
		s.err = errRefused
	}), "refused")
	r.requireDiagnostic(stages.Error, 0, "refused")
	r.requireDiagnostic(stages.Error, 0, "update failed")
	require.Equal(t, []string{"create b"}, r.changed())
	require.ElementsMatch(t, []string{"a", "b"}, k.names())
	r = k.try(sluice.Preview, program(func(s *script) { s.err = errRefused }))
	r.requireFailure("refused")
	require.NotContains(t, r.Changes, stages.OpDelete)
}

func TestDuplicateRecordedResourcesAreRefused(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	s := *k.state.Snapshot()
	s.Resources = append(slices.Clone(s.Resources), k.recorded("a").Clone())
	k.options.State = sluice.NewMemoryState(&s)
	k.options.Program = nothing
	_, err := sluice.Update(t.Context(), k.options)
	require.ErrorContains(t, err, "duplicate resource "+string(urnOf("a")))
}

func TestStatesWithoutProviderGetADefaultOne(t *testing.T) {
	k := newKit(t)
	a := &state.Resource{URN: urnOf("a"), Type: "test:index:Thing", Custom: true, ID: idOf("a", 1), Inputs: values(in{"x": 1}), Outputs: values(in{"x": 1})}
	require.NoError(t, k.cloud.Put(providertest.Record{ID: a.ID, URN: a.URN, Type: a.Type, Inputs: a.Inputs}))
	k.state = sluice.NewMemoryState(&state.Snapshot{Resources: []*state.Resource{a}})
	k.options.State = k.state
	k.options.Config = sluice.Config{"test:region": {Text: "here"}}
	r := k.up(program(one(in{"x": 1})))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
	ref, err := urn.ParseProviderRef(k.recorded("a").Provider)
	require.NoError(t, err)
	require.Equal(t, k.recorded("default").ID, ref.ID)
	require.Equal(t, "here", k.recorded("default").Inputs.At("region").AsString())
}

func TestReadOverAManagedResource(t *testing.T) {
	t.Run("with another ID replaces it", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"x": 1})))
		k.exists("other", in{"y": 1})
		r := k.try(sluice.Update, program(func(s *script) { s.read("a", "other") }))
		require.NoError(t, r.err)
		require.Equal(t, []string{"read-replacement a", "replace a", "delete-replaced a"}, r.steps())
		require.Equal(t, []string{"delete a"}, r.changed())
		require.Equal(t, idOf("a", 1), askedOnce[providers.DeleteRequest](r, "a").ID)
		require.True(t, k.recorded("a").External)
		require.Equal(t, "other", k.recorded("a").ID)
	})
	t.Run("with its ID lets it go", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"x": 1})))
		r := k.try(sluice.Update, program(func(s *script) { s.read("a", idOf("a", 1)) }))
		require.NoError(t, r.err)
		require.Equal(t, []string{"read a"}, r.steps())
		require.Empty(t, r.changed())
		require.True(t, k.recorded("a").External)
	})
	t.Run("and back", func(t *testing.T) {
		k := newKit(t)
		k.exists("x", nil)
		k.up(program(func(s *script) { s.read("a", "x") }))
		r := k.try(sluice.Update, program(one(in{"y": 1})))
		require.NoError(t, r.err)
		require.Equal(t, []string{"create-replacement a", "replace a"}, r.steps()[:2])
		require.Contains(t, userSteps(r), "discard-replaced a")
		require.Equal(t, []string{"create a"}, r.changed())
		check := askedOnce[providers.CheckRequest](r, "a")
		require.Zero(t, check.Olds.Len())
		require.False(t, k.recorded("a").External)
		require.Equal(t, idOf("a", 1), k.recorded("a").ID)
	})
}

func TestReadsAreRecordedAndAnswered(t *testing.T) {
	k := newKit(t)
	k.exists("x", in{"y": 1, "z": "s"})
	var reply *stages.RegisterReply
	p := program(func(s *script) {
		g := s.group("g")
		reply = s.read("r", "x", func(r *stages.ReadRequest) {
			r.Parent, r.Properties, r.AdditionalSecretOutputs, r.Dependencies = g.URN, values(in{"hint": 1}), []string{"z"}, []urn.URN{g.URN}
		})
	})
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		r := k.try(op, p)
		require.NoError(t, r.err)
		q := askedOnce[providers.ReadRequest](r, "r")
		require.Equal(t, "x", q.ID)
		require.Equal(t, 1.0, q.Inputs.At("hint").AsNumber())
		require.Equal(t, 1.0, q.State.At("hint").AsNumber())
		require.Equal(t, "x", reply.ID)
		require.Equal(t, 1.0, reply.Outputs.At("y").AsNumber())
		require.True(t, reply.Outputs.At("z").IsSecret())
		require.NotContains(t, r.did(), "check r")
	}
	got := k.recorded("r")
	require.True(t, got.External)
	require.Equal(t, k.recorded("g").URN, got.Parent)
	require.False(t, got.Protect)
	require.Equal(t, 1, got.Inputs.Len())
}

func TestReadsThatFindNothingFail(t *testing.T) {
	k := newKit(t)
	k.fails(program(func(s *script) { s.read("r", "none") }), "resource 'none' does not exist")
	k.fails(program(func(s *script) { s.read("r", "") }), "Expected an ID for "+string(urnOf("r")))
	require.Empty(t, k.names())
}

func TestUnhealthyReadIsRecordedAndFails(t *testing.T) {
	k := newKit(t)
	k.exists("x", in{"unhealthy": true})
	k.fails(program(func(s *script) { s.read("r", "x") }), "x is unhealthy")
	require.Equal(t, []string{"x is unhealthy"}, k.recorded("r").InitErrors)

	k.options.ContinueOnError = true
	id := ""
	r := k.fails(program(func(s *script) {
		id = s.read("r", "x").ID
		s.thing("a", in{"x": 1})
	}), "x is unhealthy")
	require.Equal(t, "x", id, "the program learns what was read")
	require.Equal(t, []string{"create a"}, r.changed())
}

// What goes with a resource is not deleted by a call, also if the program has declared that resource again by then.
func TestWhatIsDeletedWithAResourceThatIsMadeAgainIsNotDeleted(t *testing.T) {
	for _, workers := range []int{1, 10} {
		synctest.Test(t, func(t *testing.T) {
			k := newKitWith(t, slow())
			k.up(program(func(s *script) {
				s.thing("follower", nil, deletedWith(s.thing("leader", nil, from("immutableOf", s.thing("a", in{"dbr": 1})))))
			}))
			k.options.Parallel = workers
			r := k.try(sluice.Update, apart(
				func(s *script) { s.thing("other", nil) }, func(s *script) { s.thing("a", in{"dbr": 2}) }, func(s *script) { s.thing("leader", nil) },
			))
			require.NoError(t, r.err)
			require.NotContains(t, r.did(), "delete follower", "with %d workers", workers)
		})
	}
}
