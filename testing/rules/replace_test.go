package rules

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestReplacementIsCreatedFirstAndTheOldOneDeletedLast(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"immutable": v, "size": v})
			s.thing("b", nil, from("of", a))
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"create-replacement a", "replace a", "update b", "delete-replaced a"}, withoutOrderOf(r.steps(), "replace a", 1))
	require.Equal(t, []string{"create a", "update b", "delete a"}, r.changed())
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 1, stages.OpUpdate: 1})
	require.Equal(t, idOf("a", 2), k.recorded("a").ID)
	require.Equal(t, idOf("a", 1), askedOnce[providers.DeleteRequest](r, "a").ID)
	require.Equal(t, "arn:"+idOf("a", 2), k.recorded("b").Inputs.At("of").AsString())

	// The new object's inputs are checked again as if there were no old one.
	checks := asked[providers.CheckRequest](r, "a")
	require.Len(t, checks, 2)
	require.Equal(t, 2, checks[0].Olds.Len())
	require.Zero(t, checks[1].Olds.Len())

	made := r.step(stages.OpCreateReplacement, "a")
	require.Equal(t, []string{"immutable"}, made.Keys)
	require.Equal(t, []string{"immutable", "size"}, made.Diffs)
	require.Equal(t, "because `immutable` changed", made.Reason.String())
}

// withoutOrderOf moves an element to a position, because its position in the list depends on timing.
func withoutOrderOf(list []string, element string, to int) []string {
	out := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == element })
	if len(out) == len(list) {
		return list
	}
	return slices.Insert(out, to, element)
}

func TestIgnoredPropertyTakesTheProgramsValueInAReplacement(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1, "x": 1})))
	r := k.up(program(one(in{"immutable": 2, "x": 2}, ignore("x"))))
	checks := asked[providers.CheckRequest](r, "a")
	require.Equal(t, 1.0, checks[0].News.At("x").AsNumber())
	require.Equal(t, 2.0, checks[1].News.At("x").AsNumber())
	require.Equal(t, 2.0, k.recorded("a").Inputs.At("x").AsNumber())
}

func TestGoalsWishWinsOverTheProvidersAboutDeletingFirst(t *testing.T) {
	first := []string{"delete b", "delete a", "create a", "create b"}
	last := []string{"create a", "create b", "delete b", "delete a"}
	tests := map[string]struct {
		property string
		with     []option
		want     []string
	}{
		"unset, the provider wants it":       {"dbr", nil, first},
		"unset, the provider does not":       {"immutable", nil, last},
		"true, the provider does not":        {"immutable", []option{deleteFirst(true)}, first},
		"false, the provider wants it":       {"dbr", []option{deleteFirst(false)}, last},
		"unset again, the provider wants it": {"dbr", []option{}, first},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			version := func(v int) func(s *script) {
				return func(s *script) {
					a := s.thing("a", in{test.property: v}, test.with...)
					s.thing("b", nil, from("immutableOf", a))
				}
			}
			k.up(program(version(1)))
			r := k.up(program(version(2)))
			require.Equal(t, test.want, r.changed())
			r.requireCounts(map[stages.Op]int{stages.OpReplace: 2})
			if test.want[0] == "delete b" {
				require.Equal(t, []string{
					"delete-replaced b", "delete-replaced a", "replace a", "create-replacement a", "replace b", "create-replacement b",
				}, r.steps())
				require.Equal(t, []string{"immutableOf"}, r.step(stages.OpCreateReplacement, "b").Keys)
				require.Equal(t, urnOf("a"), r.step(stages.OpCreateReplacement, "b").Reason.Cause)
			}
		})
	}
}

