package display

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func printed(stream int32, text string) stages.Diagnostic {
	return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, StreamID: stream, Message: text}}
}

func said(m *model) string {
	return messagePrinter{}.section(m, nil, false)
}

func TestOfALotOfOutputTheEndIsKept(t *testing.T) {
	m := newModel(time.Time{}, false)
	m.observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: "the first error"}})
	for i := range 100_000 {
		m.observe(printed(1, fmt.Sprintf("line %d\n", i)))
	}
	kept := m.diagnostics[""]
	require.LessOrEqual(t, kept.size[routine], maxMessages)
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

// seriousOf returns the errors and warnings that a model keeps, and their size in bytes.
func seriousOf(m *model) (list []message, size int) {
	for _, of := range m.diagnostics {
		for _, x := range of.list {
			if x.weight() == serious {
				list, size = append(list, x), size+x.kept()
			}
		}
	}
	return list, size
}

func TestOfManyErrorsTheFirstAndTheLastAreKept(t *testing.T) {
	m := newModel(time.Time{}, false)
	const number = 20_000
	text := strings.Repeat("x", 6_000)
	for i := range number {
		severity := []stages.Severity{stages.Error, stages.Warning}[i%2]
		m.observe(stages.Diagnostic{LogMessage: stages.LogMessage{
			Severity: severity, URN: urn.URN(fmt.Sprintf("urn:pulumi:dev::p::t:i:T::%d", i%100)), Message: fmt.Sprintf("number %d: %s", i, text),
		}})
		if i%1000 == 0 {
			_, size := seriousOf(m)
			require.LessOrEqual(t, size, maxKept)
		}
	}
	list, size := seriousOf(m)
	require.LessOrEqual(t, size, maxKept)
	require.GreaterOrEqual(t, size, maxKept/2)
	require.Equal(t, size, m.kept[serious])
	left, lost := 0, 0
	for _, of := range m.diagnostics {
		left += of.omitted[serious]
		lost += of.lost[serious]
	}
	require.Equal(t, number, len(list)+left)
	require.Greater(t, lost, left*len(text))
	shown := said(m)
	for _, i := range []int{0, 1, 500, number - 500, number - 1} {
		require.Contains(t, shown, fmt.Sprintf("number %d: ", i))
	}
	require.NotContains(t, shown, fmt.Sprintf("number %d: ", number/2))
	require.Regexp(t, `\.\.\. \(\d+ errors and warnings with .* left out; --show-full-output shows them\)`, shown)

	whole := newModel(time.Time{}, true)
	for range 3 * maxKept / maxMessages {
		whole.observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: strings.Repeat("x", maxMessages)}})
	}
	_, size = seriousOf(whole)
	require.Greater(t, size, 3*maxKept)
}

func TestOfWhatManyResourcesPrintTheEndIsKept(t *testing.T) {
	m := newModel(time.Time{}, false)
	text := strings.Repeat("x", 10_000)
	for i := range 5_000 {
		d := printed(1, fmt.Sprintf("number %d: %s\n", i, text))
		d.URN = urn.URN(fmt.Sprintf("urn:pulumi:dev::p::t:i:T::%d", i%1000))
		m.observe(d)
	}
	require.LessOrEqual(t, m.kept[routine], maxKept)
	shown := said(m)
	require.Contains(t, shown, "number 4999: ")
	require.NotContains(t, shown, "number 0: ")
}

func TestOfAMessageThatWasCutTheWholeLengthIsShown(t *testing.T) {
	m := newModel(time.Time{}, false)
	m.observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: redact.Cut(strings.Repeat("x", 3<<20), redact.MaxMessage)}})
	require.Contains(t, said(m), "... (3.0 MiB in all; --show-full-output shows 1.0 MiB of them)")
}

func TestSectionsOfMessagesDoNotDependOnTheOrderOfArrival(t *testing.T) {
	info := func(u urn.URN, text string) stages.Event {
		return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, URN: u, Message: text}}
	}
	for _, preview := range []bool{false, true} {
		events := []stages.Event{info("", "hello"), info(thing("b"), "from b"), info(thing("a"), "from a")}
		want := "\nDiagnostics:\n  pkg:mod:Thing (a):\n    from a\n\n  pkg:mod:Thing (b):\n    from b\n\n  stack:\n    hello\n"
		for range events {
			events = append(events[1:], events[0])
			require.Equal(t, want, concluded(Options{IsPreview: preview}, Ending{}, events...))
		}
	}
}
