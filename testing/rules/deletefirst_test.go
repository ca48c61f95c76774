package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestRenamedDependentThatWasDeletedFirstIsMadeAgain(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	r := k.up(program(func(s *script) {
		s.thing("b2", nil, from("immutableOf", s.thing("a", in{"dbr": 2})), alias(urn.Alias{Name: "b"}))
	}))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b2"}, r.changed())
	require.Equal(t, []string{"a", "b2"}, k.names())
}

// Names determine whether a deleted state counts (steps.md 3.6).
func TestRenamedDependentThatWasDeletedFirstIsComparedWithWhatItWas(t *testing.T) {
	for name, test := range map[string]struct {
		before, after func(a *stages.RegisterReply) option
		keys          []string
		diffs         int
	}{
		"that differs": {
			before: func(a *stages.RegisterReply) option { return from("immutableOf", a) },
			after:  func(a *stages.RegisterReply) option { return from("immutableOf", a) },
			keys:   []string{"immutableOf"}, diffs: 1,
		},
		"that differs in nothing any more": {
			before: func(a *stages.RegisterReply) option { return from("immutableOf", a) },
			after: func(a *stages.RegisterReply) option {
				return func(r *stages.RegisterRequest) { from("immutableOf", a)(r); ignore("immutableOf")(r) }
			},
			diffs: 1,
		},
		"that is replaced with it": {
			before: func(a *stages.RegisterReply) option { return replaceWith(a) },
			after:  func(a *stages.RegisterReply) option { return replaceWith(a) },
			keys:   []string{"replaceWith"},
		},
		"that wants to be deleted first too": {
			before: func(a *stages.RegisterReply) option { return from("dbrOf", a) },
			after:  func(a *stages.RegisterReply) option { return from("dbrOf", a) },
			keys:   []string{"dbrOf"}, diffs: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, preview := range []bool{true, false} {
				k := newKit(t)
				k.up(program(func(s *script) { s.thing("b", in{"size": 1}, test.before(s.thing("a", in{"dbr": 1}))) }))
				p := program(func(s *script) {
					s.thing("b2", in{"size": 1}, alias(urn.Alias{Name: "b"}), test.after(s.thing("a", in{"dbr": 2})))
				})
				var r *ran
				if preview {
					r = k.preview(p)
				} else {
					r = k.up(p)
					require.Equal(t, []string{"delete b", "delete a", "create a", "create b2"}, r.changed())
					require.Equal(t, []string{"a", "b2"}, k.names())
				}
				r.requireCounts(map[stages.Op]int{stages.OpReplace: 2})
				require.ElementsMatch(t, test.keys, r.step(stages.OpCreateReplacement, "b2").Keys)
				require.Len(t, asked[providers.DiffRequest](r, "b2"), test.diffs)
				checks := asked[providers.CheckRequest](r, "b2")
				require.Len(t, checks, 2)
				require.NotZero(t, checks[0].Olds.Len())
				require.Zero(t, checks[1].Olds.Len())
			}
		})
	}
}

// A partner by replaceWith uses the old name of the root: it is replaced when it registers (steps.md 3.11 "cascade").
func TestRenamedRootTakesWhatCannotStayWithIt(t *testing.T) {
	k := newKit(t)
	version := func(name string, v int) func(s *script) {
		return func(s *script) {
			a := s.thing(name, in{"dbr": v}, alias(urn.Alias{Name: "a"}))
			s.thing("by property", nil, from("immutableOf", a))
			s.thing("by replaceWith", nil, replaceWith(a))
			s.thing("by deletedWith", nil, deletedWith(a))
		}
	}
	k.up(program(version("a", 1)))
	k.cloudFollows("by deletedWith", "a")
	r := k.up(program(version("a2", 2)))
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 4})
	requireOrder(t, r.changed(), [2]string{"delete by property", "delete a"}, [2]string{"delete a", "create a2"},
		[2]string{"create by replaceWith", "delete by replaceWith"})
	require.Empty(t, asked[providers.DeleteRequest](r, "by deletedWith"))
}

func TestPartnerRegisteredBeforeTheRootStays(t *testing.T) {
	for name, with := range map[string]func(a option, b option) option{
		"replaceWith": func(a, _ option) option { return a }, "deletedWith": func(_, b option) option { return b },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				a := s.thing("a", in{"dbr": 1})
				s.thing("b", nil, with(replaceWith(a), deletedWith(a)))
			}))
			r := k.up(program(func(s *script) {
				s.thing("b", nil)
				s.thing("a", in{"dbr": 2})
			}))
			require.Equal(t, []string{"delete a", "create a"}, r.changed())
			require.Equal(t, idOf("b", 1), k.recorded("b").ID)
		})
	}
}