// The graph of row 28. Among the dependents of A, all properties except those named immutable… can change in place:
//
//	B(immutable A)  C(A)  D(immutable B)  E(immutable C)  F(after C)  G(immutable A, other B)  H(immutable D and C)  L(after A)
func TestDeleteFirstTakesExactlyTheDependentsThatCannotChangeInPlace(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("A", in{"dbr": v})
			b := s.thing("B", nil, from("immutableA", a))
			c := s.thing("C", nil, from("x", a))
			d := s.thing("D", nil, from("immutableB", b))
			s.thing("E", in{"immutableC": "c"}, func(r *stages.RegisterRequest) {
				r.PropertyDependencies["immutableC"] = []urn.URN{c.URN}
				r.Dependencies = []urn.URN{c.URN}
			})
			s.thing("F", nil, dependsOn(c))
			s.thing("G", nil, from("immutableA", a), from("x", b))
			s.thing("H", nil, from("immutableD", d), from("x", c))
			s.thing("L", in{"immutable": 1}, dependsOn(a))
		}
	}
	k.up(program(version(1)))
	r := k.preview(program(version(2)))
	require.Equal(t, 6, r.Changes[stages.OpReplace]+r.Changes[stages.OpUpdate]) // C is updated, the others are replaced
	r = k.up(program(version(2)))
	var deletes []string
	for _, s := range r.changed() {
		if s[:7] == "delete " {
			deletes = append(deletes, s[7:])
		}
	}
	require.ElementsMatch(t, []string{"A", "B", "D", "G", "H"}, deletes)
	requireOrder(t, deletes, [2]string{"H", "D"}, [2]string{"D", "B"}, [2]string{"G", "B"}, [2]string{"B", "A"})
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 5, stages.OpUpdate: 1, stages.OpSame: 3})
	// The probe replaces values that come from a member by an unknown, and no others.
	probes := asked[providers.DiffRequest](r, "H")
	require.Len(t, probes, 1)
	require.True(t, probes[0].NewInputs.At("immutableD").IsUnknown())
	require.False(t, probes[0].NewInputs.At("x").IsUnknown())
	require.True(t, probes[0].AllowUnknowns)
}

func TestPlainDependsOnIsNeverDeletedFirst(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", in{"immutable": 1}, dependsOn(s.thing("a", in{"dbr": v}))) }
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"delete a", "create a"}, r.changed())
}

func TestDependentRegisteredBeforeItsFormerRootStays(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	value := k.recorded("b").Inputs.At("immutableOf").AsString()
	r := k.up(program(func(s *script) {
		s.thing("b", in{"immutableOf": value})
		s.thing("a", in{"dbr": 2})
	}))
	require.Equal(t, []string{"delete a", "create a"}, r.changed())
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1, stages.OpReplace: 1})
}

func TestDroppedDependencyStillCountsUntilTheDependentRegisters(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	value := k.recorded("b").Inputs.At("immutableOf").AsString()
	r := k.up(program(func(s *script) {
		s.thing("a", in{"dbr": 2})
		s.thing("b", in{"immutableOf": value})
	}))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
}

func TestProtectedDependentStopsADeleteFirst(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v})), protect(true)) }
	}
	k.up(program(version(1)))
	text := "unable to replace resource \"" + string(urnOf("b")) + "\" as part of replacing \"" + string(urnOf("a")) +
		"\" as it is currently marked for protection"
	r := k.try(sluice.Preview, program(version(2)))
	r.requireFailure(text)
	r = k.fails(program(version(2)), text)
	require.Empty(t, r.changed())
	r.requireDiagnostic(stages.Error, 0, text)

	k.options.IgnoreProtect = true
	r = k.up(program(version(2)))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
}

func TestRecordedReplaceOnChangesMakesADependentGoToo(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", nil, from("of", s.thing("a", in{"dbr": v})), replaceOn("of")) }
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
}

func TestDependentsOfADependentDeletedFirstComeBackAfterIt(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": v})
			b := s.thing("b", nil, from("immutableOf", a))
			s.thing("c", nil, from("immutableOf", b))
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"delete c", "delete b", "delete a", "create a", "create b", "create c"}, r.changed())
	// Recreated resources are checked without old inputs, and not compared.
	for _, name := range []string{"b", "c"} {
		checks := asked[providers.CheckRequest](r, name)
		require.Zero(t, checks[len(checks)-1].Olds.Len())
	}
}

