package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Row 1 of the behaviour checklist in steps.md 14; the others follow.
func TestResourceFoundUnderAliasStaysTheSame(t *testing.T) {
	tests := map[string]struct {
		before, after func(s *script)
		want          urn.URN
	}{
		"renamed": {
			before: func(s *script) { s.thing("old", in{"size": 1}) },
			after:  func(s *script) { s.thing("new", in{"size": 1}, alias(urn.Alias{Name: "old"})) },
			want:   urnOf("new"),
		},
		"renamed by URN": {
			before: func(s *script) { s.thing("old", in{"size": 1}) },
			after:  func(s *script) { s.thing("new", in{"size": 1}, alias(urn.Alias{URN: urnOf("old")})) },
			want:   urnOf("new"),
		},
		"retyped": {
			before: func(s *script) { s.thing("a", in{"size": 1}) },
			after: func(s *script) {
				s.register("test:index:Better", "a", in{"size": 1}, alias(urn.Alias{Type: "test:index:Thing"}))
			},
			want: urn.New("dev", "p", "", "test:index:Better", "a"),
		},
		"given a parent": {
			before: func(s *script) { s.group("g"); s.thing("a", in{"size": 1}) },
			after: func(s *script) {
				s.thing("a", in{"size": 1}, parent(s.group("g")), alias(urn.Alias{NoParent: true}))
			},
			want: urn.New("dev", "p", "test:index:Group", "test:index:Thing", "a"),
		},
		"taken from its parent": {
			before: func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) },
			after: func(s *script) {
				s.thing("a", in{"size": 1}, alias(urn.Alias{Parent: s.group("g").URN}))
			},
			want: urnOf("a"),
		},
		"of another stack and project": {
			before: func(s *script) { s.thing("a", in{"size": 1}) },
			after: func(s *script) {
				s.thing("b", in{"size": 1}, alias(urn.Alias{Name: "x", Stack: "other", Project: "q"}, urn.Alias{Name: "a"}))
			},
			want: urnOf("b"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(test.before))
			was := k.state.Snapshot()

			r := k.up(program(test.after))
			require.Empty(t, r.changed())
			var found *state.Resource
			for _, res := range k.state.Snapshot().Resources {
				if res.Custom && !res.Type.IsProvider() {
					require.Nil(t, found)
					found = res
				}
			}
			require.Equal(t, test.want, found.URN)
			require.Equal(t, test.want.Type(), found.Type)
			require.Equal(t, was.Resources[len(was.Resources)-1].ID, found.ID)
			require.Empty(t, found.Aliases)
			// Requests to providers have the new name.
			require.Equal(t, test.want, askedOnce[providers.DiffRequest](r, test.want.Name()).URN)
			require.Equal(t, map[stages.Op]int{stages.OpSame: len(k.names())}, r.Changes)

			require.Equal(t, r.Changes, k.up(program(test.after)).Changes)
		})
	}
}

func TestChildOfRenamedParentIsFoundThroughTheAliasThatMatched(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		app := s.group("app")
		logs := s.thing("app-logs", in{"size": 1}, parent(app))
		s.thing("deep", nil, parent(logs))
	}))
	before := k.recorded("app-logs").ID
	r := k.up(program(func(s *script) {
		web := s.group("web", alias(urn.Alias{Name: "never"}, urn.Alias{Name: "app"}))
		logs := s.thing("web-logs", in{"size": 1}, parent(web))
		s.thing("deep", nil, parent(logs))
	}))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 3})
	require.Empty(t, r.changed())
	require.Equal(t, before, k.recorded("web-logs").ID)
	require.Equal(t, urn.New("dev", "p", "test:index:Group$test:index:Thing", "test:index:Thing", "deep"), k.recorded("deep").URN)
	require.Equal(t, k.recorded("web-logs").URN, k.recorded("deep").Parent)
}

func TestOwnNameWinsOverAlias(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("a", in{"of": "a"})
		s.thing("b", in{"of": "b"})
	}))
	b := k.recorded("b").ID
	r := k.up(program(func(s *script) {
		s.thing("b", in{"of": "b"}, alias(urn.Alias{Name: "a"}))
		s.thing("c", in{"of": "c"}, alias(urn.Alias{Name: "a"}))
	}))
	require.Equal(t, b, k.recorded("b").ID)
	require.Equal(t, "b", askedOnce[providers.DiffRequest](r, "b").OldInputs.At("of").AsString())
	require.Equal(t, idOf("a", 1), k.recorded("c").ID)
	require.Equal(t, []string{"update c"}, r.changed())
}

