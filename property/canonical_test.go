package property_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
)

func TestOnlyIdenticalMapsHaveTheSameCanonicalEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := everything()
		f.unknowns, f.outputs = false, false
		a := genMap(f).Draw(t, "a")
		b := genMap(f).Draw(t, "b")
		if rapid.Bool().Draw(t, "similar") { // a with one property more or another one
			m := a.Mutable()
			m[names.Draw(t, "name")] = genValue(f, 1).Draw(t, "value")
			b = NewMap(m)
		}
		one, okA := AppendCanonical(nil, a)
		two, okB := AppendCanonical(nil, b)
		if okA && okB {
			require.Equal(t, IdenticalMaps(a, b), bytes.Equal(one, two))
		}
		again, _ := AppendCanonical(nil, NewMap(a.Mutable()))
		require.Equal(t, one, again)
	})
}

func TestCanonicalEncodingsOfSimilarMapsDiffer(t *testing.T) {
	of := func(v Value) Map { return NewMap(map[string]Value{"a": v}) }
	seen := map[string]int{}
	for i, m := range []Map{
		{}, of(Null), of(Bool(false)), of(Bool(true)), of(Number(0)), of(Number(1)), of(Number(math.NaN())), of(String("")), of(String("0")), of(ArrayOf()),
		of(ArrayOf(Null)), of(ArrayOf(Null, Null)), of(Of(Map{})), of(Of(of(Null))), of(Secret(Null)), of(Secret(String(""))),
		NewMap(map[string]Value{"a": String("b"), "c": String("d")}), of(String("b\x01cs\x01d")),
	} {
		b, ok := AppendCanonical(nil, m)
		require.True(t, ok, "%v", m)
		other, is := seen[string(b)]
		require.False(t, is, "%d and %d", i, other)
		seen[string(b)] = i
	}
	_, ok := AppendCanonical(nil, of(Computed()))
	require.False(t, ok)
}