func TestDependentThatLeavesTheProgramWhileDeletedFirstIsForgotten(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	r := k.up(program(func(s *script) { s.thing("a", in{"dbr": 2}) }))
	require.Equal(t, []string{"delete b", "delete a", "create a"}, r.changed())
	require.Equal(t, []string{"a"}, k.names())
	var internal []string
	for _, e := range r.events {
		if s, ok := e.(stages.StepStarted); ok && s.Step.Internal && !s.Step.Type.IsProvider() {
			internal = append(internal, string(s.Step.Op)+" "+s.Step.URN.Name())
		}
	}
	require.Equal(t, []string{"remove-pending-replace b"}, internal)
}

func TestFailedDeleteOfADeleteFirstIsTriedAgain(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	k.up(program(one(in{"dbr": 1})))
	r := k.fails(program(one(in{"dbr": 2})), "refused to delete a")
	require.False(t, k.recorded("a").PendingReplacement)
	require.Equal(t, []string{"delete a"}, r.changed())
	r = k.up(program(one(in{"dbr": 2})))
	require.Equal(t, []string{"delete a", "create a"}, r.changed())
}

func TestFailedCreateOfADeleteFirstIsResumed(t *testing.T) {
	tests := map[string]struct {
		then    func(s *script)
		changed []string
		steps   []string
		left    []string
	}{
		"with the same goal":     {one(in{"dbr": 2}), []string{"create a"}, []string{"replace a", "create-replacement a"}, []string{"a"}},
		"with another goal":      {one(in{"dbr": 3}), []string{"create a"}, []string{"replace a", "create-replacement a"}, []string{"a"}},
		"with the recorded goal": {one(in{"dbr": 1}), []string{"create a"}, []string{"replace a", "create-replacement a"}, []string{"a"}},
		"removed":                {func(*script) {}, nil, nil, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
			k.up(program(one(in{"dbr": 1})))
			k.fails(program(one(in{"dbr": 2})), "refused to create a")
			require.True(t, k.recorded("a").PendingReplacement)
			r := k.up(program(test.then))
			require.Equal(t, test.changed, r.changed())
			require.Equal(t, test.steps, r.steps())
			require.Equal(t, test.left, k.names())
		})
	}
}

func TestCreateThatFailsAfterADependencyWasReplacedIsResumed(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "b", Nth: 2})
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": v}))) }
	}
	k.up(program(version(1)))
	k.fails(program(version(2)), "refused to create b")
	require.ElementsMatch(t, []string{"a", "a (delete)", "b"}, k.names())
	r := k.up(program(version(2)))
	require.Equal(t, []string{"create b", "delete b", "delete a"}, r.changed())
	require.Equal(t, []string{"a", "b"}, k.names())
}

func TestCopyAwaitingDeletionIsDeletedByUpdateAndDestroy(t *testing.T) {
	for name, op := range map[string]func(*kit) *ran{
		"update":  func(k *kit) *ran { return k.up(program(one(in{"immutable": 2}))) },
		"destroy": func(k *kit) *ran { return k.destroy() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
			k.up(program(one(in{"immutable": 1})))
			k.fails(program(one(in{"immutable": 2})), "refused to delete a")
			require.ElementsMatch(t, []string{"a", "a (delete)"}, k.names())
			r := op(k)
			require.Contains(t, r.steps(), "delete-replaced a")
			require.Contains(t, asked[providers.DeleteRequest](r, "a")[0].ID+" "+asked[providers.DeleteRequest](r, "a")[len(asked[providers.DeleteRequest](r, "a"))-1].ID, idOf("a", 1))
		})
	}
}

