package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
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
	k.fails(program(three(1)), "was not specified in --target list").requireDiagnostic(stages.Error, 2013, "'"+string(urnOf("a"))+"'")
	k.options.Targeting.Targets = set(t, string(urnOf("c")))
	require.Equal(t, []string{"create c"}, k.up(program(three(1))).changed()) // the others may depend on each other
	require.Equal(t, []string{"c"}, k.names())
}

func TestTargetMayNotReferInAnyWayToWhatIsNotCreated(t *testing.T) {
	for name, refers := range map[string]func(to *stages.RegisterReply) option{
		"dependency":   func(to *stages.RegisterReply) option { return dependsOn(to) },
		"property":     func(to *stages.RegisterReply) option { return from("x", to) },
		"parent":       parent,
		"deleted with": deletedWith,
		"replace with": func(to *stages.RegisterReply) option { return replaceWith(to) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := program(func(s *script) {
				for _, n := range []string{"1", "2"} {
					s.thing("b"+n, nil, refers(s.thing("a"+n, nil)))
				}
			})
			k.options.Targeting.Targets = set(t, "**::b*")
			preview := k.try(sluice.Preview, p)
			preview.requireFailure("was not specified in --target list")
			preview.requireDiagnostic(stages.Error, 2013, "'"+string(urnOf("a1"))+"'")
			preview.requireDiagnostic(stages.Error, 2013, "'"+string(urnOf("a2"))+"'")
			out := k.fails(p, "was not specified in --target list")
			out.requireDiagnostic(stages.Error, 2013, "'"+string(urnOf("a1"))+"'")
			require.Empty(t, out.changed())
			require.Empty(t, k.names())
		})
	}
}

func TestTargetsGrowByDependentsAndChildrenAndNotByWhatSharesAProvider(t *testing.T) {
	declare := func(size int) source.Func {
		return program(func(s *script) {
			_, ref := s.provider("mine", nil)
			a := s.thing("a", in{"size": size}, via(ref))
			s.thing("child", in{"size": size}, via(ref), parent(a))
			user := s.thing("user", in{"size": size}, via(ref), from("x", a))
			s.thing("grandchild", in{"size": size}, via(ref), parent(user))
			s.thing("with", in{"size": size}, via(ref), deletedWith(a))
			s.thing("sibling", in{"size": size}, via(ref))
		})
	}
	k := newKit(t)
	k.up(declare(1))
	k.options.Targeting.Targets, k.options.Targeting.TargetDependents = set(t, "**::a"), true
	require.Equal(t, []string{"update a", "update child", "update user", "update grandchild", "update with"}, k.up(declare(2)).changed())

	k.options.Targeting.Targets = set(t, "**::mine") // it is a target itself, and has dependents
	require.Equal(t, []string{"update sibling"}, k.up(declare(2)).changed())
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
	const text = "which was not specified in --target list"
	needed := advice.On(advice.TargetNeeded, urnOf("a"), urnOf("b"))
	r := k.try(sluice.Preview, p)
	r.requireFailure(text)
	r.requireDiagnostic(stages.Error, 2013, text)
	r.requireAdvice(stages.Error, needed)
	r = k.fails(p, text)
	r.requireAdvice(stages.Error, needed)
	require.Empty(t, r.changed())

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
	r.requireAdvice(stages.Info, advice.On(advice.TargetDeleted, urnOf("b"), urnOf("c")))
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
	out.requireDiagnostic(stages.Error, 2014, string(urnOf("b")))
	require.Empty(t, out.changed())
	askedOnce[providers.ConfigureRequest](out, "default") // even for a delete that is refused (steps.md 5.2)
	k.options.Targeting.TargetDependents = true
	require.Equal(t, []string{"delete b", "delete a"}, k.destroy().changed())
	require.Equal(t, []string{"c"}, k.names())
}

func TestDestroyOfAParentAsksForItsChildren(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("child", nil, parent(s.group("g")))
		s.thing("c", nil)
	}))
	k.options.Targeting.Targets = set(t, "**::g")
	out := k.try(sluice.Destroy, nil)
	out.requireDiagnostic(stages.Error, 2014, "::child' will be destroyed but was not specified in --target list.")
	require.Equal(t, []string{"g", "child", "c"}, k.names())
	k.options.Targeting.TargetDependents = true
	require.Equal(t, []string{"delete child"}, k.destroy().changed())
	require.Equal(t, []string{"c"}, k.names())
}

