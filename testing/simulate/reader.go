package simulate

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// errSealed is the error of a reader that cannot decrypt.
var errSealed = errors.New("the passphrase is not known")

// sealed is a decrypter that always fails.
type sealed struct{}

func (sealed) Decrypt(context.Context, string) (string, error) { return "", errSealed }

// outputsIn returns the outputs of the stack in a text, as another stack reads them. With isSealed, secrets cannot be decrypted.
func outputsIn(ctx context.Context, text string, isSealed bool) (property.Map, error) {
	if text == "" {
		return property.Map{}, nil
	}
	options := decodeOptions()
	if isSealed {
		options.Decrypter = func(context.Context, *state.SecretsProvider) (property.Decrypter, error) {
			return property.Lenient(sealed{}, func(error) bool { return false }), nil
		}
	}
	c, err := state.DecodeCheckpoint(ctx, []byte(text), options)
	if err != nil {
		return property.Map{}, err
	}
	return c.Latest.Outputs(), nil
}

// verifyRead checks that a reader has the recorded outputs of the other stack, and fails only if it uses one that it cannot decrypt.
func (a *attempt) verifyRead(text string) []string {
	recorded, err := outputsIn(context.Background(), text, false)
	if err != nil {
		return []string{fmt.Sprintf("the outputs of the other stack cannot be read: %v", err)}
	}
	known, _ := a.read(context.Background(), "")
	var faults []string
	usesUnknown := false
	for _, d := range a.op.Program {
		for _, property := range sorted(d.Outputs) {
			usesUnknown = usesUnknown || !known.At(d.Outputs[property]).IsKnown()
		}
	}
	if a.err != nil && !usesUnknown {
		faults = append(faults, fmt.Sprintf("it fails, and uses nothing that it cannot know: %v", a.err))
	}
	if a.err == nil && usesUnknown {
		faults = append(faults, "it succeeds, and uses something that it cannot know")
	}
	if a.preview {
		return faults
	}
	for _, r := range a.after.resources() {
		d, made := a.program.declaration(r.URN)
		if !made || r.Delete {
			continue
		}
		for _, name := range sorted(d.Outputs) {
			want, has := recorded.Get(d.Outputs[name])
			if got, sent := r.Inputs.Get(name); sent != has || has && !property.Identical(got, want) {
				faults = append(faults, fmt.Sprintf("%q of %s is %v, and the other stack has %v", name, r.URN, got, want))
			}
		}
	}
	return faults
}