func TestCopyAwaitingDeletionGoesWithTheRootItWasMadeFrom(t *testing.T) {
	begin := func(t *testing.T, live func(s *script)) *kit {
		k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Nth: 1})
		k.up(program(func(s *script) { s.thing("b", in{"immutable": 1}, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
		k.fails(program(live), "refused to delete b")
		require.ElementsMatch(t, []string{"a", "b", "b (delete)"}, k.names())
		return k
	}
	t.Run("and so does the live one", func(t *testing.T) {
		version := func(v int) func(s *script) {
			return func(s *script) { s.thing("b", in{"immutable": 2}, from("immutableOf", s.thing("a", in{"dbr": v}))) }
		}
		k := begin(t, version(1))
		r := k.up(program(version(2)))
		deletes := asked[providers.DeleteRequest](r, "b")
		require.Len(t, deletes, 2)
		require.ElementsMatch(t, []string{idOf("b", 1), idOf("b", 2)}, []string{deletes[0].ID, deletes[1].ID})
		require.Equal(t, []string{"delete b", "delete b", "delete a", "create a", "create b"}, r.changed())
		require.Equal(t, []string{"a", "b"}, k.names())
	})
	t.Run("while a live one that has nothing to do with it stays", func(t *testing.T) {
		version := func(v int) func(s *script) {
			return func(s *script) { s.thing("a", in{"dbr": v}); s.thing("b", in{"immutable": 2}) }
		}
		k := begin(t, version(1))
		r := k.up(program(version(2)))
		require.Equal(t, []string{"delete b", "delete a", "create a"}, r.changed())
		require.Equal(t, idOf("b", 1), askedOnce[providers.DeleteRequest](r, "b").ID)
		require.Equal(t, idOf("b", 2), k.recorded("b").ID)
		r.requireCounts(map[stages.Op]int{stages.OpSame: 1, stages.OpReplace: 1, stages.OpDelete: 1})
	})
}

func TestWholeChainOfAFailedDeleteFirstIsResumed(t *testing.T) {
	for _, failing := range []string{"a", "b", "c"} {
		t.Run("create of "+failing, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: failing, Nth: 2})
			version := func(v int) func(s *script) {
				return func(s *script) {
					b := s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v})))
					s.thing("c", nil, from("immutableOf", b))
				}
			}
			k.up(program(version(1)))
			r := k.fails(program(version(2)), "refused to create "+failing)
			require.Equal(t, []string{"delete c", "delete b", "delete a"}, r.changed()[:3])
			r = k.preview(program(version(2)))
			require.NotZero(t, r.Changes[stages.OpReplace])
			r = k.up(program(version(2)))
			for _, c := range r.changed() {
				require.Contains(t, []string{"create a", "create b", "create c"}, c)
			}
			require.Equal(t, []string{"a", "b", "c"}, k.names())
			k.up(program(version(2))).requireCounts(map[stages.Op]int{stages.OpSame: 3})
		})
	}
}

func TestDeleteThatFailsInTheMiddleOfADeleteFirstIsResumed(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Nth: 1})
	version := func(v int) func(s *script) {
		return func(s *script) {
			b := s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v})))
			s.thing("c", nil, from("immutableOf", b))
		}
	}
	k.up(program(version(1)))
	r := k.fails(program(version(2)), "refused to delete b")
	require.Equal(t, []string{"delete c", "delete b"}, r.changed())
	require.Equal(t, []string{"a", "b", "c (pending)"}, k.names())
	r = k.up(program(version(2)))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b", "create c"}, r.changed())
}

func TestDestroyForgetsWhatWasDeletedFirst(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v}))) }
	}
	k.up(program(version(1)))
	k.fails(program(version(2)), "refused to create a")
	r := k.destroy()
	require.Empty(t, r.changed())
	require.Empty(t, k.state.Snapshot().Resources)
}

func TestExternalAndComponentDependentsAreNotDeletedFirst(t *testing.T) {
	k := newKit(t)
	k.exists("x", nil)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": v})
			s.group("g", dependsOn(a))
			s.read("r", "x")
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"delete a", "create a"}, r.changed())
}

func TestDependentsOfAReplacedComponentPartnerComeBack(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": v})
			g := s.group("g", replaceWith(a))
			s.thing("child", nil, parent(g))
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	require.Equal(t, []string{"delete a", "create a"}, r.changed())
	require.Equal(t, []string{"a", "g", "child"}, k.names())
	r.requireCounts(map[stages.Op]int{stages.OpReplace: 2, stages.OpSame: 1})
}
