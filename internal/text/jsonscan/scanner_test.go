package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/internal/text/jsonscan"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

func TestValuesAreCutWhereTheyEnd(t *testing.T) {
	for text, want := range map[string]string{
		`"plain", 1`:              `"plain"`,
		`"a \" b" `:               `"a \" b"`,
		`"ends with \\"]`:         `"ends with \\"`,
		`"\\\"\\", "other"`:       `"\\\"\\"`,
		`{"a": "}", "b": "\"}"}}`: `{"a": "}", "b": "\"}"}`,
		`["\n", ["\u0022"]],`:     `["\n", ["\u0022"]]`,
	} {
		got, err := New([]byte(text)).Cut()
		require.NoError(t, err, text)
		require.Equal(t, want, string(got))
	}
	for _, text := range []string{`"no end`, `"no end \"`, `"no end \`, `["`} {
		_, err := New([]byte(text)).Cut()
		require.ErrorIs(t, err, ErrTruncated, text)
	}
}

// With a search for the last quote after each escape, this would take an hour.
func TestALongTextWithManyEscapesIsReadInOnePass(t *testing.T) {
	text := `"` + strings.Repeat(`line\n`, 3_000_000) + `"`
	got, err := New([]byte(text + ",")).Cut()
	require.NoError(t, err)
	require.Len(t, got, len(text))
}

// read makes the value of encoding/json of a text.
func read(text []byte) (any, error) {
	s := New(text)
	v, err := element(s)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func element(s *Scanner) (v any, err error) {
	switch s.Next() {
	case '{':
		members := map[string]any{}
		return members, s.Members(func(name string) (err error) {
			members[name], err = element(s)
			return err
		})
	case '[':
		elements := []any{}
		return elements, s.Array(func(int) error {
			e, err := element(s)
			elements = append(elements, e)
			v = elements
			return err
		})
	case '"':
		return s.Text()
	case 't':
		return true, s.Word("true")
	case 'f':
		return false, s.Word("false")
	case 'n':
		return nil, s.Word("null")
	}
	return s.Number()
}

var texts = []string{
	`{"a":[1,-0,1.5e-3,true,null,"x"]}`, `"\u2028\ud83d\ude00\ud83d\u0041\ud83d\ud83d\n\/"`, `{"a":1,"a":{"b":2},"\u0061":3}`, " [ ] ", `{}`, "01", "1e999", "-",
	`"` + "\xff\xe2\x80" + `"`, "1.", `"\u12"`, `"\ud83d\u12"`, "[1,]", `{"a"}`, `{"a":1,}`, `{a:1}`, "tru", "nullx", `"a`, `"\`, "{} {}", "[}", "{]", "", "\x00", "\ufeff1",
	"\"\x01\"", "{\"\x01\":1}", "[1 2]", "1e+", "1e5", "-0.0", "9007199254740993", `{"a":}`, `[[],{},[{"":[]}]]`, "\t1\r\n", "\v1", "+1", "1x", "NaN",
	"[" + strings.Repeat("[],", 20_000) + "[]]",
	strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
	strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth), strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1),
}

// The scanner accepts and refuses the same texts as encoding/json, with the same values, and cuts every value where it ends.
func FuzzScannerAgreesWithEncodingJSON(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want any
		var err error
		fuzzing.Bound(t, len(text), 500, func() { got, err = read(text) })
		wantErr := json.Unmarshal(text, &want)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err != nil {
			var e *ScanError
			require.ErrorAs(t, err, &e)
			require.LessOrEqual(t, e.Offset, len(text))
			if errors.Is(err, ErrTruncated) {
				require.Equal(t, len(text), e.Offset)
			}
			return
		}
		require.Equal(t, want, got)

		value := bytes.Trim(text, " \t\r\n")
		for _, after := range []string{"", ",", "]", "}", " 1"} {
			cut, err := New(append(bytes.Clone(text), after...)).Cut()
			require.NoError(t, err)
			require.Equal(t, string(value), string(cut))
		}
	})
}

// A wrong byte, and the end of the text, are reported at their offset.
func TestErrorsSayWhereAndWhatIsExpected(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[1,}`:         `at byte 8: '}' instead of a value`,
		`{"a" 1}`:           `at byte 5: '1' instead of a colon`,
		`{"a":1]`:           `at byte 6: ']' instead of a comma or }`,
		`[1}`:               `at byte 2: '}' instead of a comma or ]`,
		`{1`:                `at byte 1: '1' instead of a name`,
		`[1.x]`:             `at byte 3: 'x' instead of a digit`,
		`1 2`:               `at byte 2: text after the end of the value`,
		`["a` + "\n" + `"]`: `at byte 3: control character in a string`,
		`["\x"]`:            `at byte 4: unknown escape`,
		`[1e999]`:           `at byte 1: number out of range`,
		`{"a":1`:            ErrTruncated.Error(),
		`{"a`:               ErrTruncated.Error(),
		``:                  ErrTruncated.Error(),
	} {
		_, err := read([]byte(text))
		require.EqualError(t, err, want, text)
	}
	err := New([]byte("[]")).Object(func(string) error { return errors.New("called") })
	require.EqualError(t, err, `at byte 0: '[' instead of an object`)
	err = New([]byte("1")).Array(func(int) error { return errors.New("called") })
	require.EqualError(t, err, `at byte 0: '1' instead of an array`)
}

// Names arrive in the order of the text, repeated ones each time, and the first error of a caller ends the walk.
func TestMembersAreReadInOrder(t *testing.T) {
	s := New([]byte(`{"b": {"x": []}, "a": "y", "b": 2} null`))
	var seen []string
	require.NoError(t, s.Object(func(name string) error {
		raw, err := s.Cut()
		seen = append(seen, fmt.Sprintf("%s=%s", name, raw))
		return err
	}))
	require.Equal(t, []string{`b={"x": []}`, `a="y"`, `b=2`}, seen)
	require.NoError(t, s.Object(nil))
	require.NoError(t, s.End())
	stop := errors.New("stop")
	s = New([]byte(`[1, 2]`))
	require.ErrorIs(t, s.Array(func(int) error { return stop }), stop)
}