func TestOldCopiesOfWhatIsNotATargetAreLeftAsTheyAre(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	s := *k.state.Snapshot()
	old := k.recorded("a").Clone()
	old.ID, old.Delete = "old", true
	require.NoError(t, k.cloud.Put(providertest.Record{ID: old.ID, URN: old.URN, Type: old.Type, Inputs: old.Inputs}))
	s.Resources = append(slices.Clone(s.Resources), old)
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
	k.options.Targeting.Targets = set(t, string(urnOf("c")))
	out := k.destroy()
	require.Equal(t, []string{"delete c"}, out.changed())
	same := slices.DeleteFunc(out.steps(), func(s string) bool { return s != "same a" })
	require.Len(t, same, 2)
	require.ElementsMatch(t, []string{"a", "a (delete)", "b"}, k.names())
	require.Equal(t, "old", k.all("a")[1].ID)
}

func TestTargetThatDoesNotExistIsRefused(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Targets = set(t, string(urnOf("nobody")))
	for _, op := range []operation{sluice.Update, sluice.Destroy, sluice.Refresh} {
		out := k.try(op, program(three(1)))
		out.requireFailure("one or more targets could not be found")
		out.requireDiagnostic(stages.Error, 2011, "Did you forget to escape $ in your shell?")
	}
	child := "urn:pulumi:dev::p::test:index:Group$test:index:Thing::nobody"
	k.options.Targeting.Targets = set(t, child)
	out := k.try(sluice.Refresh, nil)
	out.requireFailure("one or more targets could not be found")
	out.requireDiagnostic(stages.Error, 2010, "Target '"+child+"' could not be found in the stack.")
	require.NotContains(t, out.diagnostics(stages.Error)[0].Message, "escape")
	for near, code := range map[string]int{"bb": 2010, string(urnOf("bb")): 2011} {
		k.options.Targeting.Targets = set(t, near)
		k.try(sluice.Update, program(three(1))).requireDiagnostic(stages.Error, code, string(urnOf("b")))
	}
	k.options.Targeting.Targets = set(t, "xyz")
	k.try(sluice.Update, program(three(1))).requireAdvice(stages.Error, advice.On(advice.ListResources))
}

func TestGlobThatMatchesNothingIsFine(t *testing.T) {
	for _, glob := range []string{"**::nobody", "urn:pulumi:dev::p::test:index:Group$test:index:Thing::*"} {
		k := newKit(t)
		k.up(program(three(1)))
		k.options.Targeting.Targets = set(t, glob)
		require.Empty(t, k.up(program(three(2))).changed(), glob)
		require.NoError(t, k.try(sluice.Refresh, nil).err, glob)
		require.Empty(t, k.destroy().changed(), glob)
		require.Equal(t, []string{"a", "b", "c"}, k.names(), glob)
	}
}

// A $ in a pattern matches itself, as in the types of children.
func TestGlobsFindChildrenByTheTypesOfTheirParents(t *testing.T) {
	family := func(size int) source.Func {
		return program(func(s *script) {
			g := s.group("g")
			s.thing("inner-1", in{"size": size}, parent(g))
			s.thing("inner-2", in{"size": size}, parent(g))
			s.thing("outer", in{"size": size})
		})
	}
	for glob, want := range map[string][]string{
		"urn:pulumi:dev::p::test:index:Group$test:index:Thing::inner-*": {"update inner-1", "update inner-2"},
		"urn:pulumi:*::p::test:index:Group$test:index:Thing::inner-1":   {"update inner-1"},
		"urn:pulumi:dev::p::*:index:Thing::*":                           {"update outer"},
		"urn:pulumi:dev::p::**:Thing::*":                                {"update inner-1", "update inner-2", "update outer"},
		"**$**":                                                         {"update inner-1", "update inner-2"},
		"urn:pulumi:dev::p::*::inner-1":                                 nil,
	} {
		t.Run(glob, func(t *testing.T) {
			k := newKit(t)
			k.up(family(1))
			k.options.Targeting.Targets = set(t, glob)
			require.Equal(t, want, k.up(family(2)).changed())
		})
	}
}

// The other targets that the program declares have been created by the time the unknown one is found. Targets that the
// program no longer declares are deleted too.
func TestUnknownTargetDoesNotKeepTheOthersFromBeingTreated(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Targets = set(t, string(urnOf("nobody")), string(urnOf("a")), string(urnOf("c")))
	k.options.Targeting.TargetDependents = true
	out := k.try(sluice.Update, program(func(s *script) { s.thing("a", in{"size": 2}) }))
	out.requireFailure("one or more targets could not be found")
	require.Contains(t, out.changed(), "update a")
	require.Contains(t, out.changed(), "delete c")
	k.requireTruth()
}

