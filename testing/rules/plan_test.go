package rules

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/urn"
)

// planned previews a program and returns the plan as read from its file.
func (k *kit) planned(p source.Func) *state.Plan {
	k.t.Helper()
	k.options.MakePlan = true
	r := k.preview(p)
	k.options.MakePlan = false
	text, err := sluice.EncodePlan(k.t.Context(), r.Plan, secrets.Plain{}, false)
	require.NoError(k.t, err)
	plan, err := sluice.DecodePlan(k.t.Context(), "plan.json", text, secrets.Plain{})
	require.NoError(k.t, err)
	return plan
}

// heldTo runs an update held to a plan.
func (k *kit) heldTo(plan *state.Plan, p source.Func) *ran {
	k.t.Helper()
	k.options.Plan = plan
	defer func() { k.options.Plan = nil }()
	return k.try(sluice.Update, p)
}

// follows requires that an update held to a plan succeeds.
func (k *kit) follows(plan *state.Plan, p source.Func) *ran {
	k.t.Helper()
	r := k.heldTo(plan, p)
	require.NoError(k.t, r.err)
	k.requireTruth()
	return r
}

// violates requires that an update held to a plan fails at the resource with the rule's text, explained in three lines,
// before it changes the resource.
func (k *kit) violates(plan *state.Plan, p source.Func, name, rule string) *ran {
	k.t.Helper()
	r := k.heldTo(plan, p)
	var v *stages.PlanViolation
	require.ErrorAs(k.t, r.err, &v)
	require.Equal(k.t, name, v.URN.Name())
	require.Equal(k.t, rule, v.Rule)
	require.Regexp(k.t, `^.*\n  planned:    \S.*\n  now:        \S.*\n  what to do: \S.*$`, v.Error())
	for _, call := range r.changed() {
		require.NotContains(k.t, call, " "+name)
	}
	found := false
	for _, d := range r.diagnostics(stages.Error) {
		found = found || d.URN == v.URN && d.Message == v.Error()
	}
	require.True(k.t, found, "the violation is shown at its resource")
	return r
}

func TestUpdateFollowsItsPlan(t *testing.T) {
	k := newKit(t)
	version := func(size int) source.Func {
		return program(func(s *script) {
			stack := s.stack()
			a := s.thing("a", in{"size": size, "dbr": size, "s": secret("x")}, parent(stack))
			s.thing("b", nil, from("immutableOf", a), parent(stack))
			s.thing("c", in{"size": size}, parent(stack), dependsOn(a))
			if size == 1 {
				s.thing("gone", nil, parent(stack))
			}
			s.outputs(s.group("g", parent(stack)), in{"size": size})
			s.outputs(stack, in{"of": value(a.Outputs.At("arn"))})
		})
	}
	r := k.follows(k.planned(version(1)), version(1))
	require.Equal(t, []string{"create a", "create b", "create c", "create gone"}, r.changed())

	plan := k.planned(version(2))
	require.Equal(t, []string{"delete-replaced", "replace", "create-replacement"}, plan.Resources[k.recorded("a").URN].Ops)
	require.Equal(t, []string{"delete-replaced", "replace", "create-replacement"}, plan.Resources[k.recorded("b").URN].Ops)
	require.Equal(t, []string{"update"}, plan.Resources[k.recorded("c").URN].Ops)
	require.Equal(t, []string{"delete"}, plan.Resources[k.recorded("gone").URN].Ops)
	require.Nil(t, plan.Resources[k.recorded("gone").URN].Goal)
	require.True(t, plan.Resources[k.recorded("b").URN].Goal.Inputs.Adds.At("immutableOf").IsUnknown(), "what is made anew has all its inputs added")
	k.follows(plan, version(2))

	plan = k.planned(version(2))
	for u, r := range plan.Resources {
		require.Equal(t, []string{"same"}, r.Ops, u)
	}
	k.follows(plan, version(2))
}

// The preview of an update does not use up a plan.
func TestPreviewIsHeldToThePlanToo(t *testing.T) {
	k := newKit(t)
	plan := k.planned(program(one(in{"size": 1})))
	k.options.Plan = plan
	k.preview(program(one(in{"size": 1})))
	r := k.try(sluice.Preview, program(one(in{"size": 2})))
	r.requireFailure("violates plan: properties changed: ++size[{1}!={2}]")
	require.NoError(t, k.try(sluice.Update, program(one(in{"size": 1}))).err)
}