func TestADeleteHasTheObjectThatReplacedTheOldOne(t *testing.T) {
	for name, c := range map[string]struct {
		failures  []providertest.Failure
		successor property.Value
		operate   func(*kit) *ran
	}{
		"in the same run": {
			successor: property.Number(2), operate: func(k *kit) *ran { return k.up(program(one(in{"immutable": 2}))) },
		},
		"in a later run": {
			failures: []providertest.Failure{{Method: providers.MethodDelete, Name: "a", Nth: 1}}, successor: property.Number(2),
			operate: func(k *kit) *ran {
				k.fails(program(one(in{"immutable": 2})), "refused to delete a")
				return k.up(program(one(in{"immutable": 2})))
			},
		},
		"none": {operate: func(k *kit) *ran { return k.up(program(func(*script) {})) }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, c.failures...)
			k.up(program(one(in{"immutable": 1})))
			deletes := asked[providers.DeleteRequest](c.operate(k), "a")
			require.Equal(t, c.successor, deletes[len(deletes)-1].Successor.At("immutable"))
		})
	}
}

func TestCopyAwaitingDeletionThatIsNotTargetedStays(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	both := func(v int) func(*script) {
		return func(s *script) { s.thing("a", in{"immutable": v}); s.thing("b", nil) }
	}
	k.up(program(both(1)))
	k.fails(program(both(2)), "refused to delete a")
	targets, err := urn.CompileSet(string(urnOf("b")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	r := k.try(sluice.Destroy, nil)
	require.NoError(t, r.err)
	require.Equal(t, []string{"delete b"}, r.changed())
	require.ElementsMatch(t, []string{"a", "a (delete)"}, k.names())
}

func TestReplaceWithReplacesTogether(t *testing.T) {
	for _, property := range []string{"immutable", "dbr"} {
		t.Run(property, func(t *testing.T) {
			k := newKit(t)
			version := func(v int) func(s *script) {
				return func(s *script) { s.thing("b", in{"x": 1}, replaceWith(s.thing("a", in{property: v}))) }
			}
			k.up(program(version(1)))
			r := k.up(program(version(2)))
			r.requireCounts(map[stages.Op]int{stages.OpReplace: 2})
			require.Equal(t, []string{idOf("a", 2), idOf("b", 2)}, []string{k.recorded("a").ID, k.recorded("b").ID})
			if property == "immutable" {
				require.Equal(t, []string{"replaceWith"}, r.step(stages.OpReplace, "b").Keys)
				require.Equal(t, []string{"create a", "create b", "delete b", "delete a"}, r.changed())
			} else {
				require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
			}
		})
	}
}

// A dependent that is replaced with the root in any case is a member of the closure twice (steps.md 3.11 "cascade").
func TestADependentThatIsReplacedWithTheRootIsDeletedOnce(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": v})
			b := s.thing("b", nil, from("immutableOf", a), replaceWith(a))
			s.thing("c", nil, from("immutableOf", b), replaceWith(a))
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 3})
	require.Equal(t, []string{"delete c", "delete b", "delete a", "create a", "create b", "create c"}, r.changed())
	for _, name := range []string{"a", "b", "c"} {
		require.Equal(t, idOf(name, 2), k.recorded(name).ID)
	}
}

func TestDeletedWithSparesTheCallOfDependentsThatAreReplacedToo(t *testing.T) {
	for _, property := range []string{"immutable", "dbr"} {
		t.Run(property, func(t *testing.T) {
			k := newKit(t)
			version := func(v int) func(s *script) {
				return func(s *script) {
					target := s.thing("t", in{property: v})
					b := s.thing("b", nil, deletedWith(target))
					s.thing("c", nil, deletedWith(b))
				}
			}
			k.up(program(version(1)))
			r := k.try(sluice.Update, program(version(2)))
			require.NoError(t, r.err)
			r.requireCounts(map[stages.Op]int{stages.OpReplace: 3})
			require.Empty(t, asked[providers.DeleteRequest](r, "b"))
			require.Empty(t, asked[providers.DeleteRequest](r, "c"))
			require.Len(t, asked[providers.DeleteRequest](r, "t"), 1)
			require.Equal(t, []string{"t", "b", "c"}, k.names())
		})
	}
}

func TestDeletedWithAddedInTheSameUpdateReplacesButAsksForTheOldOnesDelete(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("t", in{"immutable": 1}); s.thing("b", nil) }))
	r := k.up(program(func(s *script) { s.thing("b", nil, deletedWith(s.thing("t", in{"immutable": 2}))) }))
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 2})
	require.Equal(t, []string{"deletedWith"}, r.step(stages.OpReplace, "b").Keys)
	require.Len(t, asked[providers.DeleteRequest](r, "b"), 1) // the old copy does not have the option yet
}

