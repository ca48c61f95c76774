package command

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/native"
)

// recordedOf returns the record of lines, and the warnings about it.
func recordedOf(t *testing.T, lines int, line string) (text string, warnings []string) {
	t.Helper()
	r := newRecorder(native.Call{Log: func(m native.Message) {
		if m.Warning {
			warnings = append(warnings, m.Text)
		}
	}})
	w := r.writer("stdout")
	for i := range lines {
		_, err := fmt.Fprintf(w, "%d %s\n", i, line)
		require.NoError(t, err)
	}
	r.flush()
	return r.text("stdout"), warnings
}

func TestOutputIsRecordedAsItIs(t *testing.T) {
	text, warnings := recordedOf(t, 3, "x")
	require.Equal(t, "0 x\n1 x\n2 x", text)
	require.Empty(t, warnings)
	all, warnings := recordedOf(t, (maxHead+maxTail-1<<20)/1024, strings.Repeat("x", 1000))
	require.Empty(t, warnings)
	for i, line := range strings.Split(all, "\n") {
		require.True(t, strings.HasPrefix(line, fmt.Sprintf("%d x", i)))
	}
}

func TestOfEndlessOutputTheBeginningAndTheEndAreRecorded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := newRecorder(native.Call{Log: func(native.Message) {}})
	w := r.writer("stdout")
	line := []byte(strings.Repeat("x", 1000) + "\n")
	for range 200 << 20 / len(line) {
		_, err := w.Write(line)
		require.NoError(t, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, after.HeapAlloc, before.HeapAlloc+maxHead+maxTail+8<<20, "what is held does not grow with what is printed")

	text, warnings := recordedOf(t, 40_000, strings.Repeat("x", 1000))
	require.Len(t, warnings, 1)
	require.Regexp(t, `^the command has printed more to stdout than is recorded: \d+ bytes in the middle are left out$`, warnings[0])
	require.Less(t, len(text), maxHead+maxTail+1<<10)
	require.True(t, strings.HasPrefix(text, "0 x"))
	require.Regexp(t, ` \.\.\. \(cut after \d+ of \d+ bytes\)\n\.\.\. \d+ bytes are left out here \.\.\.\n\d+ x`, text)
	require.True(t, strings.HasPrefix(text[strings.LastIndexByte(text, '\n')+1:], "39999 x"))
}

// A line without an end is limited as well.
func TestALineWithoutAnEndIsCut(t *testing.T) {
	var shown []string
	r := newRecorder(native.Call{Log: func(m native.Message) { shown = append(shown, m.Text) }})
	w := r.writer("stdout")
	part := []byte(strings.Repeat("x", 1<<16))
	for range 64 {
		_, err := w.Write(part)
		require.NoError(t, err)
		require.LessOrEqual(t, r.lines["stdout"].Len(), 1<<20)
	}
	r.flush()
	require.Len(t, shown, 1)
	require.Regexp(t, fmt.Sprintf(`x \.\.\. \(cut after \d+ of %d bytes\)$`, 64<<16), shown[0][len(shown[0])-100:])
}
