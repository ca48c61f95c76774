package operation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
)

// watchedEvents returns events of a run with these secrets, and the events that its observer has received.
func watchedEvents(secrets ...string) (*events, *[]stages.Event) {
	known, got := &redact.Set{}, &[]stages.Event{}
	for _, s := range secrets {
		known.Add(s)
	}
	return &events{masks: masks{known: known, shown: known}, observe: func(ev stages.Event) { *got = append(*got, ev) }}, got
}

func piece(stream int32, text string) stages.Diagnostic {
	return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, StreamID: stream, Message: text}}
}

// texts returns the messages of each stream, joined.
func texts(events []stages.Event) map[int32]string {
	out := map[int32]string{}
	for _, e := range events {
		if d, is := e.(stages.Diagnostic); is {
			out[d.StreamID] += d.Message
		}
	}
	return out
}

func TestASecretInTwoMessagesOfAStreamIsMasked(t *testing.T) {
	const line = "it is correct horse battery, truly\n"
	for at := 1; at < len(line); at++ {
		e, got := watchedEvents("correct horse battery")
		for _, d := range []stages.Diagnostic{piece(1, line[:at]), piece(2, "correct "), piece(0, "between"), piece(1, line[at:]), piece(2, "horse.\n"), piece(1, line)} {
			e.emit(d)
		}
		const masked = "it is [secret], truly\n"
		require.Equal(t, map[int32]string{0: "between", 1: masked + masked, 2: "correct horse.\n"}, texts(*got), "cut at %d", at)
		require.Empty(t, e.streams.unfinished)
	}
}

func TestTheConfigurationOfADebuggerHasNoSecrets(t *testing.T) {
	given := func(text string) map[string]any {
		return map[string]any{
			"name": text, "port": 9229, "continueOnAttach": true, "skipFiles": []any{"node", text, 1.5, nil},
			"connect": map[string]any{"host": text, "list": []any{map[string]any{"deep": text}}},
		}
	}
	e, got := watchedEvents("hunter2")
	config := given("the hunter2 program")
	e.emit(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "hunter2 waits", Debugger: config}})
	require.Equal(t, []stages.Event{
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "[secret] waits", Debugger: given("the [secret] program")}},
	}, *got)
	require.Equal(t, given("the hunter2 program"), config) // the sender's map is unchanged

	e, got = watchedEvents("hunter2")
	e.masks.shown = nil // secrets are shown
	e.emit(stages.Diagnostic{LogMessage: stages.LogMessage{Debugger: config}})
	require.Equal(t, []stages.Event{stages.Diagnostic{LogMessage: stages.LogMessage{Debugger: config}}}, *got)
	e.emit(stages.Diagnostic{LogMessage: stages.LogMessage{Debugger: map[string]any{}}})
	require.NotNil(t, (*got)[1].(stages.Diagnostic).Debugger) // it distinguishes the event
}

func TestWhatIsHeldBackComesBeforeTheLastEvents(t *testing.T) {
	for _, last := range []stages.Event{stages.Summary{}, stages.Ended{}} {
		e, got := watchedEvents("hunter2")
		e.emit(piece(1, "hun"))
		require.Empty(t, *got)
		e.emit(last)
		require.Equal(t, []stages.Event{piece(1, "hun"), last}, *got)
	}
}

func TestFewTextsHoldSomethingBack(t *testing.T) {
	e, got := watchedEvents("hunter2")
	for i := range int32(10 * maxUnfinished) {
		e.emit(piece(i+1, fmt.Sprintf("%d: hunt", i)))
		require.LessOrEqual(t, len(e.streams.unfinished), maxUnfinished)
	}
	require.Equal(t, "0: [secret]", texts(*got)[1])
	e.emit(stages.Ended{})
	require.Equal(t, "639: hunt", texts(*got)[640])
}

func TestWhatIsShownWithSecretsIsNotHeldBack(t *testing.T) {
	e, got := watchedEvents("hunter2")
	e.masks.shown = nil
	e.emit(piece(1, "hun"))
	e.emit(piece(1, "ter2\n"))
	require.Equal(t, []stages.Event{piece(1, "hun"), piece(1, "ter2\n")}, *got)
}

// The part held until the line ends is shorter than a form of a secret, however long the line is.
func TestALineWithoutEndIsNotKept(t *testing.T) {
	e, got := watchedEvents("hunter2")
	for range 1000 {
		e.emit(piece(1, strings.Repeat("hunter2 hunt", 1000)))
		require.Len(t, e.streams.unfinished, 1)
	}
	e.emit(piece(1, "!\n"))
	require.Empty(t, e.streams.unfinished)
	shown := texts(*got)[1]
	require.Equal(t, 1_000_000, strings.Count(shown, redact.Mask))
	require.NotContains(t, shown, "hunter2")
}
