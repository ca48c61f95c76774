package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/state/secrets"
)

// AskPassphrase returns a function that reads a passphrase without showing it.
func AskPassphrase(t *Terminal) secrets.Prompt {
	return func(ctx context.Context, q secrets.Question, stack string) (string, error) {
		of := ": "
		if stack != "" { // an operation may read the secrets of several
			of = " of the stack " + format.Printable(stack) + ": "
		}
		switch q {
		case secrets.AskExisting:
			return t.AskHidden(ctx, "Enter your passphrase to unlock config/secrets"+of)
		case secrets.AskAgain:
			return t.AskHidden(ctx, "The passphrase is wrong. Enter your passphrase to unlock config/secrets"+of)
		}
		for ctx.Err() == nil {
			first, err := t.AskHidden(ctx, "Enter a passphrase to protect config/secrets: ")
			if err != nil {
				return "", err
			}
			second, err := t.AskHidden(ctx, "Re-enter the passphrase to confirm: ")
			if err != nil {
				return "", err
			}
			if first == second {
				return first, nil
			}
			fmt.Fprintln(t.Err, "The passphrases are not the same; try again.")
		}
		return "", ctx.Err()
	}
}

// Confirm asks a question until the answer is yes or no; an empty answer means no.
func Confirm(ctx context.Context, t *Terminal, question string) (confirmed bool, err error) {
	answer, err := AskWord(ctx, t, question, []string{wordYes, wordNo}, wordNo)
	return answer == wordYes, err
}

const (
	wordYes = "yes"
	wordNo  = "no"
)

// AskWord asks a question in a line of text until the answer is one of the words, or its first letter. Words that begin alike have no short
// form, except for the first of them. An empty answer means usual.
func AskWord(ctx context.Context, t *Terminal, question string, words []string, usual string) (string, error) {
	for {
		answer, err := t.Ask(ctx, fmt.Sprintf("%s [%s] (%s): ", question, strings.Join(words, "/"), usual))
		if err != nil {
			return "", err
		}
		if answer = strings.ToLower(answer); answer == "" {
			return usual, nil
		}
		for _, w := range words {
			if answer == w || answer == w[:1] {
				return w, nil
			}
		}
		last := len(words) - 1
		fmt.Fprintf(t.Out, "Please answer %s or %s.\n", strings.Join(words[:last], ", "), words[last])
	}
}

// ConfirmByName asks the user to type the name of the object that is about to be removed.
func ConfirmByName(ctx context.Context, t *Terminal, warning, name string) error {
	answer, err := t.Ask(ctx, fmt.Sprintf("%s\nPlease confirm that this is what you'd like to do by typing `%s`: ", warning, name))
	if err != nil {
		return err
	}
	if answer != name {
		return errors.New("confirmation declined")
	}
	return nil
}
