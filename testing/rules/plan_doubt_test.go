package rules

import (
	"context"
	"encoding/hex"
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
	"github.com/sluice-iac/sluice/urn"
)

// knownFrom gives a resource an input that comes from another one and is known nevertheless. The resource is a member of
// the other's delete-before-replace, but has no unknown inputs.
func knownFrom(of *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		r.Inputs = r.Inputs.With("immutableOf", property.String("kept"))
		r.PropertyDependencies["immutableOf"] = []urn.URN{of.URN}
		r.Dependencies = append(r.Dependencies, of.URN)
	}
}

// A preview with an unknown value plans for a change. The update of the same program follows the plan for any value: for
// the recorded one, with fewer changes, and for another one.
func TestPlansAllowWhatAPreviewCannotKnow(t *testing.T) {
	type version func(s *script, v any)
	for name, c := range map[string]struct {
		before, after version
		less          []string // the changes if the value is the recorded one
	}{
		"replacement": {
			before: func(s *script, v any) { s.thing("a", in{"immutable": v}) },
			after:  func(s *script, v any) { s.thing("a", in{"immutable": v}) },
		},
		"replacement that is an update": {
			before: func(s *script, v any) { s.thing("a", in{"immutable": v, "size": 1}) },
			after:  func(s *script, v any) { s.thing("a", in{"immutable": v, "size": 2}) },
			less:   []string{"update a"},
		},
		"order of a replacement": {
			before: func(s *script, v any) { s.thing("a", in{"dbr": v, "immutable": 1}) },
			after:  func(s *script, v any) { s.thing("a", in{"dbr": v, "immutable": 2}) },
			less:   []string{"create a", "delete a"},
		},
		"replacement trigger": {
			before: func(s *script, v any) { s.thing("a", nil, trigger(v)) },
			after:  func(s *script, v any) { s.thing("a", nil, trigger(v)) },
		},
		"dependent that loses a property": {
			before: func(s *script, v any) { s.thing("b", in{"x": 1}, knownFrom(s.thing("a", in{"dbr": v}))) },
			after:  func(s *script, v any) { s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v}))) },
			less:   []string{"update b"},
		},
		"dependent that is replaced on its own account": {
			before: func(s *script, v any) { s.thing("b", in{"immutable": 1}, knownFrom(s.thing("a", in{"dbr": v}))) },
			after:  func(s *script, v any) { s.thing("b", in{"immutable": 2}, knownFrom(s.thing("a", in{"dbr": v}))) },
			less:   []string{"create b", "delete b"},
		},
		"dependent of a dependent": {
			before: func(s *script, v any) {
				s.thing("c", nil, knownFrom(s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v})))))
			},
			after: func(s *script, v any) {
				s.thing("c", nil, knownFrom(s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v})))))
			},
		},
		"dependent that is gone": {
			before: func(s *script, v any) { s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v}))) },
			after:  func(s *script, v any) { s.thing("a", in{"dbr": v}) },
			less:   []string{"delete b"},
		},
		"dependent with another name": {
			before: func(s *script, v any) { s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v}))) },
			after: func(s *script, v any) {
				s.thing("b2", nil, knownFrom(s.thing("a", in{"dbr": v})), alias(urn.Alias{Name: "b"}))
			},
		},
		"dependent whose property is ignored": {
			before: func(s *script, v any) { s.thing("b", in{"x": 1, "y": 1}, knownFrom(s.thing("a", in{"dbr": v}))) },
			after: func(s *script, v any) {
				s.thing("b", in{"x": 2, "z": 1}, knownFrom(s.thing("a", in{"dbr": v})), ignore("x", "y", "z"))
			},
		},
		"what is replaced with it": {
			before: func(s *script, v any) { s.thing("b", nil, replaceWith(s.thing("a", in{"immutable": v}))) },
			after:  func(s *script, v any) { s.thing("b", nil, replaceWith(s.thing("a", in{"immutable": v}))) },
		},
		"what another provider manages": {
			before: func(s *script, v any) {
				_, ref := s.provider("p", in{"immutable": v})
				s.thing("b", nil, via(ref))
			},
			after: func(s *script, v any) {
				_, ref := s.provider("p", in{"immutable": v})
				s.thing("b", nil, via(ref))
			},
		},
	} {
		for what, v := range map[string]int{"the same": 1, "another": 2} {
			t.Run(name+"/"+what, func(t *testing.T) {
				of := func(f version, v any) source.Func { return program(func(s *script) { f(s, v) }) }
				k := newKit(t)
				k.up(of(c.before, 1))
				plan := k.planned(of(c.after, property.Computed()))
				r := k.follows(plan, of(c.after, v))
				if v == 1 {
					require.ElementsMatch(t, c.less, r.changed())
				} else {
					require.True(t, slices.ContainsFunc(r.changed(), func(call string) bool { return call == "create a" || call == "create b" }))
				}
			})
		}
	}
}

// A name that a provider generates for a new object applies only if there is a new object.
func TestDependentThatMayBeMadeAnewKeepsItsName(t *testing.T) {
	version := func(v any) source.Func {
		return program(func(s *script) { s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v}))) })
	}
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			name, ok := r.Olds.Get("name")
			if !ok {
				name = property.String(hex.EncodeToString(r.RandomSeed))
			}
			return providers.CheckResponse{Inputs: r.News.With("name", name)}, nil
		}
	}
	k.up(version(1))
	name := k.recorded("b").Inputs.At("name")
	plan := k.planned(version(property.Computed()))
	require.True(t, plan.Resources[urnOf("b")].Uncertain)
	require.Empty(t, k.follows(plan, version(1)).changed())
	require.Equal(t, name, k.recorded("b").Inputs.At("name"))
	k.follows(plan, version(2))
	require.NotEqual(t, name, k.recorded("b").Inputs.At("name"))

	// If it is certainly recreated, its name is that of the plan.
	plan = k.planned(version(3))
	require.False(t, plan.Resources[urnOf("b")].Uncertain)
	plan.Resources[urnOf("b")].Seed = nil
	k.heldTo(plan, version(3)).requireFailure("resource " + string(urnOf("b")) + " violates plan: properties changed: ++name[")
}

