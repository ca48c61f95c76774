package simulate

import (
	"context"
	"encoding/base64"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

const stackName = "organization/p/dev"

// clear is a secrets provider that does not encrypt.
type clear struct{}

func (clear) Encrypt(_ context.Context, text string) (string, error) {
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func (clear) Decrypt(_ context.Context, text string) (string, error) {
	plain, err := base64.StdEncoding.DecodeString(text)
	return string(plain), err
}

// encode returns the written form of a state.
func encode(ctx context.Context, s *state.Snapshot) (string, error) {
	if s == nil {
		return "", nil
	}
	text, err := encoder().Checkpoint(ctx, stackName, s)
	return string(text), err
}

// decode returns the state in the form that the next operation reads.
func decode(ctx context.Context, text string) (*state.Snapshot, error) {
	if text == "" {
		return nil, nil
	}
	c, err := state.DecodeCheckpoint(ctx, []byte(text), decodeOptions())
	if err != nil {
		return nil, err
	}
	return c.Latest, nil
}

func encoder() *state.Encoder { return state.NewEncoder(state.EncoderOptions{Encrypter: clear{}}) }

func decodeOptions() state.DecodeOptions {
	return state.DecodeOptions{
		Name:      "the state",
		Decrypter: func(context.Context, *state.SecretsProvider) (property.Decrypter, error) { return clear{}, nil },
	}
}
