package terminal_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

const unclear, shown = "Please answer yes or no.\n", "the details\n"

// typed returns a terminal whose input is text, and a buffer with its output.
func typed(text string) (*terminal.Terminal, *bytes.Buffer) {
	var out bytes.Buffer
	return terminal.New(terminal.Streams{In: strings.NewReader(text), Out: &out, Err: io.Discard}), &out
}

func TestAQuestionIsAskedUntilTheAnswerIsYesOrNo(t *testing.T) {
	const plain, detailed = "Sure? [yes/no] (no): ", "Sure? [yes/no/details] (no): "
	for name, c := range map[string]struct {
		typed     string
		details   bool
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
		"details, then yes":        {typed: "d\nyes\n", details: true, confirmed: true, out: detailed + shown + detailed},
		"something else, though there are details": {typed: "x\nn\n", details: true, out: detailed + unclear + detailed},
	} {
		t.Run(name, func(t *testing.T) {
			at, out := typed(c.typed)
			var details func() error
			if c.details {
				details = func() error { _, err := io.WriteString(out, shown); return err }
			}
			confirmed, err := terminal.Confirm(t.Context(), at, "Sure?", details)
			require.NoError(t, err)
			require.Equal(t, c.confirmed, confirmed)
			require.Equal(t, c.out, out.String())
		})
	}
}

func TestAQuestionThatNobodyAnswersIsCancelled(t *testing.T) {
	for name, text := range map[string]string{"at once": "", "after another answer": "perhaps\n"} {
		t.Run(name, func(t *testing.T) {
			at, _ := typed(text)
			confirmed, err := terminal.Confirm(t.Context(), at, "Sure?", nil)
			require.False(t, confirmed)
			var failed *exit.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, exit.Cancelled, failed.Status)
		})
	}
}

func TestDetailsThatCannotBeShownEndTheQuestion(t *testing.T) {
	at, _ := typed("details\nyes\n")
	broken := errors.New("the screen is gone")
	_, err := terminal.Confirm(t.Context(), at, "Sure?", func() error { return broken })
	require.ErrorIs(t, err, broken)
}
