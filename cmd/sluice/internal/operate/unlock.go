package operate

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// unlockState requests the passphrase of a state that has secrets, before a screen is drawn. A state without secrets needs none. Other errors of
// the state are left to the operation.
func unlockState(ctx context.Context, j *Job) error {
	if !j.Stack.Passphrases.MayAsk() {
		return nil
	}
	if _, err := j.Stack.State.Load(ctx); errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	return nil
}

// unlockForSecrets requests the passphrase if the operation will record secrets, according to its preview, before anything is changed. If only a
// provider makes a secret, the later request takes the terminal from the screen.
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
