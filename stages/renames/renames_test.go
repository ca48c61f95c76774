package renames_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const root = urn.URN("urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev")

// resource makes a resource of the last element of a path; the elements before it are its ancestors, each with its type: "t:i:Comp
// web/t:i:Thing db". Components have types that end with "Comp".
func resource(path string, inputs map[string]any) *state.Resource {
	parent := root
	parts := strings.Split(path, "/")
	var u urn.URN
	for i, part := range parts {
		typ, name, _ := strings.Cut(part, " ")
		if i > 0 {
			parent = u
		}
		u = urn.New("dev", "p", parent.QualifiedType(), urn.Type(typ), name)
	}
	values := map[string]property.Value{}
	for k, v := range inputs {
		values[k] = value(v)
	}
	return &state.Resource{
		URN: u, Type: u.Type(), Parent: parent, Custom: !strings.Contains(string(u.Type()), "Comp"), Inputs: property.NewMap(values),
	}
}

func value(v any) property.Value {
	out, err := property.FromGo(v)
	if err != nil {
		panic(err)
	}
	return out
}

func deleted(path string, inputs map[string]any, with ...func(*state.Resource)) *stages.StepInfo {
	r := resource(path, inputs)
	for _, f := range with {
		f(r)
	}
	return &stages.StepInfo{Op: stages.OpDelete, URN: r.URN, Type: r.Type, Old: r, Reason: stages.Reason{Kind: stages.ReasonNotInProgram}}
}

func created(path string, inputs map[string]any) *stages.StepInfo {
	r := resource(path, inputs)
	return &stages.StepInfo{Op: stages.OpCreate, URN: r.URN, Type: r.Type, New: r, Reason: stages.Reason{Kind: stages.ReasonNew}}
}

func same(path string) *stages.StepInfo {
	r := resource(path, nil)
	return &stages.StepInfo{Op: stages.OpSame, URN: r.URN, Type: r.Type, Old: r, New: r}
}

// text describes renames: "a -> b by name".
func text(rs []renames.Rename) []string {
	var out []string
	for _, r := range rs {
		by := "by URN"
		switch {
		case r.With != "":
			by = "with " + r.With.Name()
		case r.Name != "":
			by = "by name"
		}
		if r.Possible {
			by += "?"
		}
		out = append(out, r.From.Name()+" -> "+r.To.Name()+" "+by)
	}
	return out
}

type in = map[string]any