func TestTriggerReplacesWhenItsValueChanges(t *testing.T) {
	output := func(v property.Value) property.Value {
		return property.OutputOf(property.Output{Element: v, Known: true})
	}
	tests := map[string]struct {
		before, after any
		replaces      bool
	}{
		"same":             {"1", "1", false},
		"changed":          {"1", "2", true},
		"changed inside":   {in{"x": []any{1}}, in{"x": []any{2}}, true},
		"became secret":    {in{"x": 1}, in{"x": secret(1)}, false},
		"became an output": {"1", output(property.String("1")), false},
		"appeared":         {nil, "1", false},
		"went":             {"1", nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": 1}, trigger(test.before))))
			r := k.up(program(one(in{"x": 1}, trigger(test.after))))
			require.Equal(t, test.replaces, r.Changes[stages.OpReplace] == 1, "%v", r.Changes)
			if test.replaces {
				require.Empty(t, asked[providers.DiffRequest](r, "a"))
				require.Len(t, asked[providers.CheckRequest](r, "a"), 2)
			}
		})
	}
}

func TestUnknownTriggerReplacesInAPreviewAndFailsAnUpdate(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1}, trigger("1"))))
	p := program(one(in{"x": 1}, trigger(property.Computed())))
	k.preview(p).requireCounts(map[stages.Op]int{stages.OpReplace: 1})
	r := k.fails(p, "replacement trigger contains unknowns for "+string(urnOf("a")))
	require.Empty(t, r.changed())
}

func TestTaintedResourceIsReplacedEvenIfNothingDiffers(t *testing.T) {
	k := newKit(t)
	p := program(func(s *script) { s.thing("a", in{"x": 1}); s.thing("b", in{"x": 1}) })
	k.up(p)
	k.change("a", func(r *state.Resource) { r.Taint = true })
	r := k.up(p)
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 1, stages.OpSame: 1})
	require.Equal(t, []string{"id"}, r.step(stages.OpReplace, "a").Keys)
	require.Empty(t, asked[providers.DiffRequest](r, "a"))
	require.Zero(t, askedOnce[providers.CheckRequest](r, "a").Olds.Len())
	require.False(t, k.recorded("a").Taint)
	k.up(p).requireCounts(map[stages.Op]int{stages.OpSame: 2})
}

func TestTaintOfAResourceThatIsNotTargetedWaits(t *testing.T) {
	k := newKit(t)
	p := program(func(s *script) { s.thing("a", in{"x": 1}); s.thing("b", in{"x": 1}) })
	k.up(p)
	k.change("a", func(r *state.Resource) { r.Taint = true })
	targets, err := urn.CompileSet(string(urnOf("b")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	require.Empty(t, k.up(p).changed())
	require.True(t, k.recorded("a").Taint, "the mark is kept until the resource is included")
	k.options.Targeting.Targets = nil
	k.up(p).requireCounts(map[stages.Op]int{stages.OpReplace: 1, stages.OpSame: 1})
	require.False(t, k.recorded("a").Taint)
}

func TestTaintOfACopyAwaitingDeletionMeansNothing(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	k.up(program(one(in{"immutable": 1})))
	k.fails(program(one(in{"immutable": 2})), "refused to delete a")
	s := *k.state.Snapshot()
	s.Resources = slices.Clone(s.Resources)
	for i, r := range s.Resources {
		if r.Delete {
			c := r.Clone()
			c.Taint = true
			s.Resources[i] = c
		}
	}
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
	k.up(program(one(in{"immutable": 2}))).requireCounts(map[stages.Op]int{stages.OpSame: 1})
}

// Destroy returns the same type of error as an edit of the state.
func TestDeletingWhatIsProtectedIsRefusedWithAdvice(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"immutable": 1}, protect(true)) }))
	for _, r := range []*ran{k.fails(program(func(*script) {}), "because it is protected."), k.try(sluice.Destroy, nil)} {
		var refused *state.ProtectedError
		require.ErrorAs(t, r.err, &refused)
		require.Equal(t, &state.ProtectedError{URNs: []urn.URN{urnOf("a")}, Refused: state.RefusedDelete}, refused)
		require.Equal(t, []advice.Advice{advice.On(advice.Unprotect, urnOf("a"))}, advice.Of(r.err))
		r.requireAdvice(stages.Error, advice.On(advice.Unprotect, urnOf("a")))
	}
}