func TestChainOfRenamesShiftsNothing(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"of": "a"}) }))
	r := k.up(program(func(s *script) {
		s.thing("b", in{"of": "a"}, alias(urn.Alias{Name: "a"}))
		s.thing("c", in{"of": "c"}, alias(urn.Alias{Name: "b"}))
	}))
	require.Equal(t, []string{"create c"}, r.changed())
	require.Equal(t, idOf("a", 1), k.recorded("b").ID)
	require.Equal(t, idOf("c", 1), k.recorded("c").ID)
}

func TestConflictingClaimsOfOldNamesAreRefused(t *testing.T) {
	tests := map[string]struct {
		program func(s *script)
		code    int
		text    string
	}{
		"two resources with one alias": {
			program: func(s *script) {
				s.thing("b", nil, alias(urn.Alias{Name: "a"}))
				s.thing("c", nil, alias(urn.Alias{Name: "a"}))
			},
			code: 2008,
			text: "Duplicate resource alias '" + string(urnOf("a")) + "' applied to resource with URN '" + string(urnOf("c")) +
				"' conflicting with resource with URN '" + string(urnOf("b")) + "'",
		},
		"alias of a registered resource": {
			program: func(s *script) {
				s.thing("a", nil)
				s.thing("b", nil, alias(urn.Alias{Name: "a"}))
			},
			code: 2008,
			text: "Duplicate resource alias '" + string(urnOf("a")) + "' applied to resource with URN '" + string(urnOf("b")) +
				"' conflicting with resource with URN '" + string(urnOf("a")) + "'",
		},
		"name that was claimed": {
			program: func(s *script) {
				s.thing("b", nil, alias(urn.Alias{Name: "a"}))
				s.thing("a", nil)
			},
			code: 2016,
			text: "Duplicate resource URN '" + string(urnOf("a")) + "' conflicting with alias on resource with URN '" + string(urnOf("b")) + "'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", nil) }))
			r := k.fails(program(test.program), "is invalid")
			r.requireDiagnostic(stages.Error, test.code, test.text)
			require.Empty(t, r.changed())
			require.Len(t, k.names(), 1)
		})
	}
}

func TestRefusedClaimIsCheckedWithWhatIsRecordedUnderItsName(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	r := k.fails(program(func(s *script) {
		s.thing("b", in{"size": 1}, alias(urn.Alias{Name: "a"}))
		s.thing("a", in{"size": 2})
	}), "is invalid")
	check := askedOnce[providers.CheckRequest](r, "a")
	require.Equal(t, property.Number(1), check.Olds.At("size"))
}

func TestDuplicateNamesAreRefused(t *testing.T) {
	tests := map[string]func(s *script){
		"registered twice":    func(s *script) { s.thing("a", nil); s.thing("a", nil) },
		"registered and read": func(s *script) { s.thing("a", nil); s.read("a", "id") },
		"a component and a custom": func(s *script) {
			s.register("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.Custom = false })
			s.thing("a", nil)
		},
	}
	for name, p := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			r := k.fails(program(p), "Duplicate resource URN")
			r.requireDiagnostic(stages.Error, 2001, "Duplicate resource URN '"+string(urnOf("a"))+"'; try giving it a unique name")
			require.Equal(t, []string{"a"}, k.names())
		})
	}
}

func TestComponentTurnedCustomIsReplaced(t *testing.T) {
	component := program(func(s *script) { s.group("a") })
	custom := program(func(s *script) { s.thing("b", in{"size": 1}, alias(urn.Alias{Name: "a", Type: "test:index:Group"})) })
	back := program(func(s *script) { s.group("c", alias(urn.Alias{Name: "b", Type: "test:index:Thing"})) })
	k := newKit(t)
	k.up(component)

	r := k.up(custom)
	require.Equal(t, []string{"create-replacement b", "replace b", "delete-replaced a"}, userSteps(r))
	require.Equal(t, []string{"create b"}, r.changed())
	require.Equal(t, []string{"provider"}, r.step(stages.OpReplace, "b").Keys)

	r = k.up(back)
	require.Equal(t, []string{"create-replacement c", "replace c", "delete-replaced b"}, userSteps(r))
	require.Equal(t, []string{"delete b"}, r.changed())
	require.Empty(t, k.recorded("c").ID)
}

func TestUpdateThatStopsBeforeAChildRegistersRenamesItAllTheSame(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil, parent(s.group("g"))) }))
	id := k.recorded("a").ID
	k.fails(program(func(s *script) {
		s.register("test:index:Club", "h", nil, func(r *stages.RegisterRequest) { r.Custom = false }, alias(urn.Alias{Name: "g", Type: "test:index:Group"}))
		s.err = errRefused
	}), "refused")
	child := k.recorded("a")
	require.Equal(t, k.recorded("h").URN, child.Parent)
	require.Equal(t, urn.New("dev", "p", "test:index:Club", "test:index:Thing", "a"), child.URN)

	r := k.up(program(func(s *script) {
		s.thing("a", nil, parent(s.register("test:index:Club", "h", nil, func(r *stages.RegisterRequest) { r.Custom = false }, alias(urn.Alias{Name: "g", Type: "test:index:Group"}))))
	}))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, id, k.recorded("a").ID)
}

