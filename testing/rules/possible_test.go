package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// foreseen returns, for the changes in a preview's decisions, the change and the reason why it is only possible: "update b: `arn` of
// ...". For a certain change, the reason is empty.
func (r *ran) foreseen() map[string]string {
	out := map[string]string{}
	for _, s := range r.Steps() {
		if s.Op == stages.OpSame || s.Internal || s.Op == stages.OpCreateReplacement || s.Reason.Kind == stages.ReasonReplaced {
			continue
		}
		text := s.Reason.Possibly()
		if s.IsPossible() && s.Reason.Possible.Otherwise != stages.OpSame {
			text += ", else " + string(s.Reason.Possible.Otherwise)
		}
		out[string(s.Op)+" "+s.URN.Name()] = text
	}
	return out
}

// A preview reports for each change whether it is certain, and if it is not, what it depends on.
func TestPreviewsTellPossibleChangesFromCertainOnes(t *testing.T) {
	unknown := property.Computed()
	thing := func(name string) string { return name + " (test:index:Thing)" }
	of := func(prop, name, done string) string {
		return "`" + prop + "` of " + thing(name) + " is not known until it is " + done
	}
	type does = func(*script)
	pair := func(a, b in) does { return func(s *script) { s.thing("b", b, from("of", s.thing("a", a))) } }
	immutably := func(a, b in) does {
		return func(s *script) { s.thing("b", b, from("immutableOf", s.thing("a", a))) }
	}
	for name, c := range map[string]struct {
		before, after does
		want          map[string]string
	}{
		"an edit": {one(in{"x": 1}), one(in{"x": 2}), map[string]string{"update a": ""}},
		"what uses a replaced one": {pair(in{"immutable": 1}, in{}), pair(in{"immutable": 2}, in{}), map[string]string{
			"replace a": "", "update b": of("arn", "a", "replaced"),
		}},
		"what uses a replaced one, and is edited too": {pair(in{"immutable": 1}, in{"x": 1}), pair(in{"immutable": 2}, in{"x": 2}), map[string]string{
			"replace a": "", "update b": "",
		}},
		"what is replaced with what it uses": {immutably(in{"immutable": 1}, in{}), immutably(in{"immutable": 2}, in{}), map[string]string{
			"replace a": "", "replace b": of("arn", "a", "replaced"),
		}},
		"what may be replaced and is updated at least": {
			immutably(in{"immutable": 1}, in{"x": 1}), immutably(in{"immutable": 2}, in{"x": 2}),
			map[string]string{"replace a": "", "replace b": of("arn", "a", "replaced") + ", else update"},
		},
		"what is replaced anyhow": {
			immutably(in{"immutable": 1}, in{"immutable": 1}), immutably(in{"immutable": 2}, in{"immutable": 2}),
			map[string]string{"replace a": "", "replace b": ""},
		},
		"part of an object": {
			one(in{"x": in{"a": 1, "b": 1}}), one(in{"x": in{"a": unknown, "b": 1}}), map[string]string{"update a": "`x.a` is not known yet"},
		},
		"part of an object that differs otherwise": {
			one(in{"x": in{"a": 1, "b": 1}}), one(in{"x": in{"a": unknown, "b": 2}}), map[string]string{"update a": ""},
		},
		"part of a list": {
			one(in{"x": []any{1, 2}}), one(in{"x": []any{1, unknown}}), map[string]string{"update a": "`x[1]` is not known yet"},
		},
		"a list that becomes shorter": {
			one(in{"x": []any{1, 2, 3}}), one(in{"x": []any{1, unknown}}), map[string]string{"update a": ""},
		},
		"a property that is new": {
			one(in{"x": 1}), one(in{"x": 1, "y": unknown}), map[string]string{"update a": "`y` is not known yet"},
		},
		"a secret": {
			one(in{"x": secret("sesame")}), one(in{"x": secret(unknown)}), map[string]string{"update a": "`x` is not known yet"},
		},
		"what is new": {one(in{}), func(s *script) {
			one(in{})(s)
			s.thing("b", in{"x": unknown})
		}, map[string]string{"create b": ""}},
		"what is gone": {pair(in{"immutable": 1}, in{}), one(in{"immutable": 2}), map[string]string{"replace a": "", "delete b": ""}},
		"a trigger":    {one(in{}, trigger(1)), one(in{}, trigger(unknown)), map[string]string{"replace a": "`replacementTrigger` is not known yet"}},
		"what replaceOnChanges names": {
			one(in{"x": 1}, replaceOn("x")), one(in{"x": unknown}, replaceOn("x")), map[string]string{"replace a": "`x` is not known yet"},
		},
		"what is deleted first": {
			func(s *script) { s.thing("b", in{}, knownFrom(s.thing("a", in{"dbr": 1}))) },
			func(s *script) { s.thing("b", in{}, knownFrom(s.thing("a", in{"dbr": unknown}))) },
			map[string]string{
				"delete-replaced a": "`dbr` is not known yet", "replace a": "`dbr` is not known yet",
				"delete-replaced b": "it is not known yet whether " + thing("a") + " is replaced",
				"replace b":         "it is not known yet whether " + thing("a") + " is replaced",
			},
		},
		"what is certainly deleted first": {
			func(s *script) { s.thing("b", in{}, knownFrom(s.thing("a", in{"dbr": 1}))) },
			func(s *script) { s.thing("b", in{}, knownFrom(s.thing("a", in{"dbr": 2}))) },
			map[string]string{"delete-replaced a": "", "replace a": "", "delete-replaced b": "", "replace b": ""},
		},
		"what is replaced with another": {
			func(s *script) { s.thing("b", nil, replaceWith(s.thing("a", in{"immutable": 1}))) },
			func(s *script) { s.thing("b", nil, replaceWith(s.thing("a", in{"immutable": unknown}))) },
			map[string]string{
				"replace a": "`immutable` is not known yet", "replace b": "it is not known yet whether " + thing("a") + " is replaced",
			},
		},
		"what another provider manages": {
			func(s *script) {
				_, ref := s.provider("p", in{"immutable": 1})
				s.thing("b", nil, via(ref))
			},
			func(s *script) {
				_, ref := s.provider("p", in{"immutable": unknown})
				s.thing("b", nil, via(ref))
			},
			map[string]string{
				"replace p": "`immutable` is not known yet", "replace b": "it is not known yet whether p (pulumi:providers:test) is replaced",
			},
		},
		"a chain": {
			func(s *script) {
				s.thing("c", nil, from("of", s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": 1})))))
			},
			func(s *script) {
				s.thing("c", nil, from("of", s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": 2})))))
			},
			map[string]string{"replace a": "", "replace b": of("arn", "a", "replaced"), "update c": of("arn", "b", "replaced")},
		},
		"what uses something new instead": {
			func(s *script) {
				s.thing("c", nil, from("of", s.thing("a", nil)))
			},
			func(s *script) {
				s.thing("a", nil)
				s.thing("c", nil, from("of", s.thing("b", nil)))
			},
			map[string]string{"create b": "", "update c": "`of` comes from " + thing("b") + " and is not known until that is created"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(c.before))
			r := k.preview(program(c.after))
			require.Equal(t, c.want, r.foreseen())
			for _, s := range r.Steps() {
				if s.Op == stages.OpDeleteReplaced {
					require.Equal(t, c.want["replace "+s.URN.Name()] != "", s.IsPossible(), s.URN)
				}
			}
			counts := map[stages.Op]int{}
			for _, s := range r.Steps() {
				if s.IsPossible() && s.Op.IsLogical() {
					counts[s.Op]++
				}
			}
			if len(counts) == 0 {
				counts = nil
			}
			require.Equal(t, counts, r.summary().Possible)
		})
	}
}

// A provider that is not configured yet cannot compare. Differing inputs are a change nevertheless.
func TestAProviderThatCannotCompareMakesAChangePossible(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1})))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, &providers.DiffUnavailableError{Reason: "not configured"}
		}
	}
	require.Equal(t, map[string]string{"update a": "its provider cannot compare before it is configured"}, k.preview(program(one(in{"x": 1}))).foreseen())
	require.Equal(t, map[string]string{"update a": ""}, k.preview(program(one(in{"x": 2}))).foreseen())
}

// An update has no unknowns.
func TestUpdatesHaveNoPossibleChanges(t *testing.T) {
	k := newKit(t)
	v := func(v int) source.Func {
		return program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": v}))) })
	}
	k.up(v(1))
	r := k.up(v(2))
	require.Contains(t, r.foreseen(), "replace b")
	for what, text := range r.foreseen() {
		require.Empty(t, text, what)
	}
	require.Nil(t, r.summary().Possible)
}
