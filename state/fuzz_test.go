package state

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzParseEdit reads any text as the edited form of a state. An accepted text must give the same state when it is
// edited again without a change, and no typed value may be lost.
func FuzzParseEdit(f *testing.F) {
	ctx := context.Background()
	sealed := func() *Snapshot {
		text, err := testEncoder().Checkpoint(ctx, "organization/shop/dev", everything())
		require.NoError(f, err)
		c, err := DecodeCheckpoint(ctx, text, DecodeOptions{Name: "f"})
		require.NoError(f, err)
		return c.Latest
	}
	before := sealed()
	text, err := EditText(ctx, before)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"resources":[{"urn":"urn:pulumi:dev::shop::a:b:C::n","type":"a:b:C","custom":true,"id":"1"}],"metadata":{}}`))
	f.Add([]byte(`{"resources":[null]}`))
	f.Add([]byte("{\n\"resources\":[}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s *Snapshot
		var shown []byte
		var err error
		fuzzing.Bound(t, len(data)+len(text), 400, func() { s, shown, err = ParseEdit(ctx, before, "dev", data) })
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.Nil(t, s)
			return
		}
		if s == nil {
			return // nothing has changed
		}
		again, err := editText(ctx, s, placeholder{})
		require.NoError(t, err)
		require.Equal(t, string(shown), string(again))
		require.NoError(t, Verify(s))
	})
}