func TestUnknownTargetIsRefusedInAnEmptyStackToo(t *testing.T) {
	k := newKit(t)
	k.options.Targeting.Targets = set(t, string(urnOf("nobody")))
	out := k.try(sluice.Update, program(three(1)))
	out.requireFailure("one or more targets could not be found")
	out.requireDiagnostic(stages.Error, 2011, "Did you forget to escape $ in your shell?")
	require.Empty(t, out.changed())
}

func TestRequestedReplacementsAreThoseNamed(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Replace = set(t, string(urnOf("a")), string(urnOf("c")))
	require.ElementsMatch(t, []string{"create a", "create c", "delete a", "delete c"}, k.up(program(three(1))).changed())

	k.options.Targeting.Targets = set(t, string(urnOf("c"))) // a resource that is not a target is not replaced either
	require.Equal(t, []string{"create c", "delete c"}, k.up(program(three(1))).changed())
}

func TestParentOfATargetIsLeftAsItIsRecorded(t *testing.T) {
	k := newKit(t)
	family := func(size int) func(s *script) {
		return func(s *script) {
			g := s.group("g", func(r *stages.RegisterRequest) { r.Inputs = values(in{"size": size}) })
			s.thing("b", in{"size": size}, parent(s.thing("a", in{"size": size}, parent(g))))
		}
	}
	k.up(program(family(1)))
	k.options.Targeting.Targets = set(t, string(k.recorded("b").URN))
	out := k.up(program(family(2)))
	require.Equal(t, []string{"update b"}, out.changed())
	require.Equal(t, []string{"g", "a", "b"}, k.names())
	for name, size := range map[string]int{"g": 1, "a": 1, "b": 2} {
		require.Equal(t, property.Number(float64(size)), k.recorded(name).Inputs.At("size"), name)
	}
	require.Equal(t, k.recorded("a").URN, k.recorded("b").Parent)
}

func TestRenamedParentThatIsNoTargetKeepsItsNameAndItsChildren(t *testing.T) {
	family := func(group string, size int, with ...option) func(s *script) {
		return func(s *script) {
			g := s.group(group, with...)
			s.thing("a", in{"size": size}, parent(g))
			s.thing("b", in{"size": size}, parent(g))
		}
	}
	renamed := alias(urn.Alias{Name: "g"})
	for name, c := range map[string]func(*stages.Targeting, urn.URN){
		"targets":  func(sel *stages.Targeting, a urn.URN) { sel.Targets = set(t, string(a)) },
		"excludes": func(sel *stages.Targeting, _ urn.URN) { sel.Excludes = set(t, "**::h", "**::b") },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(family("g", 1)))
			c(&k.options.Targeting, k.recorded("a").URN)
			require.Equal(t, []string{"update a"}, k.up(program(family("h", 2, renamed))).changed())
			require.Equal(t, []string{"g", "a", "b"}, k.names())
			require.Equal(t, k.recorded("g").URN, k.recorded("a").Parent)

			k.options.Targeting = stages.Targeting{}
			require.Equal(t, []string{"update b"}, k.up(program(family("h", 2, renamed))).changed())
			require.Equal(t, []string{"h", "a", "b"}, k.names())
		})
	}
}

func TestNobodyAsksWhetherARenamedResourceThatIsNoTargetWouldBeReplaced(t *testing.T) {
	pair := func(size int, dependent string, with ...option) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"size": size})
			s.thing(dependent, nil, append(with, from("immutable", a))...)
		}
	}
	k := newKit(t)
	k.up(program(pair(1, "b")))
	k.options.Targeting.Targets = set(t, string(urnOf("a")))
	r := k.up(program(pair(2, "c", alias(urn.Alias{Name: "b"}))))
	require.Equal(t, []string{"update a"}, r.changed())
	require.NotContains(t, r.did(), "diff b")
	require.NotContains(t, r.did(), "diff c")
}

func TestWhatATargetNeedsIsCarriedThoughNothingDeclaresIt(t *testing.T) {
	for name, left := range map[string]bool{"by a target": true, "by what is not a target": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				b := s.thing("b", nil, dependsOn(s.thing("a", nil)))
				s.thing("c", in{"size": 1}, dependsOn(b))
				s.thing("d", in{"size": 1})
			}))
			target, want := "c", "update c"
			if !left {
				target, want = "d", "update d"
			}
			k.options.Targeting.Targets = set(t, string(urnOf(target)))
			out := k.up(program(func(s *script) {
				s.thing("c", in{"size": 2}, func(r *stages.RegisterRequest) { r.Dependencies = []urn.URN{urnOf("b")} })
				s.thing("d", in{"size": 2})
			}))
			require.Equal(t, []string{want}, out.changed())
			require.ElementsMatch(t, []string{"a", "b", "c", "d"}, k.names())
			require.Equal(t, []urn.URN{urnOf("b")}, k.recorded("c").Dependencies)
			require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("b").Dependencies)
		})
	}
}

