package property

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

func TestReferencesAreMappedAtAnyDepth(t *testing.T) {
	ref := func(u urn.URN) Value { return Of(Reference{URN: u, ID: String("i")}) }
	m := NewMap(map[string]Value{
		"plain": ref("a"), "other": ref("b"), "text": String("a"),
		"deep": ArrayOf(Secret(Of(NewMap(map[string]Value{"x": ref("a")})))),
	})
	change := func(r Reference) Reference {
		if r.URN == "a" {
			r.URN = "c"
		}
		return r
	}
	got := m.MapReferences(change)
	want := NewMap(map[string]Value{
		"plain": ref("c"), "other": ref("b"), "text": String("a"),
		"deep": ArrayOf(Secret(Of(NewMap(map[string]Value{"x": ref("c")})))),
	})
	require.True(t, IdenticalMaps(want, got))
	require.Equal(t, urn.URN("a"), m.At("plain").AsReference().URN, "the argument is not changed")
	require.Equal(t, ref("c"), ref("a").MapReferences(change))

	sealed := sealedSecret(Value{}, &sealed{ciphertext: "c", crypter: "k", opaque: true})
	require.True(t, sealed.MapReferences(change).IsSealed())
}