func TestWhatIsNotPlannedIsRefused(t *testing.T) {
	both := program(func(s *script) {
		s.thing("a", in{"size": 1})
		s.thing("b", in{"size": 1})
	})
	first := program(one(in{"size": 1}))

	t.Run("create", func(t *testing.T) {
		k := newKit(t)
		r := k.violates(k.planned(first), both, "b", "create is not allowed by the plan: no steps were expected for this resource")
		require.Equal(t, []string{"a"}, k.names(), "what was planned stays done")
		require.Equal(t, []string{"check a", "create a", "check b"}, r.did())
	})
	t.Run("delete", func(t *testing.T) {
		k := newKit(t)
		k.up(both)
		before := k.state.Snapshot().Resources
		k.violates(k.planned(both), first, "b", "delete is not allowed by the plan: this resource is constrained to same")
		require.Len(t, k.state.Snapshot().Resources, len(before))
	})
	t.Run("delete of what the plan does not name", func(t *testing.T) {
		k := newKit(t)
		plan := k.planned(first)
		k.up(both)
		k.violates(plan, first, "b", "delete is not allowed by the plan: no steps were expected for this resource")
	})
	t.Run("update", func(t *testing.T) {
		k := newKit(t)
		k.up(first)
		plan := k.planned(first)
		k.violates(plan, program(one(in{"size": 2})), "a",
			"resource "+string(urnOf("a"))+" violates plan: properties changed: =~size[{2}]")
	})
	t.Run("update that the provider alone wants", func(t *testing.T) {
		k := newKit(t)
		k.up(first)
		plan := k.planned(first)
		k.fake = func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				return providers.DiffResponse{Changes: providers.DiffSome}, nil
			}
		}
		k.violates(plan, first, "a", "update is not allowed by the plan: this resource is constrained to same")
	})
	t.Run("replacement instead of an update", func(t *testing.T) {
		k := newKit(t)
		k.up(first)
		plan := k.planned(program(one(in{"size": 2})))
		k.fake = func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				return providers.DiffResponse{Changes: providers.DiffSome, ReplaceKeys: []string{"size"}}, nil
			}
		}
		r := k.violates(plan, program(one(in{"size": 2})), "a", "create-replacement is not allowed by the plan: this resource is constrained to update")
		require.ErrorContains(t, r.err, "because `size` changed", "the explanation has the reason")
	})
	t.Run("declaration of what was to be deleted", func(t *testing.T) {
		k := newKit(t)
		k.up(both)
		r := k.violates(k.planned(first), both, "b", "resource urn:pulumi:dev::p::test:index:Thing::b violates plan: resource unexpectedly not deleted")
		require.Equal(t, []string{"check a", "diff a", "check b"}, r.did())
	})
	t.Run("change of what the plan does not name", func(t *testing.T) {
		k := newKit(t)
		plan := k.planned(first)
		k.up(both)
		k.follows(plan, both)
		k.violates(plan, program(func(s *script) {
			s.thing("a", in{"size": 1})
			s.thing("b", in{"size": 1}, protect(true))
		}), "b", "resource urn:pulumi:dev::p::test:index:Thing::b violates plan: protect changed (expected false)")
	})
	t.Run("more steps than planned", func(t *testing.T) {
		k := newKit(t)
		k.up(first)
		plan := k.planned(first)
		plan.Resources[urnOf("a")].Ops = nil
		k.violates(plan, first, "a", "same is not allowed by the plan: no more steps were expected for this resource")
	})
}

// Providers make names from the seed.
func TestCheckOfAPlannedResourceGetsTheSeedOfThePlan(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Inputs: r.News.With("name", property.String(hex.EncodeToString(r.RandomSeed)))}, nil
		}
	}
	p := program(one(nil))
	k.follows(k.planned(p), p)
	made := k.recorded("a").Inputs.At("name").AsString()

	again := newKit(t)
	again.ran = 10 // another source of random numbers
	again.fake = k.fake
	again.up(p)
	require.NotEqual(t, made, again.recorded("a").Inputs.At("name").AsString())

	// Without a seed the result is different, and was not planned.
	third := newKit(t)
	third.fake = k.fake
	plan := third.planned(p)
	plan.Resources[urnOf("a")].Seed = nil
	r := third.heldTo(plan, p)
	r.requireFailure("violates plan: properties changed: ++name[")
}

