package display

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

func TestAReportHoldsBackTheFirstAndTheLastOfTooManyLines(t *testing.T) {
	var out bytes.Buffer
	r := NewReport(Options{Title: "T", Out: &out, Now: time.Now})
	r.Hold()
	const lines = 100_000
	for i := range lines {
		r.Observe(stages.Stdout{Message: fmt.Sprintf("line %d\n", i)})
	}
	r.Note(strings.Repeat("é", 10<<20), strings.Repeat("é", 10<<20))
	require.LessOrEqual(t, r.held.firstSize+r.held.lastSize, maxHeld)
	kept := 0
	for _, text := range r.held.all() {
		kept += len(text)
	}
	require.LessOrEqual(t, kept, maxHeld)
	r.Close()
	require.Contains(t, out.String(), "line 0\nline 1\nline 2\n")
	require.Contains(t, out.String(), fmt.Sprintf("line %d\n", lines-1))
	require.Regexp(t, `\nline \d+\n\.\.\. \d+ lines left out\nline \d+\n`, out.String())
	require.Contains(t, out.String(), "é")
}

func TestAReportHoldsBackFewLinesAsTheyAre(t *testing.T) {
	var out bytes.Buffer
	r := NewReport(Options{Title: "T", Out: &out, Now: time.Now})
	r.Hold()
	r.Observe(stages.Stdout{Message: "one\n"})
	r.Note("two", "2")
	require.NotContains(t, out.String(), "one")
	r.Close()
	require.Contains(t, out.String(), "one\ntwo\n")
	require.NotContains(t, out.String(), "left out")
}
