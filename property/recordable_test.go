package property_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

func TestWhatAStateCannotHoldIsLeftOut(t *testing.T) {
	deep := func(levels int) Value {
		v := String("x")
		for range levels {
			v = ArrayOf(v)
		}
		return v
	}
	for name, c := range map[string]struct {
		bad Value
		why string // "" if it can be held
	}{
		"a plain value":               {bad: String("x")},
		"a text that is not UTF-8":    {bad: String("\xff")},
		"an unknown":                  {bad: Computed()},
		"a secret without content":    {bad: Secret(ArrayOf(Unavailable("gone")))},
		"an output that is not known": {bad: OutputOf(Output{})},
		"a secret":                    {bad: Secret(Of(object("a", Null)))},
		"a reference":                 {bad: Of(Reference{URN: "u", ID: Computed()})},
		"an archive":                  {bad: MemberArchive(object("f", TextAsset("x")))},
		"deep":                        {bad: deep(MaxDepth - 2)},
		"large":                       {bad: String(strings.Repeat("x", MaxSize/50))},
		"a name that is not UTF-8":    {bad: ArrayOf(Of(object("k\xff", Null))), why: `"bad[0]`},
		"the signature key as a name": {bad: Of(object(SignatureKey, String("x"))), why: "bad"},
		"such a name in a secret":     {bad: Secret(Of(object("k\xff", Null))), why: "bad"},
		"such a name in an output":    {bad: OutputOf(Output{Known: true, Element: Of(object("k\xff", Null))}), why: "bad"},
		"such a name in an archive":   {bad: MemberArchive(object("k\xff", TextAsset("x"))), why: "bad"},
		"too deep":                    {bad: deep(MaxDepth + 1), why: "nested deeper than 1000 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			m := object("bad", c.bad, "good", Number(1))
			kept, err := Recordable(m)
			_, encoding := EncodeState(context.Background(), m.WithoutUnknowns(), StateOptions{Secrets: SecretsPlaintext})
			if c.why == "" {
				require.NoError(t, err)
				require.True(t, IdenticalMaps(m, kept))
				require.NoError(t, encoding)
				return
			}
			require.ErrorContains(t, err, c.why)
			require.EqualError(t, encoding, err.Error())
			require.True(t, IdenticalMaps(object("good", Number(1)), kept), "%v", kept.Names())
		})
	}
	t.Run("a name of a property", func(t *testing.T) {
		kept, err := Recordable(object("a", Null, "k\xff", Null))
		require.ErrorContains(t, err, "k\\xff")
		require.Equal(t, []string{"a"}, kept.Names())
	})
}

func BenchmarkRecordable(b *testing.B) {
	m := typical()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Recordable(m); err != nil {
			b.Fatal(err)
		}
	}
}