func TestWhatIsNotNeededAnyMoreIsAccepted(t *testing.T) {
	both := program(func(s *script) {
		s.thing("a", in{"size": 1})
		s.thing("b", nil)
	})
	t.Run("create of what is there", func(t *testing.T) {
		k := newKit(t)
		plan := k.planned(program(one(in{"size": 1})))
		k.up(program(one(in{"size": 1})))
		k.follows(plan, program(one(in{"size": 1}))).requireCounts(map[stages.Op]int{stages.OpSame: 1})
	})
	t.Run("delete of what is gone", func(t *testing.T) {
		k := newKit(t)
		k.up(both)
		first := program(one(in{"size": 1}))
		plan := k.planned(first)
		k.up(first)
		k.follows(plan, first).requireCounts(map[stages.Op]int{stages.OpSame: 1})
	})
	t.Run("update instead of a replacement", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"dbr": 1})))
		plan := k.planned(program(one(in{"dbr": 2})))
		k.up(program(one(in{"dbr": 2})))
		r := k.heldTo(plan, program(one(in{"dbr": 2})))
		// One same step counts for the first planned one only; the others are missing.
		r.requireFailure("expected resource operations for " + string(urnOf("a")) + " but none were seen")
	})
}

func TestWhatWasPlannedMustHappen(t *testing.T) {
	both := program(func(s *script) {
		s.thing("a", in{"size": 1})
		s.thing("b", nil)
	})
	first := program(one(in{"size": 1}))
	k := newKit(t)
	r := k.violates(k.planned(both), first, "b", "expected resource operations for "+string(urnOf("b"))+" but none were seen")
	require.Equal(t, []string{"create a"}, r.changed())

	// After a failure only the failure is reported.
	k = newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Update: true})
	r = k.heldTo(k.planned(both), both)
	r.requireFailure("the cloud refused to create a")
	require.NotContains(t, r.err.Error(), "expected resource operations")
}

func TestPlannedOutputsMustComeTrue(t *testing.T) {
	version := func(outputs in) source.Func {
		return program(func(s *script) { s.outputs(s.group("g"), outputs) })
	}
	k := newKit(t)
	plan := k.planned(version(in{"x": 1, "y": property.Computed()}))
	r := k.heldTo(plan, version(in{"x": 2}))
	r.requireFailure("resource violates plan: properties changed: ++x[{1}!={2}]")
	k.follows(plan, version(in{"x": 1}))

	delete(plan.Resources, k.recorded("g").URN)
	k.heldTo(plan, version(in{"x": 1})).requireFailure("no plan for resource " + string(k.recorded("g").URN))
}

func TestPlannedOutputsOfTheStackMustComeTrue(t *testing.T) {
	size := 1
	version := func(outputs in) source.Func {
		return program(func(s *script) {
			s.outputs(s.stack(), outputs)
			s.thing("a", in{"size": size})
		})
	}
	k := newKit(t)
	plan := k.planned(version(in{"x": 1}))
	k.heldTo(plan, version(in{})).requireFailure("resource violates plan: properties changed: +-x[{1}]")
	require.Zero(t, k.recorded("p-dev").Outputs.Len())
	k.follows(plan, version(in{"x": 1}))

	// The outputs of a failed update are kept, whatever was planned.
	size = 2
	k.heldTo(plan, version(in{"y": 1})).requireFailure("properties changed: +~size[{1}!={2}]")
	require.Equal(t, []string{"x", "y"}, k.recorded("p-dev").Outputs.Names())
}

