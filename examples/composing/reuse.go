package composing

import (
	"context"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
)

// Deploy previews an update, and performs it with the answers that the providers gave to the preview.
func Deploy(ctx context.Context, o sluice.Options, entropy []byte) (*sluice.Result, error) {
	o.Answers, o.Entropy = providers.NewAnswers(nil), entropy // 32 random bytes
	if _, err := sluice.Preview(ctx, o); err != nil {
		return nil, err
	}
	return sluice.Update(ctx, o)
}
