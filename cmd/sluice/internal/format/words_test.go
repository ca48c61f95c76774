package format

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellQuote(t *testing.T) {
	for text, want := range map[string]string{"plain-1.0": "plain-1.0", "": "''", "a b": "'a b'", "it's": `'it'"'"'s'`, "$x": "'$x'"} {
		require.Equal(t, want, ShellQuote(text))
	}
}
