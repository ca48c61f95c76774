package operate

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// unlockState asks for the passphrase of a state that has secrets, before a screen is drawn. A state without secrets needs none. What else may be
// wrong with the state is for the operation to find.
func unlockState(ctx context.Context, j *Job) error {
	if !j.Stack.Passphrases.MayAsk() {
		return nil
	}
	if _, err := j.Stack.State.Load(ctx); errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	return nil
}

// unlockForSecrets asks for the passphrase if the operation will record secrets, as its preview shows, before anything is changed. A secret that
// only a provider makes takes the terminal from the screen.
func unlockForSecrets(ctx context.Context, o *operation, previewed *sluice.Result) error {
	if o.secrets == nil || !o.Stack.Passphrases.MayAsk() {
		return nil
	}
	for _, s := range previewed.Steps() {
		if s.New != nil && (s.New.Inputs.HasSecrets() || s.New.Outputs.HasSecrets()) {
			_, err := o.secrets.Encrypter().Encrypt(ctx, "")
			return err
		}
	}
	return nil
}