func TestReferencesToRenamedResourcesAreRewritten(t *testing.T) {
	k := newKit(t)
	version := func(provider, base string) func(s *script) {
		return func(s *script) {
			_, ref := s.provider(provider, nil, alias(urn.Alias{Name: "prov"}))
			b := s.thing(base, nil, via(ref), alias(urn.Alias{Name: "base"}))
			s.thing("user", nil, via(ref), from("x", b), deletedWith(b), replaceWith(b))
		}
	}
	k.up(program(version("prov", "base")))
	before := map[string]string{"base": k.recorded("base").ID, "user": k.recorded("user").ID, "prov": k.recorded("prov").ID}

	r := k.up(program(version("prov2", "base2")))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 3})
	require.Empty(t, r.changed())
	user, base, prov := k.recorded("user"), k.recorded("base2"), k.recorded("prov2")
	require.Equal(t, before, map[string]string{"base": base.ID, "user": user.ID, "prov": prov.ID})
	require.Equal(t, []urn.URN{base.URN}, user.Dependencies)
	require.Equal(t, map[string][]urn.URN{"x": {base.URN}}, user.PropertyDependencies)
	require.Equal(t, base.URN, user.DeletedWith)
	require.Equal(t, []urn.URN{base.URN}, user.ReplaceWith)
	require.Equal(t, urn.ProviderRef{URN: prov.URN, ID: prov.ID}.String(), user.Provider)
	for _, s := range k.state.Snapshot().Resources {
		require.Empty(t, s.Aliases)
	}
}

func TestReferencesAreRewrittenBeforeTheirOwnersRegister(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		b := s.thing("base", nil)
		s.thing("user", nil, from("x", b), deletedWith(b), replaceWith(b))
	}))
	k.fails(program(func(s *script) {
		s.thing("base2", nil, alias(urn.Alias{Name: "base"}))
		s.err = errRefused
	}), "refused")
	user, base := k.recorded("user"), k.recorded("base2").URN
	require.Equal(t, []urn.URN{base}, user.Dependencies)
	require.Equal(t, map[string][]urn.URN{"x": {base}}, user.PropertyDependencies)
	require.Equal(t, base, user.DeletedWith)
	require.Equal(t, []urn.URN{base}, user.ReplaceWith)
}

func TestOldNodeProgramsMeanOtherParentsInAliases(t *testing.T) {
	old := func(r *stages.RegisterRequest) { r.AliasSpecs, r.IsNodeJS = false, true }
	t.Run("an empty parent is no parent", func(t *testing.T) {
		k := newKit(t)
		k.up(program(func(s *script) { s.group("g"); s.thing("a", nil) }))
		r := k.up(program(func(s *script) { s.thing("b", nil, parent(s.group("g")), alias(urn.Alias{Name: "a"}), old) }))
		require.Empty(t, r.changed())
	})
	t.Run("noParent is the resource's own parent", func(t *testing.T) {
		k := newKit(t)
		k.up(program(func(s *script) { s.thing("a", nil, parent(s.group("g"))) }))
		r := k.up(program(func(s *script) {
			s.thing("b", nil, parent(s.group("g")), alias(urn.Alias{Name: "a", NoParent: true}), old)
		}))
		require.Empty(t, r.changed())
	})
}

func TestChildOfMissingParentIsRefused(t *testing.T) {
	k := newKit(t)
	r := k.fails(program(func(s *script) {
		s.thing("a", nil, func(r *stages.RegisterRequest) { r.Parent = urnOf("nobody") })
	}), "could not find parent resource "+string(urnOf("nobody")))
	r.requireDiagnostic(stages.Error, 0, "could not find parent resource")
	require.Empty(t, r.did())
}

func TestReadIsFoundThroughItsParentsAlias(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("seed", nil) }))
	id := k.recorded("seed").ID
	under := func(g string) func(s *script) {
		return func(s *script) {
			s.thing("seed", nil)
			p := s.group(g, alias(urn.Alias{Name: "g"}))
			s.read(g+"-x", id, func(r *stages.ReadRequest) { r.Parent = p.URN })
		}
	}
	k.up(program(under("g")))
	r := k.up(program(under("h")))
	require.NotContains(t, r.steps(), "discard g-x")
	require.Len(t, k.all("h-x"), 1)
	require.Empty(t, k.all("g-x"))
}
