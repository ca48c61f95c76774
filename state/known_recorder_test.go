package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
)

func TestNothingThatARunMakesIsRecordedWithAnUnknown(t *testing.T) {
	with := func(pairs map[string]property.Value) property.Map { return property.NewMap(pairs) }
	recorded := &Resource{URN: "u", Type: "a:b:C", Outputs: with(map[string]property.Value{"theirs": property.Computed(), "kept": property.String("old")})}
	ledger := NewLedger(&Snapshot{Resources: []*Resource{recorded}}, LedgerOptions{})
	r := NewKnownRecorder(NewMemoryRecorder(ledger, nil), func(res *Resource) *Resource { return res })
	made := &Resource{URN: "u", Type: "a:b:C", Outputs: with(map[string]property.Value{
		"theirs": property.Computed(), "kept": property.Computed(), "fresh": property.Secret(property.Computed()),
		"deep": property.Of(with(map[string]property.Value{"x": property.Computed(), "y": property.Number(1)})),
	})}
	require.NoError(t, r.Begin(t.Context(), Pending{Type: Updating, Resource: made}))
	require.NoError(t, r.End(t.Context(), Change{Begun: made, Add: made, Remove: []*Resource{recorded}}))
	// Another step replaces the resource of the first one, identified by its own pointer.
	next := made.Clone()
	next.Outputs = next.Outputs.With("more", property.Number(2))
	require.NoError(t, r.End(t.Context(), Change{Replace: []Replacement{{Old: made, New: next}}}))
	s, err := ledger.Snapshot()
	require.NoError(t, err)
	require.Len(t, s.Resources, 1)
	require.Empty(t, s.Pending)
	got := s.Resources[0].Outputs
	require.Equal(t, []string{"deep", "more"}, property.Map.Without(got, "kept", "theirs").Names())
	require.Equal(t, []string{"y"}, got.At("deep").AsMap().Names())
}
