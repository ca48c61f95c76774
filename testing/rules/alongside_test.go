package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// madeOfA declares b, which cannot exist without a.
var madeOfA = program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) })

// A delete-before-replace includes a dependent that is not part of the operation. The dependent is created again as the program declares
// it (decision 0167).
func TestWhatGoesAlongThoughItIsLeftOutIsMadeAsItIsDeclared(t *testing.T) {
	targets := func(k *kit) { k.options.Targeting.Targets = set(k.t, "**::a") }
	excludes := func(k *kit) { k.options.Targeting.Excludes = set(k.t, "**::b*", "**::c") }
	for name, choose := range map[string]func(*kit){"not a target": targets, "excluded": excludes} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := func(v int) func(context.Context, stages.Monitor) error {
				return program(func(s *script) {
					a := s.thing("a", in{"dbr": v})
					b := s.thing("b", in{"x": v}, from("immutableOf", a))
					s.thing("c", in{"y": v}, from("immutableOf", b))
					s.thing("beside", in{"x": 1})
				})
			}
			k.up(p(1))
			choose(k)
			preview := k.preview(p(2))
			require.Equal(t, 3, preview.Changes[stages.OpReplace])
			link := preview.Why(urnOf("b")).Links[0]
			require.Equal(t, stages.ReasonDependency, link.Reason)
			require.Equal(t, "x", link.Unnamed[0].Path, "what else changes is shown")
			r := k.up(p(2))
			require.Equal(t, []string{"delete c", "delete b", "delete a", "create a", "create b", "create c"}, r.changed())
			require.Equal(t, k.recorded("a").Outputs.At("arn"), k.recorded("b").Inputs.At("immutableOf"))
			require.Equal(t, k.recorded("b").Outputs.At("arn"), k.recorded("c").Inputs.At("immutableOf"))
			require.Equal(t, 2.0, k.recorded("b").Inputs.At("x").AsNumber())
			k.options.Targeting = stages.Targeting{}
			require.False(t, k.up(p(2)).HasChanges())
		})
	}
}

// The program has removed the dependency in the same edit, so the registration need not wait for the replaced resource.
func TestWhatGoesAlongAndDependsOnItNoLonger(t *testing.T) {
	k := newKit(t)
	k.up(madeOfA)
	k.options.Targeting.Targets = set(t, "**::a")
	p := program(func(s *script) {
		s.thing("a", in{"dbr": 2})
		s.thing("b", in{"immutableOf": "nothing", "x": 2})
	})
	require.Equal(t, 2, k.preview(p).Changes[stages.OpReplace])
	k.up(p)
	require.Equal(t, "nothing", k.recorded("b").Inputs.At("immutableOf").AsString())
	k.options.Targeting = stages.Targeting{}
	require.False(t, k.up(p).HasChanges())
}

func TestWhatGoesAlongUnderANewName(t *testing.T) {
	k := newKit(t)
	k.up(madeOfA)
	k.options.Targeting.Targets = set(t, "**::a")
	p := program(func(s *script) {
		s.thing("new", in{"x": 2}, from("immutableOf", s.thing("a", in{"dbr": 2})), alias(urn.Alias{Name: "b"}))
	})
	k.up(p)
	require.Equal(t, k.recorded("a").Outputs.At("arn"), k.recorded("new").Inputs.At("immutableOf"))
	k.options.Targeting = stages.Targeting{}
	require.False(t, k.up(p).HasChanges())
}

// Policies check the recreated resource as for a create.
func TestPoliciesJudgeWhatGoesAlong(t *testing.T) {
	for name, b := range map[string]func(s *script, a *stages.RegisterReply){
		"and depends on it":           func(s *script, a *stages.RegisterReply) { s.thing("b", in{"bad": 1}, from("immutableOf", a)) },
		"and depends on it no longer": func(s *script, a *stages.RegisterReply) { s.thing("b", in{"bad": 1, "immutableOf": "x"}) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(madeOfA)
			k.options.Targeting.Targets = set(t, "**::a")
			k.policies(analyzer{analyze: func(a stages.Analysis) []stages.Violation {
				if _, bad := a.Properties.Get("bad"); bad {
					return []stages.Violation{{Policy: "none", Message: "bad", Level: stages.Mandatory}}
				}
				return nil
			}})
			p := program(func(s *script) { b(s, s.thing("a", in{"dbr": 2})) })
			k.try(sluice.Preview, p).requireFailure("violates")
			r := k.fails(p, "violates")
			require.NotContains(t, r.changed(), "create b")
		})
	}
}

// A dependent that the program does not declare would be lost: a preview refuses that, before anything is deleted.
func TestWhatGoesAlongAndIsNotDeclaredIsRefused(t *testing.T) {
	k := newKit(t)
	k.up(madeOfA)
	k.options.Targeting.Targets = set(t, "**::a")
	k.try(sluice.Preview, program(one(in{"dbr": 2}))).requireFailure("will be destroyed but was not specified in --target list")
	k.fails(program(one(in{"dbr": 2})), "will be destroyed but was not specified in --target list")
	require.Equal(t, []string{"a", "b (pending)"}, k.names())
	k.options.Targeting = stages.Targeting{}
	k.up(program(one(in{"dbr": 2})))
	require.Equal(t, []string{"a"}, k.names())
}