func TestDeletesAndCreatesOfNearEqualResourcesAreRenames(t *testing.T) {
	type steps = []*stages.StepInfo
	big := in{"a": 1, "b": 2, "c": 3, "d": 4}
	secret := func(s string) property.Value { return property.Secret(property.String(s)) }
	for name, c := range map[string]struct {
		steps steps
		want  []string
	}{
		"equal inputs": {steps{deleted("t:i:T old", big), created("t:i:T new", big)}, []string{"old -> new by name"}},
		"one of four":  {steps{deleted("t:i:T old", big), created("t:i:T new", in{"a": 1, "b": 2, "c": 3, "d": 5})}, []string{"old -> new by name"}},
		"two of four":  {steps{deleted("t:i:T old", big), created("t:i:T new", in{"a": 1, "b": 2, "c": 4, "d": 5})}, []string{"old -> new by name?"}},
		"one of two":   {steps{deleted("t:i:T old", in{"length": 3, "prefix": "test"}), created("t:i:T new", in{"length": 3, "prefix": "prod"})}, []string{"old -> new by name?"}},
		"none of two":  {steps{deleted("t:i:T old", in{"length": 3, "prefix": "test"}), created("t:i:T new", in{"length": 4, "prefix": "prod"})}, nil},
		"one of three": {steps{deleted("t:i:T old", in{"a": 1, "b": 2, "c": 3}), created("t:i:T new", in{"a": 1, "b": 3, "c": 4})}, nil},
		"one of two, of two that are created": {
			steps{deleted("t:i:T old", in{"a": 1, "b": 2}), created("t:i:T new", in{"a": 1, "b": 3}), created("t:i:T other", in{"x": 3})}, nil,
		},
		"one of two, of two that are deleted": {
			steps{deleted("t:i:T old", in{"a": 1, "b": 2}), deleted("t:i:T other", in{"x": 1}), created("t:i:T new", in{"a": 1, "b": 3})}, nil,
		},
		"one of two, beside a protected one": {
			steps{deleted("t:i:T old", in{"a": 1, "b": 2}), deleted("t:i:T other", nil, func(r *state.Resource) { r.Protect = true }), created("t:i:T new", in{"a": 1, "b": 3})}, nil,
		},
		"one of two, in another place": {
			steps{same("t:i:Comp web"), deleted("t:i:T old", in{"a": 1, "b": 2}), created("t:i:Comp web/t:i:T new", in{"a": 1, "b": 3})}, nil,
		},
		"one of two, of one name in another place": {
			steps{same("t:i:Comp web"), deleted("t:i:T db", in{"a": 1, "b": 2}), created("t:i:Comp web/t:i:T db", in{"a": 1, "b": 3})}, []string{"db -> db by URN?"},
		},
		"more than before":  {steps{deleted("t:i:T old", in{"a": 1}), created("t:i:T new", big)}, nil},
		"less than before":  {steps{deleted("t:i:T old", big), created("t:i:T new", in{"a": 1})}, nil},
		"another type":      {steps{deleted("t:i:T old", big), created("t:i:U new", big)}, nil},
		"no inputs":         {steps{deleted("t:i:T old", nil), created("t:i:T new", nil)}, []string{"old -> new by name"}},
		"nested inputs":     {steps{deleted("t:i:T old", in{"x": big}), created("t:i:T new", in{"x": big})}, []string{"old -> new by name"}},
		"lists":             {steps{deleted("t:i:T old", in{"x": []any{1, 2, 3, 4}}), created("t:i:T new", in{"x": []any{1, 2, 3}})}, []string{"old -> new by name"}},
		"names in inputs":   {steps{deleted("t:i:T old", in{"x": "the-old"}), created("t:i:T new", in{"x": "the-new"})}, []string{"old -> new by name"}},
		"made-up names":     {steps{deleted("t:i:T old", in{"x": "old-1f0e9d8"}), created("t:i:T new", in{"x": "new-77aa00b"})}, []string{"old -> new by name"}},
		"other made texts":  {steps{deleted("t:i:T old", in{"x": "v-1f0e9d8"}), created("t:i:T new", in{"x": "v-77aa00b"})}, nil},
		"internal inputs":   {steps{deleted("t:i:T old", in{"a": 1, "__defaults": []any{"x"}}), created("t:i:T new", in{"a": 1})}, []string{"old -> new by name"}},
		"mostly unknown":    {steps{deleted("t:i:T old", in{"a": 1}), created("t:i:T new", in{"a": property.Computed()})}, nil},
		"partly unknown":    {steps{deleted("t:i:T old", big), created("t:i:T new", in{"a": 1, "b": 2, "c": 3, "d": property.Computed()})}, []string{"old -> new by name"}},
		"only a secret":     {steps{deleted("t:i:T old", in{"a": secret("x")}), created("t:i:T new", in{"a": secret("x")})}, nil},
		"a secret, changed": {steps{deleted("t:i:T old", in{"a": 1, "s": secret("x")}), created("t:i:T new", in{"a": 1, "s": secret("y")})}, []string{"old -> new by name"}},
		"a secret, equal":   {steps{deleted("t:i:T old", in{"a": 1, "s": secret("x")}), created("t:i:T new", in{"a": 1, "s": secret("x")})}, []string{"old -> new by name"}},
		"no secret now":     {steps{deleted("t:i:T old", in{"a": 1, "s": secret("x")}), created("t:i:T new", in{"a": 1, "s": "x"})}, []string{"old -> new by name?"}},

		"the nearest": {
			steps{deleted("t:i:T old", big), created("t:i:T far", in{"a": 1, "b": 2, "c": 3, "d": 5}), created("t:i:T near", big)},
			[]string{"old -> near by name"},
		},
		"two that are equally near":  {steps{deleted("t:i:T old", big), created("t:i:T xx", big), created("t:i:T yy", big)}, nil},
		"two that both are near one": {steps{deleted("t:i:T aa", big), deleted("t:i:T bb", big), created("t:i:T xx", big)}, nil},
		"names that say which": {
			steps{deleted("t:i:T web-1", big), deleted("t:i:T web-2", big), created("t:i:T app-1", big), created("t:i:T app-2", big)},
			[]string{"web-1 -> app-1 by name", "web-2 -> app-2 by name"},
		},
		"two pairs": {
			steps{deleted("t:i:T a", big), deleted("t:i:T b", in{"x": 1}), created("t:i:T c", in{"x": 1}), created("t:i:T d", big)},
			[]string{"b -> c by name", "a -> d by name"},
		},

		"a protected one": {steps{deleted("t:i:T old", big, func(r *state.Resource) { r.Protect = true }), created("t:i:T new", big)}, nil},
		"an old copy":     {steps{deleted("t:i:T old", big, func(r *state.Resource) { r.Delete = true }), created("t:i:T new", big)}, nil},
		"a view":          {steps{deleted("t:i:T old", big, func(r *state.Resource) { r.ViewOf = root }), created("t:i:T new", big)}, nil},

		"moved into something new": {
			steps{deleted("t:i:T db", big), created("t:i:Comp app", nil), created("t:i:Comp app/t:i:T db", big)}, []string{"db -> db by URN"},
		},
		"moved out of what is gone": {
			steps{deleted("t:i:Comp app", nil), deleted("t:i:Comp app/t:i:T db", big), created("t:i:T db", big)}, []string{"db -> db by URN"},
		},
		"of one name, and unlike": {
			steps{deleted("t:i:T db", big), created("t:i:Comp app", nil), created("t:i:Comp app/t:i:T db", in{"x": 1})}, nil,
		},
		"moved to one of two": {
			steps{
				deleted("t:i:T db", big), created("t:i:Comp app", nil), created("t:i:Comp app/t:i:T db", big),
				created("t:i:Other2Comp app", nil), created("t:i:Other2Comp app/t:i:T db", big),
			}, nil,
		},
		"a component and what is in it": {
			steps{
				deleted("t:i:Comp web", nil), deleted("t:i:Comp web/t:i:T web-db", big), deleted("t:i:Comp web/t:i:T web-disk", in{"x": 1}),
				created("t:i:Comp app", nil), created("t:i:Comp app/t:i:T app-db", big), created("t:i:Comp app/t:i:T app-disk", in{"x": 1}),
			}, []string{"web -> app by name", "web-db -> app-db with app", "web-disk -> app-disk with app"},
		},
		"a component that is another one": {
			steps{
				deleted("t:i:Comp web", nil), deleted("t:i:Comp web/t:i:T web-db", big),
				created("t:i:Comp app", nil), created("t:i:Comp app/t:i:U app-x", big),
			}, nil,
		},
		"a component with another use": {
			steps{
				deleted("t:i:Comp web", in{"a": 1}), deleted("t:i:Comp web/t:i:T web-db", big),
				created("t:i:Comp app", in{"a": 2}), created("t:i:Comp app/t:i:T app-db", in{"a": 2, "b": 3, "c": 4, "d": 5}),
			}, nil,
		},
		"a component within one": {
			steps{
				deleted("t:i:Comp web", nil), deleted("t:i:Comp web/t:i:InComp web-in", nil), deleted("t:i:Comp web/t:i:InComp web-in/t:i:T web-in-db", big),
				created("t:i:Comp app", nil), created("t:i:Comp app/t:i:InComp app-in", nil), created("t:i:Comp app/t:i:InComp app-in/t:i:T app-in-db", big),
			}, []string{"web -> app by name", "web-in -> app-in with app", "web-in-db -> app-in-db with app-in"},
		},
		"a component of another type": {
			steps{
				deleted("t:i:Comp web", nil), deleted("t:i:Comp web/t:i:T web-db", big),
				created("t:i:NewComp web", nil), created("t:i:NewComp web/t:i:T web-db", big),
			}, []string{"web -> web by URN", "web-db -> web-db with web"},
		},
		"a child with a name of its own": {
			steps{
				deleted("t:i:Comp web", nil), deleted("t:i:Comp web/t:i:T web-db", big), deleted("t:i:Comp web/t:i:T web-x", big),
				deleted("t:i:Comp web/t:i:T web-y", big), deleted("t:i:Comp web/t:i:T left", in{"q": 1}),
				created("t:i:Comp app", nil), created("t:i:Comp app/t:i:T app-db", big), created("t:i:Comp app/t:i:T app-x", big),
				created("t:i:Comp app/t:i:T app-y", big), created("t:i:Comp app/t:i:T right", in{"q": 1}),
			}, []string{"web -> app by name", "web-db -> app-db with app", "web-x -> app-x with app", "web-y -> app-y with app", "left -> right by name"},
		},
		"what has something below it now": {
			steps{deleted("t:i:T old", big), deleted("t:i:U x", in{"x": 1}), created("t:i:T new", big), created("t:i:T new/t:i:U x", in{"x": 1})},
			[]string{"old -> new by name", "x -> x by URN"},
		},
		"below what stays": {
			steps{same("t:i:Comp web"), deleted("t:i:Comp web/t:i:T a", big), created("t:i:Comp web/t:i:T b", big)}, []string{"a -> b by name"},
		},
		"below two that stay": {
			steps{same("t:i:Comp web"), same("t:i:Comp app"), deleted("t:i:Comp web/t:i:T a", big), created("t:i:Comp app/t:i:T b", big)}, nil,
		},
		"nothing": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := renames.Find(slices.Values(c.steps))
			require.Equal(t, c.want, text(got))
			for seed := range uint64(10) {
				shuffled := slices.Clone(c.steps)
				rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
				require.Equal(t, got, renames.Find(slices.Values(shuffled)), "the order of steps must not count")
			}
		})
	}
}

