package terminal

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Input after a question has taken the terminal from a screen is for the question, even if a read for the screen is delayed.
func TestAReaderOfAScreenThatWasLeftTakesNothing(t *testing.T) {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = from.Close() }()
	i := &input{File: from, ended: func() { t.Error("the terminal has not gone away") }}
	_, err = to.WriteString("ab")
	require.NoError(t, err)
	b := make([]byte, 1)
	_, err = i.Read(b)
	require.NoError(t, err)
	require.Equal(t, "a", string(b))

	i.leave()
	_, err = i.Read(b)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, to.Close())
	rest, err := io.ReadAll(from)
	require.NoError(t, err)
	require.Equal(t, "b", string(rest))
}
