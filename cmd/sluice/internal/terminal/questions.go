package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state/secrets"
)

// AskPassphrase returns a function that reads a passphrase without showing it.
func AskPassphrase(t *Terminal) secrets.Prompt {
	return func(ctx context.Context, q secrets.Question) (string, error) {
		switch q {
		case secrets.AskExisting:
			return t.AskHidden(ctx, "Enter your passphrase to unlock config/secrets: ")
		case secrets.AskAgain:
			return t.AskHidden(ctx, "The passphrase is wrong. Enter your passphrase to unlock config/secrets: ")
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

// Confirm asks a question until the answer is yes or no; an empty answer means no. If details is not nil, the user may
// also choose details. Confirm then shows them and repeats the question.
func Confirm(ctx context.Context, t *Terminal, question string, details func() error) (confirmed bool, err error) {
	answers := "[yes/no]"
	if details != nil {
		answers = "[yes/no/details]"
	}
	for {
		answer, err := t.Ask(ctx, fmt.Sprintf("%s %s (no): ", question, answers))
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return true, nil
		case "", "no", "n":
			return false, nil
		case "details", "d":
			if details != nil {
				if err := details(); err != nil {
					return false, err
				}
				continue
			}
		}
		fmt.Fprintln(t.Out, "Please answer yes or no.")
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