// A resource that is deleted for another reason than a missing declaration is not renamed.
func TestOnlyWhatTheProgramNoLongerDeclaresIsRenamed(t *testing.T) {
	d, c := deleted("t:i:T old", in{"a": 1}), created("t:i:T new", in{"a": 1})
	for _, kind := range []stages.ReasonKind{stages.ReasonDestroy, stages.ReasonReplaced, stages.ReasonDependency} {
		d.Reason.Kind = kind
		require.Empty(t, renames.Find(slices.Values([]*stages.StepInfo{d, c})), kind)
	}
	d.Reason.Kind, c.Reason.Kind = stages.ReasonNotInProgram, stages.ReasonVanished
	require.Empty(t, renames.Find(slices.Values([]*stages.StepInfo{d, c})))
}

// If there are many resources of one type, not all pairs are compared: equal inputs are enough.
func TestManyResourcesOfOneTypeArePairedByEqualInputs(t *testing.T) {
	const n = 2000
	var steps []*stages.StepInfo
	for i := range n {
		inputs := in{"number": i, "list": []any{i, "x"}, "text": fmt.Sprintf("for %d", i)}
		steps = append(steps, deleted(fmt.Sprintf("t:i:T old-%d", i), inputs), created(fmt.Sprintf("t:i:T new-%d", i), inputs))
	}
	// Equally alike resources cannot be distinguished.
	for i := range 500 {
		steps = append(steps, deleted(fmt.Sprintf("t:i:T was-%d", i), in{"a": 1}), created(fmt.Sprintf("t:i:T is-%d", i), in{"a": 1}))
	}
	got := renames.Find(slices.Values(steps))
	require.Len(t, got, n)
	for _, r := range got {
		require.Equal(t, strings.Replace(string(r.From), "old-", "new-", 1), string(r.To))
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		var steps []*stages.StepInfo
		for i := range n {
			was, is := in{"number": i, "text": strings.Repeat("x", 200), "more": 1, "size": 2}, in{"number": i, "text": strings.Repeat("x", 200), "more": 1, "size": 3}
			steps = append(steps, deleted(fmt.Sprintf("t:i:T%d old-%d", i/50, i), was), created(fmt.Sprintf("t:i:T%d new-%d", i/50, i), is))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				renames.Find(slices.Values(steps))
			}
		})
	}
}
