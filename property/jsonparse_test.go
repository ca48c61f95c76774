package property_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// The direct parser accepts and refuses the same texts as encoding/json, with the same results.
func FuzzStateParserAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0,1.5e-3,true,null,"x"]}`, `"\u2028\ud83d\ude00\ud83d\u0041\n\/"`, `{"a":1,"a":2}`, " [ ] ", `{}`, "01", "1e999",
		`"` + "\xff\xe2\x80" + `"`, `{"4dabf18193072939515e22adb298388d":"c44067f5952c0a294b673a41bacd8c17","text":"x"}`, "-", "1.", `"\u12"`,
		`{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"[1]"}`, "[1,]", `{"a"}`, "tru", `"a`, "{} {}",
	} {
		f.Add([]byte(s))
	}
	f.Add([]byte(strings.Repeat("[", 100_000)))
	f.Add([]byte(strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got Value
		var err error
		fuzzing.Bound(t, len(text), 500, func() { got, err = DecodeStateValue(t.Context(), text, StateDecodeOptions{}) })
		var limit *LimitError
		if errors.As(err, &limit) {
			return
		}
		var raw any
		if jsonErr := json.Unmarshal(text, &raw); jsonErr != nil {
			require.Error(t, err)
			return
		}
		want, wantErr := FromJSON(t.Context(), raw, StateDecodeOptions{})
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", err, wantErr)
		require.True(t, Identical(want, got))
	})
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	_, err := DecodeState(t.Context(), []byte(`{"a":[1,}`), StateDecodeOptions{})
	require.EqualError(t, err, "not JSON: expected a value at byte 8")
	_, err = DecodeState(t.Context(), []byte(`{"a":1`), StateDecodeOptions{})
	require.EqualError(t, err, "not JSON: expected ',' or '}' at byte 6")
}