func TestWhatWasCarriedMayRegisterLater(t *testing.T) {
	for name, targets := range map[string][]string{"and is a target": {"a", "c"}, "and is none": {"c"}} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				a := s.thing("a", in{"size": 1})
				s.thing("b", in{"size": 1}, dependsOn(a))
				s.thing("c", in{"size": 1})
			}))
			k.options.Targeting.Targets = set(t, literals(targets)...)
			out := k.up(program(func(s *script) {
				s.thing("b", in{"size": 2}) // not a target: it continues to depend on a
				s.thing("a", in{"size": 2})
				s.thing("c", in{"size": 2})
			}))
			var want []string
			for _, n := range targets {
				want = append(want, "update "+n)
			}
			require.Equal(t, want, out.changed())
			require.ElementsMatch(t, []string{"a", "b", "c"}, k.names())
			require.Equal(t, property.Number(float64(len(targets))), k.recorded("a").Inputs.At("size"))
			require.Len(t, out.Why(urnOf("a")).Links, 1, "carrying it was no decision about it")
			require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("b").Dependencies)
		})
	}
}

// literals returns the URNs of things with these names, as patterns.
func literals(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, string(urnOf(n)))
	}
	return out
}

// The program may read a resource, managed or not, after something that it leaves out has carried that forward.
func TestWhatWasCarriedMayBeReadLater(t *testing.T) {
	for name, managed := range map[string]bool{"external": false, "managed": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.exists("one", in{"x": 1})
			k.exists("other", in{"x": 2})
			k.up(program(func(s *script) {
				of := s.read
				if managed {
					of = func(name, _ string, _ ...func(*stages.ReadRequest)) *stages.RegisterReply {
						return s.thing(name, in{"x": 1})
					}
				}
				s.thing("user", nil, dependsOn(of("r", "one")))
				s.thing("target", nil)
			}))
			var j judged
			k.policies(j.analyzer())
			k.options.Targeting.Targets = set(t, string(urnOf("target")))
			var got *stages.InvokeReply
			k.up(program(func(s *script) {
				s.thing("user", nil)
				s.read("r", "other")
				s.thing("target", in{"x": 3})
				if s.err == nil {
					got, s.err = s.getResource(urnOf("r"))
				}
			}))
			require.Equal(t, "other", got.Return.At("id").AsString())
			require.Equal(t, 2.0, got.Return.At("state").AsMap().At("x").AsNumber())
			require.ElementsMatch(t, []string{"user", "target"}, j.names(), "the read one is not managed")
			recorded := slices.DeleteFunc(k.all("r"), func(r *state.Resource) bool { return r.Delete })
			require.Len(t, recorded, 1)
			require.Equal(t, "other", recorded[0].ID)
			require.True(t, recorded[0].External)
		})
	}
}

// Stack policies judge the managed resources, those that are carried forward included.
func TestStackPoliciesDoNotSeeExternalResourcesThatAreCarried(t *testing.T) {
	k := newKit(t)
	k.exists("one", in{"x": 1})
	k.up(program(func(s *script) {
		s.thing("user", nil, dependsOn(s.read("r", "one"), s.thing("managed", nil)))
		s.thing("target", nil)
	}))
	var j judged
	k.policies(j.analyzer())
	k.options.Targeting.Targets = set(t, string(urnOf("target")))
	k.up(program(func(s *script) { s.thing("user", nil); s.thing("target", in{"x": 3}) }))
	require.ElementsMatch(t, []string{"user", "target", "managed"}, j.names())
	require.NotNil(t, k.recorded("r"))
}

func TestUntargetedResourceMayNotChangeItsProvider(t *testing.T) {
	k := newKit(t)
	declare := func(v string, more ...string) source.Func {
		return program(func(s *script) {
			s.thing("a", in{"size": 1}, version(v))
			for _, n := range more {
				s.thing(n, nil, version(v))
			}
		})
	}
	k.up(declare("1.0.0"))
	before, old := k.state.Snapshot(), k.recorded("a").Provider
	k.options.Targeting.Targets = set(t, string(urnOf("b")))
	text := "provider " + old + " for resource " + string(urnOf("a")) + " has not been registered yet, this is due to a change of " +
		"providers mixed with --target. Change your program back to the original providers"
	out := k.fails(declare("2.0.0", "b"), text)
	require.Empty(t, out.changed())
	require.Equal(t, before.Resources[1], k.recorded("a"))
	require.Equal(t, []string{"create b"}, k.up(declare("1.0.0", "b")).changed())
}

