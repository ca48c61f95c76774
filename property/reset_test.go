package property_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
)

// The table of steps.md 3.4, row by row.
func TestReset(t *testing.T) {
	n := func(f float64) Value { return Number(f) }
	tests := map[string]struct {
		path     string
		old, new Map
		want     Map
		fails    bool
	}{
		"key set from old":                       {path: "a", old: object("a", n(1)), new: object("a", n(2)), want: object("a", n(1))},
		"key added from old":                     {path: "a", old: object("a", n(1)), want: object("a", n(1))},
		"key absent in old is deleted":           {path: "a", new: object("a", n(2), "b", n(3)), want: object("b", n(3))},
		"key below a number in new":              {path: "a.b", old: object("a", Of(object("b", n(1)))), new: object("a", n(2)), want: object("a", n(2)), fails: true},
		"key below numbers":                      {path: "a.b", old: object("a", n(1)), new: object("a", n(2)), want: object("a", n(2))},
		"old lacks the middle":                   {path: "a.b", new: object("a", Of(object("b", n(2)))), want: object("a", Of(object()))},
		"old lacks key of an object in both":     {path: "a.b", old: object("a", Of(object())), new: object("a", Of(object("b", n(2)))), want: object("a", Of(object()))},
		"new lacks the middle":                   {path: "a.b", old: object("a", Of(object("b", n(1)))), new: object(), want: object(), fails: true},
		"both lack the middle":                   {path: "a.b", old: object(), new: object(), want: object()},
		"index copied":                           {path: "a[1]", old: object("a", ArrayOf(n(1), n(2))), new: object("a", ArrayOf(n(3), n(4))), want: object("a", ArrayOf(n(3), n(2)))},
		"index out of range in both":             {path: "a[5]", old: object("a", ArrayOf(n(1))), new: object("a", ArrayOf(n(3))), want: object("a", ArrayOf(n(3)))},
		"index out of range in one":              {path: "a[1]", old: object("a", ArrayOf(n(1))), new: object("a", ArrayOf(n(3), n(4))), want: object("a", ArrayOf(n(3), n(4))), fails: true},
		"index of no arrays":                     {path: "a[1]", old: object("a", n(1)), new: object("a", n(2)), want: object("a", n(2))},
		"index of one array":                     {path: "a[0]", old: object("a", ArrayOf(n(1))), new: object("a", n(2)), want: object("a", n(2)), fails: true},
		"below an index":                         {path: "a[0].b", old: object("a", ArrayOf(Of(object("b", n(1))))), new: object("a", ArrayOf(Of(object("b", n(2), "c", n(3))))), want: object("a", ArrayOf(Of(object("b", n(1), "c", n(3)))))},
		"below an index out of range":            {path: "a[0].b", old: object("a", ArrayOf()), new: object("a", ArrayOf()), want: object("a", ArrayOf()), fails: true},
		"negative index":                         {path: "a[-1]", old: object("a", ArrayOf()), new: object("a", ArrayOf()), want: object("a", ArrayOf()), fails: true},
		"wildcard takes all of old":              {path: "*", old: object("a", n(1), "b", n(2)), new: object("b", n(3), "c", n(4)), want: object("a", n(1), "b", n(2))},
		"wildcard on arrays of one length":       {path: "a[*]", old: object("a", ArrayOf(n(1), n(2))), new: object("a", ArrayOf(n(3), n(4))), want: object("a", ArrayOf(n(1), n(2)))},
		"wildcard on other lengths keeps prefix": {path: "a[*]", old: object("a", ArrayOf(n(1))), new: object("a", ArrayOf(n(3), n(4))), want: object("a", ArrayOf(n(1), n(4))), fails: true},
		"wildcard on an object without old":      {path: "a.*", old: object("a", n(1)), new: object("a", Of(object("x", n(1)))), want: object("a", Of(object("x", n(1))))},
		"wildcard on a scalar":                   {path: "a.*", old: object("a", n(1)), new: object("a", n(2)), want: object("a", n(2)), fails: true},
		"below a wildcard":                       {path: "*.b", old: object("x", Of(object("b", n(1)))), new: object("x", Of(object("b", n(2))), "y", Of(object("b", n(3)))), want: object("x", Of(object("b", n(1))), "y", Of(object("b", n(3))))},
		"below a wildcard, one is missing":       {path: "*.b", old: object("w", n(0), "x", Of(object("b", n(1)))), new: object("x", Of(object("b", n(2)))), want: object("x", Of(object("b", n(1)))), fails: true},
		"secret old, plain new":                  {path: "a.b", old: object("a", Secret(Of(object("b", n(1))))), new: object("a", Of(object("b", n(2)))), want: object("a", Of(object("b", Secret(n(1)))))},
		"secret old, secret new":                 {path: "a.b", old: object("a", Secret(Of(object("b", n(1))))), new: object("a", Secret(Of(object("b", n(2))))), want: object("a", Secret(Of(object("b", n(1)))))},
		"plain old, secret new":                  {path: "a.b", old: object("a", Of(object("b", n(1)))), new: object("a", Secret(Of(object("b", n(2))))), want: object("a", Secret(Of(object("b", n(1)))))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := ParsePath(tt.path)
			require.NoError(t, err)
			got, ok := Reset(p, tt.old, tt.new)
			require.Equal(t, !tt.fails, ok)
			requireIdentical(t, tt.want, got)
		})
	}
}

func TestResetAgreesWithTheReferenceImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := features{secrets: true, nulls: true}
		small := rapid.SampledFrom([]string{"a", "b"})
		value := genSmall(f, small, 3)
		old := NewMap(rapid.MapOf(small, value).Draw(t, "old"))
		now := NewMap(rapid.MapOf(small, value).Draw(t, "new"))
		p := Path(rapid.SliceOfN(rapid.OneOf(
			rapid.Map(small, Key), rapid.Just(Key("*")), rapid.Map(rapid.IntRange(-1, 2), Index)), 1, 3).Draw(t, "path"))
		got, ok := Reset(p, old, now)

		peerNew := peerMap(now)
		peerOK := peerPath(p).Reset(peerMap(old), peerNew)
		require.Equal(t, peerOK, ok)
		if ok {
			want := withoutDoubleSecrets(resource.NewProperty(peerNew))
			require.True(t, want.DeepEquals(resource.NewProperty(peerMap(got))), "want %v\ngot  %s", want, render(got))
		}
	})
}

// withoutDoubleSecrets turns a secret in a secret into one: the reference implementation marks values within a secret secret
// again.
func withoutDoubleSecrets(v resource.PropertyValue) resource.PropertyValue {
	switch {
	case v.IsSecret() && v.SecretValue().Element.IsSecret():
		return withoutDoubleSecrets(v.SecretValue().Element)
	case v.IsSecret():
		return resource.MakeSecret(withoutDoubleSecrets(v.SecretValue().Element))
	case v.IsArray():
		out := make([]resource.PropertyValue, len(v.ArrayValue()))
		for i, e := range v.ArrayValue() {
			out[i] = withoutDoubleSecrets(e)
		}
		return resource.NewProperty(out)
	case v.IsObject():
		out := resource.PropertyMap{}
		for k, e := range v.ObjectValue() {
			out[k] = withoutDoubleSecrets(e)
		}
		return resource.NewProperty(out)
	}
	return v
}

func genSmall(f features, keys *rapid.Generator[string], depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		if depth == 0 && kind > 1 {
			kind = 0
		}
		switch kind {
		case 0:
			return Number(float64(rapid.IntRange(0, 2).Draw(t, "n")))
		case 1:
			return String("s")
		case 2:
			return ArrayOf(rapid.SliceOfN(genSmall(f, keys, depth-1), 0, 3).Draw(t, "array")...)
		case 3:
			if f.secrets {
				return MakeSecret(genSmall(f, keys, depth-1).Draw(t, "secret"))
			}
			fallthrough
		default:
			return Of(NewMap(rapid.MapOfN(keys, genSmall(f, keys, depth-1), 0, 2).Draw(t, "map")))
		}
	})
}
