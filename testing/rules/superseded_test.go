package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// The program declares a after the recorded dependents of a, which are replaced in the same edit: an object that is deleted first is deleted after
// the old objects of its dependents. Decision 0168.
func TestOldObjectsOfDependentsGoBeforeWhatIsDeletedFirst(t *testing.T) {
	before := program(func(s *script) {
		a := s.thing("a", in{"dbr": 1})
		b := s.thing("b", nil, from("value", a))
		s.thing("c", nil, from("value", b))
	})
	for name, c := range map[string]struct {
		after   func(*script)
		changed []string
	}{
		"a chain": {func(s *script) {
			b := s.thing("b", in{"immutable": 1})
			s.thing("c", in{"immutable": 1}, from("value", b))
			s.thing("a", in{"dbr": 2})
		}, []string{"create b", "create c", "delete c", "delete b", "delete a", "create a"}},
		"one that others are updated from": {func(s *script) {
			s.thing("c", nil, from("value", s.thing("b", in{"immutable": 1})))
			s.thing("a", in{"dbr": 2})
		}, []string{"create b", "update c", "delete b", "delete a", "create a"}},
		"one that deletes first itself": {func(s *script) {
			s.thing("c", nil, from("value", s.thing("b", in{"immutable": 1}, deleteFirst(true))))
			s.thing("a", in{"dbr": 2})
		}, []string{"delete b", "create b", "update c", "delete a", "create a"}},
		"one in whose place another is read": {func(s *script) {
			s.thing("c", nil, from("value", s.read("b", "foreign")))
			s.thing("a", in{"dbr": 2})
		}, []string{"update c", "delete b", "delete a", "create a"}},
		// The old object of b is still in use.
		"one that another one uses that comes later": {func(s *script) {
			b := s.thing("b", in{"immutable": 1})
			s.thing("a", in{"dbr": 2})
			s.thing("c", nil, from("value", b))
		}, []string{"create b", "delete a", "create a", "update c", "delete b"}},
		"one that is retained from now on": {func(s *script) {
			s.thing("c", nil, from("value", s.thing("b", in{"immutable": 1}, retain(true))))
			s.thing("a", in{"dbr": 2})
		}, []string{"create b", "update c", "delete a", "create a"}},
		// The program waits for the new a before it declares b.
		"one that is made from it again": {func(s *script) {
			b := s.thing("b", in{"immutable": 1}, from("value", s.thing("a", in{"dbr": 2})))
			s.thing("c", nil, from("value", b))
		}, []string{"delete a", "create a", "create b", "update c", "delete b"}},
	} {
		for _, withViews := range []bool{false, true} { // a view goes with its resource, and changes no order
			t.Run(fmt.Sprintf("%s, views %v", name, withViews), func(t *testing.T) {
				k := newKit(t)
				if withViews {
					publishing(k, usual())
				}
				k.exists("foreign", in{})
				k.up(before)
				isView := func(name string) bool { return strings.HasSuffix(name, "-view") }
				require.Equal(t, c.changed, slices.DeleteFunc(k.try(sluice.Update, program(c.after)).changed(), isView))
				require.ElementsMatch(t, []string{"a", "b", "c"}, slices.DeleteFunc(k.names(), isView))
				again := k.try(sluice.Update, program(c.after))
				require.NoError(t, again.err)
				require.False(t, again.HasChanges())
			})
		}
	}
}

// Children, and dependents of a component that contains a resource deleted first, count as dependents, as in the order of all deletes (steps.md 5.3).
func TestOldObjectsOfChildrenAndOfDependentsOfComponentsGoFirstToo(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(*script)
	}{
		"a child that has left": {
			func(s *script) { s.thing("b", nil, parent(s.thing("a", in{"dbr": 1}))) },
			func(s *script) {
				s.thing("b", in{"immutable": 1}, alias(urn.Alias{Parent: urnOf("a")}))
				s.thing("a", in{"dbr": 2})
			},
		},
		"what depended on the component": {
			func(s *script) {
				g := s.group("g")
				s.thing("a", in{"dbr": 1}, parent(g))
				s.thing("b", nil, dependsOn(g))
			},
			func(s *script) {
				s.thing("b", in{"immutable": 1})
				s.thing("a", in{"dbr": 2}, parent(s.group("g")))
			},
		},
		"what depended on a component of several": {
			func(s *script) {
				g := s.group("g")
				s.thing("first", nil, parent(g))
				s.thing("a", in{"dbr": 1}, parent(s.group("inner", parent(g))))
				s.thing("last", nil, parent(g))
				s.thing("b", nil, dependsOn(g))
			},
			func(s *script) {
				s.thing("b", in{"immutable": 1})
				g := s.group("g")
				s.thing("first", nil, parent(g))
				s.thing("a", in{"dbr": 2}, parent(s.group("inner", parent(g))))
				s.thing("last", nil, parent(g))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(c.before))
			require.Equal(t, []string{"create b", "delete b", "delete a", "create a"}, k.up(program(c.after)).changed())
		})
	}
}

// If the old object cannot be deleted, neither can its dependencies.
func TestWhatIsDeletedFirstStaysIfTheOldObjectOfADependentDoes(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Nth: 1})
	k.up(program(func(s *script) { s.thing("b", nil, from("value", s.thing("a", in{"dbr": 1}))) }))
	k.options.ContinueOnError = true
	after := program(func(s *script) {
		s.thing("b", in{"immutable": 1})
		require.Equal(t, stages.Fail, s.thing("a", in{"dbr": 2}).Result)
	})
	r := k.fails(after, "refused to delete b")
	require.Equal(t, []string{"create b", "delete b"}, r.changed())
	require.ElementsMatch(t, []string{"a", "b", "b (delete)"}, k.names())
	r = k.up(program(func(s *script) {
		s.thing("b", in{"immutable": 1})
		s.thing("a", in{"dbr": 2})
	}))
	require.Equal(t, []string{"delete b", "delete a", "create a"}, r.changed())
}

// Two replacements that delete first both find the old copy of a dependent, which is deleted once.
func TestAnOldCopyBelowTwoReplacementsIsDeletedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		k.up(program(func(s *script) {
			a := s.thing("a", in{"dbr": 1}, dependsOn(s.thing("root", nil)))
			s.thing("b", in{"dbr": 1}, dependsOn(a))
			s.thing("c", nil, dependsOn(a))
			s.thing("old c", nil, dependsOn(s.thing("old b", nil, dependsOn(a))))
		}))
		for _, name := range []string{"c", "b"} { // each state on the way is valid
			k.change("old "+name, func(r *state.Resource) {
				r.URN, r.Delete = urnOf(name), true
				if name == "c" {
					r.Dependencies = []urn.URN{urnOf("b")}
				}
			})
		}
		r := k.up(apart(func(s *script) { s.thing("a", in{"dbr": 2}) }, func(s *script) { s.thing("b", in{"dbr": 2}) }))
		deleted := slices.DeleteFunc(r.changed(), func(s string) bool { return !strings.HasPrefix(s, "delete ") })
		require.Len(t, deleted, 6, "%s", deleted)
		require.ElementsMatch(t, []string{"a", "b"}, k.names())
	})
}