// A resource that is left out keeps its recorded references, and together with new ones they may form a cycle: a, on
// which b depends, cannot come to depend on b as long as b is left out.
func TestTargetThatWouldDependOnItselfIsRefused(t *testing.T) {
	turned := program(func(s *script) {
		b := s.thing("b", in{"size": 1})
		s.thing("a", in{"size": 2}, dependsOn(s.thing("c", in{"size": 1}, dependsOn(b))))
	})
	k := newKit(t)
	k.up(program(three(1)))
	before := k.recorded("a")
	k.options.Targeting.Targets = set(t, string(urnOf("a")), string(urnOf("c")))
	const refusal = "would depend on itself: a depends on c depends on b depends on a."
	k.try(sluice.Preview, turned).requireFailure(refusal)
	require.Empty(t, k.fails(turned, refusal).changed())
	require.Equal(t, before.Inputs, k.recorded("a").Inputs)

	k.options.Targeting = stages.Targeting{}
	k.up(turned)
	require.Equal(t, []urn.URN{urnOf("c")}, k.recorded("a").Dependencies)
}

// Whether a registration continues a resource kept for its dependents is known only at the end of the run.
func TestWhatIsKeptForOthersAndDeclaredLaterIsShownOnce(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		x := s.thing("x", in{"size": 1})
		s.thing("y", nil, dependsOn(s.thing("d", nil, dependsOn(x))))
		s.thing("t", in{"size": 1})
	}))
	k.options.Targeting.Targets = set(t, string(urnOf("t")))
	r := k.up(program(func(s *script) {
		s.thing("y", nil)
		s.thing("t", in{"size": 2})
		s.thing("x", in{"size": 1})
	}))
	shown := map[string]int{}
	for _, e := range r.events {
		if d, ok := e.(stages.StepDone); ok {
			shown[d.Step.URN.Name()]++
		}
	}
	require.Equal(t, map[string]int{"default": 1, "d": 1, "t": 1, "x": 1, "y": 1}, shown)
}

func TestDependentsAreProbedWithTheConfigurationOfTheProgram(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		_, ref := s.provider("p", in{"region": "1"})
		s.thing("b", nil, from("x", s.thing("a", nil, via(ref))), via(ref))
	}))
	k.options.Targeting.Targets, k.options.Targeting.TargetDependents = set(t, string(urnOf("a"))), true
	r := k.try(sluice.Update, program(func(s *script) { s.provider("p", in{"region": "2"}) }))
	require.NoError(t, r.err)
	require.Equal(t, values(in{"region": "2"}), askedOnce[providers.ConfigureRequest](r, "p").Inputs)
}

// A targeted destroy deletes all that depends on its targets.
func TestATargetedDestroyDoesNotDependOnDiff(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", nil))) }))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, errors.New("cannot compare")
		}
	}
	k.options.Targeting.Targets = set(t, string(urnOf("a")), string(urnOf("b")))
	r := k.destroy()
	require.Equal(t, []string{"delete b", "delete a"}, r.changed())
}

// The replacement of a provider would delete what uses it. Whether that is part of the destroy depends on the registrations before the provider's, not
// on those that have come while it was decided.
func TestTargetsDoNotGrowWhileSomethingIsDecided(t *testing.T) {
	var ends []string
	for _, slow := range []time.Duration{0, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t)
			declare := func(region int) source.Func {
				return func(ctx context.Context, m stages.Monitor) error {
					var asked script
					var ref string
					var asking conc.WaitGroup
					asking.Go(func() {
						asked = script{ctx: ctx, m: m}
						_, ref = asked.provider("prov", in{"dbrRegion": region})
					})
					time.Sleep(time.Second)
					s := &script{ctx: ctx, m: m}
					between := s.thing("between", nil, dependsOn(s.thing("target", nil)))
					asking.Wait()
					s.thing("user", nil, via(ref), dependsOn(between))
					return errors.Join(asked.err, s.err)
				}
			}
			k.up(declare(1))
			k.fake = func(f *providertest.Fake) {
				f.OnDiffConfig = func(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
					time.Sleep(slow)
					return f.Base.DiffConfig(ctx, r)
				}
			}
			k.options.RunProgram = true
			k.options.Targeting.Targets, k.options.Targeting.TargetDependents = set(t, string(urnOf("target"))), true
			r := k.try(sluice.Destroy, declare(2))
			ends = append(ends, fmt.Sprint(r.err, r.changed()))
		})
	}
	require.Equal(t, ends[0], ends[1])
}
