package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestOptionsAreThoseOfThePlan(t *testing.T) {
	edit := func(f func(*stages.RegisterRequest)) option { return f }
	z := string(urnOf("z"))
	for name, c := range map[string]struct {
		before, after option
		rule          string // "": accepted
	}{
		"protect":                   {nil, protect(true), "protect changed (expected false)"},
		"deleteBeforeReplace":       {nil, deleteFirst(false), "deleteBeforeReplace changed (expected no value)"},
		"deleteBeforeReplace unset": {deleteFirst(true), nil, "deleteBeforeReplace changed (expected true)"},
		"ignoreChanges":             {ignore("x", "y"), ignore("y", "z", "w"), "ignoreChanges changed: added w, z; deleted x"},
		"order of ignoreChanges":    {ignore("x", "y"), ignore("y", "x"), ""},
		"additionalSecretOutputs":   {nil, secretOutputs("arn"), "additionalSecretOutputs changed: added arn"},
		"dependencies":              {nil, edit(func(r *stages.RegisterRequest) { r.Dependencies = []urn.URN{urnOf("z")} }), "dependencies changed: added " + z},
		"aliases":                   {nil, alias(urn.Alias{URN: urnOf("old")}), "aliases changed: added " + string(urnOf("old"))},
		"alias specifications":      {alias(urn.Alias{Name: "one"}), alias(urn.Alias{Name: "two"}), "aliases changed: added {URN: Name:two"},
		"create timeout":            {nil, edit(func(r *stages.RegisterRequest) { r.CustomTimeouts.Create = "2m" }), "create timeout changed (expected 0)"},
		"update timeout":            {nil, edit(func(r *stages.RegisterRequest) { r.CustomTimeouts.Update = "2m" }), "update timeout changed (expected 0)"},
		"delete timeout":            {nil, edit(func(r *stages.RegisterRequest) { r.CustomTimeouts.Delete = "2m" }), "delete timeout changed (expected 0)"},
		"read timeout":              {edit(func(r *stages.RegisterRequest) { r.CustomTimeouts.Read = "2m" }), nil, "read timeout changed (expected 120)"},
		"kind":                      {nil, edit(func(r *stages.RegisterRequest) { r.Custom = false }), "resource kind changed (expected custom)"},
		"property dependencies": {
			edit(func(r *stages.RegisterRequest) {
				r.Dependencies, r.PropertyDependencies = []urn.URN{urnOf("z")}, map[string][]urn.URN{"size": {urnOf("z")}}
			}), edit(func(r *stages.RegisterRequest) { r.Dependencies = []urn.URN{urnOf("z")} }), "dependencies for size changed: deleted " + z,
		},
	} {
		t.Run(name, func(t *testing.T) {
			version := func(o option) source.Func {
				return program(func(s *script) {
					s.thing("z", nil)
					if o == nil {
						o = func(*stages.RegisterRequest) {}
					}
					s.thing("a", in{"size": 1}, o)
				})
			}
			k := newKit(t)
			plan := k.planned(version(c.before))
			if c.rule == "" {
				k.follows(plan, version(c.after))
				return
			}
			r := k.heldTo(plan, version(c.after))
			r.requireFailure("resource " + string(urnOf("a")) + " violates plan: " + c.rule)
			require.Equal(t, []string{"create z"}, r.changed())
		})
	}
}

func TestProviderIsThatOfThePlan(t *testing.T) {
	version := func(name string) source.Func {
		return program(func(s *script) {
			_, first := s.provider("first", in{})
			_, second := s.provider("second", in{})
			s.thing("a", nil, via(map[string]string{"first": first, "second": second}[name]))
		})
	}
	k := newKit(t)
	k.follows(k.planned(version("first")), version("first")) // its ID was not known in the preview
	r := k.heldTo(k.planned(version("first")), version("second"))
	r.requireFailure("provider changed (expected " + k.recorded("a").Provider + ")")
}

func TestParentIsThatOfThePlan(t *testing.T) {
	version := func(name string) source.Func {
		return program(func(s *script) {
			groups := map[string]*stages.RegisterReply{"one": s.group("one"), "two": s.group("two")}
			s.thing("a", nil, parent(groups[name]))
		})
	}
	k := newKit(t)
	r := k.heldTo(k.planned(version("one")), version("two"))
	r.requireFailure("parent changed (expected urn:pulumi:dev::p::test:index:Group::one)")
}

