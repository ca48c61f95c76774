package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/native"
)

var errFailed = errors.New("exit status 1")

// written writes pieces by turns to both streams and returns the text of the command's error.
func written(t *testing.T, pieces ...string) string {
	r := newRecorder(native.Call{Log: func(native.Message) {}})
	for i, p := range pieces {
		n, err := r.writer([]string{"stdout", "stderr"}[i%2]).Write([]byte(p))
		require.NoError(t, err)
		require.Equal(t, len(p), n)
		require.LessOrEqual(t, r.mixed.Len(), 2*maxMixed+maxMixed/8)
	}
	r.flush()
	return r.failure(context.Background(), "make", errFailed).Error()
}

func TestTheStreamsOfACommandAreMixedByLines(t *testing.T) {
	require.Equal(t, "exit status 1: running \"make\":\none\nhunter2\nan error\n",
		written(t, "hun", "one\nan ", "ter2\n", "error"))
}

func TestOfALotOfOutputTheErrorHasTheEnd(t *testing.T) {
	var pieces []string
	for i := range 5000 {
		pieces = append(pieces, fmt.Sprintf("line %d %s\n", i, strings.Repeat("x", 1000)))
	}
	text := written(t, pieces...)
	require.Less(t, len(text), 3*maxMixed)
	require.Regexp(t, `\n\.\.\. \(\d+ bytes before this are left out\)\nline \d+ `, text)
	require.Contains(t, text, "line 4999 ")
	require.NotContains(t, text, "line 0 ")
}

func TestOfALongLineTheErrorHasTheBeginning(t *testing.T) {
	long := strings.Repeat("x", 3*maxMixed)
	text := written(t, long, "", "\n", "", long+"\n", "", long)
	require.Less(t, len(text), 3*maxMixed)
	require.Contains(t, text, fmt.Sprintf(" ... (cut after %d of ", maxMixed))
	require.Contains(t, written(t, "first\n", "", long), "first\nxxx")
}