func TestPlanOfTargetsAllowsNothingElse(t *testing.T) {
	version := func(v int) source.Func {
		return program(func(s *script) {
			s.thing("a", in{"size": v})
			s.thing("b", in{"size": v})
			s.thing("new"+string(rune('0'+v)), nil)
		})
	}
	k := newKit(t)
	k.up(version(1))
	targets, err := urn.CompileSet(string(urnOf("a")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	plan := k.planned(version(2))
	require.Equal(t, []string{"same"}, plan.Resources[urnOf("b")].Ops)
	require.Equal(t, []string{"same"}, plan.Resources[urnOf("new1")].Ops, "it stays though the program has dropped it")

	k.options.Targeting.Targets = nil
	k.heldTo(plan, version(2)).requireFailure("resource " + string(urnOf("b")) + " violates plan: properties changed: =~size[{2}]")
	k.options.Targeting.Targets = targets
	k.follows(plan, version(2))
	require.Equal(t, []string{"a", "b", "new1"}, k.names())
}

func TestPlansKnowRenamedResourcesByTheirNewNames(t *testing.T) {
	for _, property := range []string{"size", "immutable", "dbr"} {
		t.Run(property, func(t *testing.T) {
			version := func(a, b string, v int) source.Func {
				return program(func(s *script) {
					x := s.thing(a, in{property: v, "drop": v}, alias(urn.Alias{Name: "a"}))
					s.thing(b, nil, from("immutableOf", x), alias(urn.Alias{Name: "b"}))
				})
			}
			k := newKit(t)
			k.up(version("a", "b", 1))
			plan := k.planned(version("a2", "b2", 2))
			require.NotNil(t, plan.Resources[urnOf("a2")].Goal)
			k.follows(plan, version("a2", "b2", 2))
			require.Equal(t, []string{"a2", "b2"}, k.names())
		})
	}
}

// A dependent that is deleted before its dependency is replaced is recreated. Its old properties do not count, in the
// plan and later.
func TestDependentThatIsMadeAnewMayLoseProperties(t *testing.T) {
	version := func(v int, more in) source.Func {
		return program(func(s *script) { s.thing("b", more, from("immutableOf", s.thing("a", in{"dbr": v}))) })
	}
	k := newKit(t)
	k.up(version(1, in{"x": 1}))
	k.follows(k.planned(version(2, nil)), version(2, nil))
	r := k.heldTo(k.planned(version(3, nil)), version(3, in{"x": 1}))
	r.requireFailure("resource " + string(urnOf("b")) + " violates plan: properties changed: =+x[{1}]")
	require.Equal(t, []string{"delete b", "delete a", "create a"}, r.changed())
}

func TestReplacementsThatWerePlannedOtherwise(t *testing.T) {
	chain := func(key string, v int) source.Func {
		return program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{key: v}))) })
	}
	k := newKit(t)
	k.up(chain("dbr", 1))
	plan := k.planned(chain("dbr", 2))
	// The plan did not delete the dependent: the chain is refused as a whole.
	plan.Resources[urnOf("b")].Ops = []string{"update"}
	r := k.heldTo(plan, chain("dbr", 2))
	r.requireFailure("delete-replaced is not allowed by the plan: this resource is constrained to update")
	require.Empty(t, r.changed())
}

func TestImportsAreHeldToThePlanBeforeTheObjectIsRead(t *testing.T) {
	with := func(id string, size int) source.Func {
		return program(one(in{"size": size}, func(r *stages.RegisterRequest) { r.ImportID = id }))
	}
	k := newKit(t)
	k.exists("there", in{"size": 1})
	k.exists("elsewhere", in{"size": 1})

	plan := k.planned(with("there", 2))
	require.Equal(t, []string{"update"}, plan.Resources[urnOf("a")].Ops, "imports are no steps of plans")
	r := k.violates(plan, with("elsewhere", 2), "a", "resource "+string(urnOf("a"))+" violates plan: importID changed (expected there)")
	require.Empty(t, r.did())
	r = k.violates(&state.Plan{}, with("there", 2), "a", "resource "+string(urnOf("a"))+" violates plan: importID changed (expected )")
	require.Empty(t, r.did())
	require.Empty(t, k.names())

	require.NoError(t, k.heldTo(plan, with("there", 2)).err)
	plan = k.planned(with("there", 2))
	require.NoError(t, k.heldTo(plan, with("there", 2)).err)
}

func TestReadsAreNotPlanned(t *testing.T) {
	k := newKit(t)
	k.exists("there", in{"size": 1})
	p := program(func(s *script) { s.read("r", "there") })
	plan := k.planned(p)
	require.NotContains(t, plan.Resources, urnOf("r"))
	require.NoError(t, k.heldTo(plan, p).err)
}

// A resource that a program does not declare because of a failure is not deleted.
func TestPlanKeepsWhatAFailureHasLeftOut(t *testing.T) {
	k := newKitWith(t, providertest.Options{Failures: []providertest.Failure{{Method: providers.MethodUpdate, Name: "a", Update: true}}})
	p := func(v int) source.Func {
		return program(func(s *script) {
			a := s.thing("a", in{"size": v})
			if a.Result == stages.Success {
				s.thing("b", nil)
			}
		})
	}
	k.up(p(1))
	plan := k.planned(p(2))
	k.options.ContinueOnError = true
	r := k.heldTo(plan, p(2))
	r.requireFailure("refused to update a")
	require.Equal(t, []string{"a", "b"}, k.names())
	require.Equal(t, []urn.URN{urnOf("b")}, r.Kept)
}

