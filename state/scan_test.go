package state

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		c := cursor{data: []byte(text)}
		got, err := c.cut()
		require.NoError(t, err, text)
		require.Equal(t, want, string(got))
	}
	for _, text := range []string{`"no end`, `"no end \"`, `"no end \`, `["`} {
		c := cursor{data: []byte(text)}
		_, err := c.cut()
		require.ErrorIs(t, err, ErrTruncated, text)
	}
}

// With a search for the last quote after each escape, this would take an hour.
func TestALongTextWithManyEscapesIsReadInOnePass(t *testing.T) {
	text := `"` + strings.Repeat(`line\n`, 3_000_000) + `"`
	c := cursor{data: []byte(text + ",")}
	got, err := c.cut()
	require.NoError(t, err)
	require.Len(t, got, len(text))
}
