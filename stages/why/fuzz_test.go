package why_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzRead reads any bytes as a recorded log of decisions. A log that can be read must be the same after it is written, and every
// decision in it can be explained.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"version":1,"decisions":null}`, `{"version":2}`,
		`{"version":1,"decisions":[{"urn":"urn:pulumi:dev::p::a:b:C::n","op":"update"},{"urn":"urn:pulumi:dev::p::a:b:C::n","op":"delete"}]}`,
		`{"version":1,"decisions":[{"urn":"a","op":"create","causes":["b"]},{"urn":"b","op":"create","causes":["a"]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var l *why.Log
		var err error
		fuzzing.Bound(t, len(data), 200, func() { l, err = why.Read(bytes.NewReader(data)) })
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		var text, twice bytes.Buffer
		require.NoError(t, l.Write(&text))
		again, err := why.Read(bytes.NewReader(text.Bytes()))
		require.NoError(t, err)
		require.NoError(t, again.Write(&twice))
		require.Equal(t, text.String(), twice.String())
		for _, d := range l.Decisions {
			l.Why(d.URN)
			l.Find(string(d.URN))
		}
		l.Nearest("x")
	})
}
