package terminal

import (
	"context"
	"errors"
	"fmt"
)

// AskPassphrase returns a function that reads a passphrase without showing it. It asks twice if confirm is set.
func AskPassphrase(t *Terminal) func(ctx context.Context, confirm bool) (string, error) {
	return func(ctx context.Context, confirm bool) (string, error) {
		if !confirm {
			return t.AskHidden("Enter your passphrase to unlock config/secrets: ")
		}
		for ctx.Err() == nil {
			first, err := t.AskHidden("Enter a passphrase to protect config/secrets: ")
			if err != nil {
				return "", err
			}
			second, err := t.AskHidden("Re-enter the passphrase to confirm: ")
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

// ConfirmByName asks for the name of what is about to go.
func ConfirmByName(t *Terminal, warning, name string) error {
	answer, err := t.Ask(fmt.Sprintf("%s\nPlease confirm that this is what you'd like to do by typing `%s`: ", warning, name))
	if err != nil {
		return err
	}
	if answer != name {
		return errors.New("confirmation declined")
	}
	return nil
}