func TestProtectedResourceIsNotReplaced(t *testing.T) {
	text := "unable to replace resource \"" + string(urnOf("a")) + "\"\nas it is currently marked for protection."
	begin := func(t *testing.T) *kit {
		k := newKit(t)
		k.up(program(one(in{"immutable": 1}, protect(true))))
		return k
	}
	t.Run("an update stops", func(t *testing.T) {
		k := begin(t)
		r := k.fails(program(func(s *script) { s.thing("a", in{"immutable": 2}, protect(true)); s.thing("b", nil) }), text)
		require.Empty(t, r.changed())
		require.Len(t, asked[providers.CheckRequest](r, "a"), 1, "what is refused is not checked again for a new object")
		r.requireDiagnostic(stages.Error, 0, text)
		r.requireAdvice(stages.Error, advice.On(advice.RemoveProtection, urnOf("a")))
		require.ErrorAs(t, r.err, new(*state.ProtectedError))
	})
	t.Run("a preview goes on and fails", func(t *testing.T) {
		k := begin(t)
		r := k.try(sluice.Preview, program(func(s *script) { s.thing("a", in{"immutable": 2}, protect(true)); s.thing("b", nil) }))
		r.requireFailure(text)
		r.requireCounts(map[stages.Op]int{stages.OpReplace: 1, stages.OpCreate: 1})
	})
	t.Run("unless it is unprotected by the same update", func(t *testing.T) {
		begin(t).up(program(one(in{"immutable": 2}, protect(false)))).requireCounts(map[stages.Op]int{stages.OpReplace: 1})
	})
	t.Run("unless protection is ignored", func(t *testing.T) {
		k := begin(t)
		k.options.IgnoreProtect = true
		k.up(program(one(in{"immutable": 2}, protect(true)))).requireCounts(map[stages.Op]int{stages.OpReplace: 1})
	})
}

func TestRefusedInputsOfAReplacementStopIt(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1})))
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			if r.Olds.Len() == 0 {
				return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "not new"}}}, nil
			}
			return providers.CheckResponse{Inputs: r.News}, nil
		}
	}
	r := k.fails(program(one(in{"immutable": 2})), "not new")
	require.Empty(t, r.changed())
	require.False(t, k.recorded("a").Delete)
}

func TestFailedCreateReplacementLeavesTheOldStateAlone(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
	k.up(program(one(in{"immutable": 1})))
	before := k.recorded("a")
	k.fails(program(one(in{"immutable": 2})), "refused to create a")
	require.Equal(t, before, k.recorded("a"))
}

func TestUnhealthyReplacementIsRecordedBesideTheOldOne(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1})))
	k.fails(program(one(in{"immutable": 2, "unhealthy": true})), "a is unhealthy")
	require.ElementsMatch(t, []string{"a", "a (delete)"}, k.names())
	r := k.up(program(one(in{"immutable": 2})))
	require.Equal(t, []string{"update a", "delete a"}, r.changed())
}

func TestReplacementOfAnImportedResourceIsRefused(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1})))
	imported := func(r *stages.RegisterRequest) { r.ImportID = idOf("a", 1) }
	const text = "previously-imported resources that still specify an ID may not be replaced"
	k.fails(program(one(in{"immutable": 2}, imported)), text)
	r := k.preview(program(one(in{"immutable": 2}, imported)))
	r.requireDiagnostic(stages.Warning, 0, text)
	r.requireDiagnostic(stages.Warning, 0, "immutable: 1 => 2")
}
