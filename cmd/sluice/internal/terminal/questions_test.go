package terminal_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

const unclear = "Please answer yes or no.\n"

// typed returns a terminal whose input is text, and a buffer with its output.
func typed(text string) (*terminal.Terminal, *bytes.Buffer) {
	var out bytes.Buffer
	return terminal.New(terminal.Streams{In: strings.NewReader(text), Out: &out, Err: io.Discard}), &out
}

func TestAQuestionIsAskedUntilTheAnswerIsYesOrNo(t *testing.T) {
	const plain = "Sure? [yes/no] (no): "
	for name, c := range map[string]struct {
		typed     string
		confirmed bool
		out       string
	}{
		"yes":                      {typed: "yes\n", confirmed: true, out: plain},
		"y, with spaces":           {typed: " Y \n", confirmed: true, out: plain},
		"yes without a line end":   {typed: "yes", confirmed: true, out: plain},
		"no":                       {typed: "NO\n", out: plain},
		"n":                        {typed: "n\n", out: plain},
		"an empty line":            {typed: "\n", out: plain},
		"something else, then yes": {typed: "perhaps\nyes\n", confirmed: true, out: plain + unclear + plain},
		"details of nothing":       {typed: "details\nno\n", out: plain + unclear + plain},
	} {
		t.Run(name, func(t *testing.T) {
			at, out := typed(c.typed)
			confirmed, err := terminal.Confirm(t.Context(), at, "Sure?")
			require.NoError(t, err)
			require.Equal(t, c.confirmed, confirmed)
			require.Equal(t, c.out, out.String())
		})
	}
}

func TestAQuestionIsAnsweredWithOneOfItsWords(t *testing.T) {
	const question = "Sure? [yes/no/details/new] (no): "
	for typedText, want := range map[string]struct{ word, out string }{
		"\n":            {"no", question},
		"D\n":           {"details", question},
		"new\n":         {"new", question},
		"n\n":           {"no", question},
		"perhaps\nno\n": {"no", question + "Please answer yes, no, details or new.\n" + question},
	} {
		at, out := typed(typedText)
		word, err := terminal.AskWord(t.Context(), at, "Sure?", []string{"yes", "no", "details", "new"}, "no")
		require.NoError(t, err)
		require.Equal(t, want.word, word)
		require.Equal(t, want.out, out.String())
	}
}

func TestAQuestionThatNobodyAnswersIsCancelled(t *testing.T) {
	for name, text := range map[string]string{"at once": "", "after another answer": "perhaps\n"} {
		t.Run(name, func(t *testing.T) {
			at, _ := typed(text)
			confirmed, err := terminal.Confirm(t.Context(), at, "Sure?")
			require.False(t, confirmed)
			var failed *exit.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, exit.Cancelled, failed.Status)
		})
	}
}
