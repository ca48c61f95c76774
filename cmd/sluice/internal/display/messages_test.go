package display

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

func printed(stream int32, text string) stages.Diagnostic {
	return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, StreamID: stream, Message: text}}
}

func said(m *model) string {
	return stepPrinter{Options{}, style{}}.diagnosticsSection(m)
}

func TestOfALotOfOutputTheEndIsKept(t *testing.T) {
	m := newModel(time.Time{}, false)
	m.observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: "the first error"}})
	for i := range 100_000 {
		m.observe(printed(1, fmt.Sprintf("line %d\n", i)))
	}
	kept := m.diagnostics[""]
	require.LessOrEqual(t, kept.size, maxMessages)
	require.LessOrEqual(t, len(kept.list), maxMessages/perMessage)
	text := said(m)
	require.Contains(t, text, "error: the first error")
	require.Contains(t, text, "line 99999")
	require.NotContains(t, text, "line 1\n")
	require.Regexp(t, `\.\.\. \(\d+ earlier messages with .* left out; --show-full-output shows them\)`, text)

	m = newModel(time.Time{}, true)
	for i := range 100_000 {
		m.observe(printed(1, fmt.Sprintf("line %d\n", i)))
	}
	require.Len(t, m.diagnostics[""].list, 100_000)
}

func TestALineWithoutEndIsCutWhileItComesIn(t *testing.T) {
	m := newModel(time.Time{}, false)
	for range 1000 {
		m.observe(printed(1, strings.Repeat("x", 10_000)))
	}
	require.Len(t, m.diagnostics[""].list, 1)
	require.LessOrEqual(t, len(m.diagnostics[""].list[0].Message), maxMessage)
	require.Contains(t, said(m), "... (9.5 MiB in all; --show-full-output shows them)")
	m.observe(printed(1, "\n"))
	m.observe(printed(1, "next\n"))
	require.Contains(t, said(m), "next")
}