// A plan of uncertain steps is a limit too: resources that are to stay are not deleted, and those to be declared must be.
func TestUncertainPlansAreNoLicence(t *testing.T) {
	both := func(v any) source.Func {
		return program(func(s *script) { s.thing("b", in{"size": 1}, knownFrom(s.thing("a", in{"dbr": v}))) })
	}
	alone := func(v any) source.Func { return program(func(s *script) { s.thing("a", in{"dbr": v}) }) }
	k := newKit(t)
	k.up(both(1))
	plan := k.planned(both(property.Computed()))
	require.Equal(t, []string{"delete-replaced", "replace", "create-replacement"}, plan.Resources[urnOf("b")].Ops)
	k.violates(plan, alone(1), "b", "delete is not allowed by the plan: this resource is constrained to delete-replaced")
	r := k.heldTo(plan, alone(2))
	r.requireFailure("remove-pending-replace is not allowed by the plan: this resource is constrained to replace")

	// It is deleted already, and not declared.
	k = newKit(t)
	k.up(both(1))
	plan = k.planned(both(property.Computed()))
	k.up(alone(1))
	k.violates(plan, alone(1), "b", "expected resource operations for "+string(urnOf("b"))+" but none were seen")

	// One replacement is not two.
	k = newKit(t)
	k.up(both(1))
	plan = k.planned(both(property.Computed()))
	k.change("b", func(res *state.Resource) { res.Taint = true })
	plan.Resources[urnOf("b")].Ops = []string{"replace", "create-replacement"}
	r = k.heldTo(plan, both(2))
	r.requireFailure("delete-replaced is not allowed by the plan: this resource is constrained to replace")
	require.Empty(t, r.changed())
}

// Pulumi does not record uncertainty. Its plans have the unknown values.
func TestUnknownInputsMakeAPlannedReplacementUncertain(t *testing.T) {
	version := func(v any) source.Func { return program(one(in{"immutable": v})) }
	k := newKit(t)
	k.up(version(1))
	plan := k.planned(version(property.Computed()))
	plan.Resources[urnOf("a")].Uncertain = false
	k.follows(plan, version(1)).requireCounts(map[stages.Op]int{stages.OpSame: 1})
}

// An old copy that a delete-before-replace might delete is otherwise deleted in the end phase.
func TestOldCopyThatMayBeDeletedEarly(t *testing.T) {
	version := func(v any) source.Func {
		return program(func(s *script) { s.thing("b", nil, knownFrom(s.thing("a", in{"dbr": v}))) })
	}
	for _, v := range []int{1, 2} {
		k := newKit(t)
		k.up(version(1))
		k.exists("old", nil)
		snapshot := *k.state.Snapshot()
		old := k.recorded("b").Clone()
		old.ID, old.Delete = "old", true
		snapshot.Resources = append(slices.Clone(snapshot.Resources), old)
		require.NoError(t, state.Verify(&snapshot))
		k.state = sluice.NewMemoryState(&snapshot)
		k.options.State = k.state
		k.follows(k.planned(version(property.Computed())), version(v))
		require.Equal(t, []string{"a", "b"}, k.names())
	}
}

func TestReadOfWhatMayBeTheManagedObject(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.exists("there", in{"size": 1})
	version := func(id property.Value) source.Func {
		return program(func(s *script) {
			s.read("a", "", func(q *stages.ReadRequest) { q.ID = id })
		})
	}
	plan := k.planned(version(property.Computed()))
	require.Equal(t, []string{"delete-replaced"}, plan.Resources[urnOf("a")].Ops)
	r := k.heldTo(plan, version(property.String(idOf("a", 1))))
	require.NoError(t, r.err)
	require.Empty(t, r.changed())
}

func TestImportedObjectMayBeAsItShouldBe(t *testing.T) {
	version := func(v any) source.Func {
		return program(one(in{"size": v}, func(r *stages.RegisterRequest) { r.ImportID = "there" }))
	}
	for _, v := range []int{1, 2} {
		k := newKit(t)
		k.exists("there", in{"size": 1})
		plan := k.planned(version(property.Computed()))
		require.Equal(t, []string{"update"}, plan.Resources[urnOf("a")].Ops)
		require.NoError(t, k.heldTo(plan, version(v)).err)
	}
}

// A renamed resource that is left out keeps its old name; the plan has the new one.
func TestOutputsOfARenamedComponentThatIsLeftOut(t *testing.T) {
	version := func(name string) source.Func {
		return program(func(s *script) {
			s.outputs(s.group(name, alias(urn.Alias{Name: "g"})), in{"x": 1})
			s.thing("a", nil)
		})
	}
	k := newKit(t)
	k.up(version("g"))
	targets, err := urn.CompileSet(string(urnOf("a")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	plan := k.planned(version("g2"))
	k.follows(plan, version("g2"))
	require.Equal(t, []string{"g", "a"}, k.names())
	k.heldTo(plan, program(func(s *script) {
		s.outputs(s.group("g2", alias(urn.Alias{Name: "g"})), in{"x": 2})
		s.thing("a", nil)
	})).requireFailure("resource violates plan: properties changed: =~x[{2}]")
}