func TestPropertiesAreThoseOfThePlan(t *testing.T) {
	unknown := property.Computed()
	for name, c := range map[string]struct {
		recorded, planned, meanwhile, actual in
		rule                                 string // "": accepted
	}{
		"added as planned":                      {nil, in{"x": 1}, nil, in{"x": 1}, ""},
		"added with another value":              {nil, in{"x": 1}, nil, in{"x": 2}, "++x[{1}!={2}]"},
		"added and not planned":                 {nil, in{}, nil, in{"x": in{"a": []any{1, "b", nil}}}, "=+x[{map[a:{[{1} {b} {<nil>}]}]}]"},
		"not added":                             {nil, in{"x": 1}, nil, in{}, "+-x[{1}]"},
		"updated as planned":                    {in{"x": 1}, in{"x": 2}, nil, in{"x": 2}, ""},
		"updated to another value":              {in{"x": 1}, in{"x": 2}, nil, in{"x": 3}, "~~x[{2}!={3}]"},
		"not updated":                           {in{"x": 1}, in{"x": 2}, nil, in{"x": 1}, "~=x[{2}!={1}]"},
		"deleted as planned":                    {in{"x": 1}, in{}, nil, in{}, ""},
		"not deleted":                           {in{"x": 1}, in{}, nil, in{"x": 1}, "-=x[{1}]"},
		"updated instead of deleted":            {in{"x": 1}, in{}, nil, in{"x": 2}, "-~x[{2}]"},
		"deleted and not planned":               {in{"x": 1}, in{"x": 1}, nil, in{}, "=-x"},
		"deleted instead of updated":            {in{"x": 1}, in{"x": 2}, nil, in{}, "~-x[{2}]"},
		"unknown that resolves":                 {nil, in{"x": unknown}, nil, in{"x": "y"}, ""},
		"unknown that vanishes":                 {nil, in{"x": unknown}, nil, in{}, ""},
		"unknown update that vanishes":          {in{"x": 1}, in{"x": unknown}, nil, in{}, ""},
		"unknown inside that resolves":          {nil, in{"x": in{"a": unknown, "b": 1}}, nil, in{"x": in{"a": 5, "b": 1}}, ""},
		"unknown inside that vanishes":          {nil, in{"x": in{"a": unknown, "b": 1}}, nil, in{"x": in{"b": 1}}, ""},
		"known beside an unknown":               {nil, in{"x": in{"a": unknown, "b": 1}}, nil, in{"x": in{"a": 5, "b": 2}}, "++x[{map[a:output<string>{} b:{1}]}!={map[a:{5} b:{2}]}]"},
		"unknown element that is null":          {nil, in{"x": []any{unknown, 24}}, nil, in{"x": []any{nil, 24}}, ""},
		"null is absent":                        {nil, in{}, nil, in{"x": nil}, ""},
		"secret as planned":                     {nil, in{"x": secret("s")}, nil, in{"x": secret("s")}, ""},
		"other secret, which is not shown":      {nil, in{"x": secret("s")}, nil, in{"x": secret("t")}, "++x[{[secret]}!={[secret]}]"},
		"secret that is not one any more":       {nil, in{"x": secret("s")}, nil, in{"x": "s"}, "++x[{[secret]}!={s}]"},
		"several, sorted":                       {in{"x": 1, "y": 1}, in{"x": 2, "y": 2}, nil, in{"x": 1, "y": 3}, "~=x[{2}!={1}], ~~y[{2}!={3}]"},
		"added by somebody else to the same":    {in{}, in{"x": 1}, in{"x": 1}, in{"x": 1}, ""},
		"added by somebody else to something":   {in{}, in{"x": 1}, in{"x": 7}, in{"x": 1}, ""},
		"updated by somebody else to the same":  {in{"x": 1}, in{"x": 2}, in{"x": 2}, in{"x": 2}, ""},
		"deleted by somebody else":              {in{"x": 1}, in{}, in{}, in{}, ""},
		"update of what somebody else deleted":  {in{"x": 1}, in{"x": 2}, in{}, in{"x": 2}, "~+x[{2}!={2}]"},
		"would undo what somebody else changed": {in{"x": 1, "y": 1}, in{"x": 2, "y": 1}, in{"x": 1, "y": 5}, in{"x": 2, "y": 1}, "=~y[{1}]"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			if c.recorded != nil {
				k.up(program(one(c.recorded)))
			}
			plan := k.planned(program(one(c.planned)))
			if c.meanwhile != nil {
				k.up(program(one(c.meanwhile)))
			}
			p := program(one(c.actual))
			if c.rule == "" {
				k.follows(plan, p)
				return
			}
			k.violates(plan, p, "a", "resource "+string(urnOf("a"))+" violates plan: properties changed: "+c.rule)
		})
	}
}