func TestPlanOfAnotherStackIsRefused(t *testing.T) {
	k := newKit(t)
	plan := k.planned(program(one(nil)))
	k.options.Stack = "prod"
	r, err := sluice.Update(t.Context(), func() sluice.Options {
		o := k.options
		o.Plan, o.Program = plan, program(one(nil))
		return o
	}())
	require.EqualError(t, err, "the plan is for stack dev of project p, and not for stack prod of project p; make one for this stack")
	require.Nil(t, r)
	require.Nil(t, k.state.Snapshot())
}

func TestFailedPreviewMakesNoPlan(t *testing.T) {
	k := newKit(t)
	k.options.MakePlan = true
	r := k.try(sluice.Preview, program(one(in{"invalid": 1})))
	require.Error(t, r.err)
	require.Nil(t, r.Plan)
	require.Nil(t, k.destroy().Plan, "a destroy makes none")
	k.options.MakePlan = false
	require.Nil(t, k.preview(program(one(nil))).Plan)
}

func TestUpdateMakesThePlanOfWhatItDid(t *testing.T) {
	k := newKit(t)
	k.options.MakePlan = true
	r := k.up(program(one(in{"size": 1})))
	a := r.Plan.Resources[urnOf("a")]
	require.Equal(t, []string{"create"}, a.Ops)
	require.Equal(t, "arn:"+idOf("a", 1), a.Outputs.At("arn").AsString())
}

// Whatever another program declares, nothing outside the plan happens.
func TestNoProgramGoesBeyondThePlan(t *testing.T) {
	stopped := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		k := newKit(t)
		before, previewed, other := randomThings(rng), randomThings(rng), randomThings(rng)
		k.up(before)
		plan := k.planned(previewed)
		r := k.heldTo(plan, []source.Func{before, previewed, other}[rng.IntN(3)])
		if r.err != nil {
			stopped++
		}
		allowed := func(u urn.URN, ops ...stages.Op) *state.PlannedResource {
			of := plan.Resources[u]
			require.NotNil(t, of, "seed %d: %s", seed, u)
			require.True(t, slices.ContainsFunc(ops, func(op stages.Op) bool { return slices.Contains(of.Ops, string(op)) }), "seed %d: %s: %v", seed, u, of.Ops)
			return of
		}
		for _, q := range r.requests {
			switch q := q.body.(type) {
			case providers.CreateRequest:
				for name, v := range allowed(q.URN, stages.OpCreate, stages.OpCreateReplacement).Goal.Inputs.Adds.All() {
					require.True(t, property.Fits(v, q.Properties.At(name)), "seed %d: %s", seed, q.URN)
				}
			case providers.UpdateRequest:
				for name, v := range allowed(q.URN, stages.OpUpdate, stages.OpReplace).Goal.Inputs.Updates.All() {
					require.True(t, property.Fits(v, q.NewInputs.At(name)), "seed %d: %s", seed, q.URN)
				}
			case providers.DeleteRequest:
				allowed(q.URN, stages.OpDelete, stages.OpDeleteReplaced)
			}
		}
	}
	require.Greater(t, stopped, 10)
	require.Less(t, stopped, 60)
}

// randomThings returns a program with some of five things, whose inputs have few values.
func randomThings(rng *rand.Rand) source.Func {
	type declared struct {
		name, property, of string
		inputs             in
	}
	var all []declared
	for i := range 5 {
		if rng.IntN(8) == 0 {
			continue
		}
		d := declared{name: fmt.Sprint("t", i), inputs: in{"size": rng.IntN(5) / 4}}
		if rng.IntN(3) == 0 {
			d.inputs[[]string{"immutable", "dbr"}[rng.IntN(2)]] = rng.IntN(4) / 3
		}
		if len(all) > 0 && rng.IntN(2) == 0 {
			d.of, d.property = all[rng.IntN(len(all))].name, []string{"of", "immutableOf"}[rng.IntN(2)]
		}
		all = append(all, d)
	}
	return program(func(s *script) {
		made := map[string]*stages.RegisterReply{}
		for _, d := range all {
			var with []option
			if d.of != "" {
				with = append(with, from(d.property, made[d.of]))
			}
			made[d.name] = s.thing(d.name, d.inputs, with...)
		}
	})
}
