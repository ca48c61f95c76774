package state

import (
	"context"
	"encoding/json"
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

// A record is read as by encoding/json, except that a part which is cut out may turn out to be malformed only later.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		`{"urn":"urn:pulumi:s::p::t:m:T::a","custom":true,"id":"i","type":"t:m:T","inputs":{"a":[1,"x"]},"outputs":{},"parent":"q","dependencies":["b",null],` +
			`"propertyDependencies":{"a":["b"],"c":null},"created":"2026-01-31T12:00:00Z","modified":"2026-01-31T12:00:00.5+02:00","customTimeouts":{"create":3},` +
			`"protect":false,"provider":"p","sourcePosition":"x","replacementTrigger":null,"resourceHooks":{"beforeCreate":["h"]}}`,
		`{"URN":"a","Type":"b","custom":null,"id":null,"inputs":null,"dependencies":null,"created":null}`,
		`{"urn":"a","urn":"b","inputs":{"a":1},"inputs":{"b":2},"propertyDependencies":{"a":["b"]},"propertyDependencies":{"c":[]}}`,
		`{"urn":"\ud800\u0041ÿ","type":"\t","new":{"deep":[{}]},"custom":1}`,
		`null`, `[]`, `{"urn":"a"} x`, `{"urn":"a",}`, `{"created":"yesterday"}`, `{"urn":"a","new":{"x":tru}}`, `{"urn":"a","inputs":{"x":tru}}`, `{"\u0075rn":"a"}`,
	} {
		f.Add([]byte(text))
	}
	fields := newRecordFields()
	f.Fuzz(func(t *testing.T, text []byte) {
		var want *record
		failure := json.Unmarshal(text, &want)
		got, err := fields.read(text)
		if failure == nil {
			require.NoError(t, err)
			require.Equal(t, want, got)
			return
		}
		if err == nil {
			malformed := func(raw json.RawMessage) bool { return raw != nil && !json.Valid(raw) }
			require.True(t, malformed(got.Inputs) || malformed(got.Outputs) || malformed(got.ReplacementTrigger), "%v", failure)
		}
	})
}
