package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// stackReferenceType is the type that a program reads to get the outputs of another stack.
const stackReferenceType urn.Type = "pulumi:pulumi:StackReference"

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
	if err != nil || c.Latest == nil {
		return property.Map{}, err
	}
	for _, r := range c.Latest.Resources {
		if r.Type == urn.RootStackType && !r.Delete {
			return r.Outputs, nil
		}
	}
	return property.Map{}, nil
}

// reader runs the reader of an operation, if there is one: an update of its own stack with the outputs after the operation.
func (h *history) reader(i int, text string) {
	r := h.Case.Operations[i].Reader
	if r == nil || len(h.Faults) > 0 {
		return
	}
	if h.second == nil {
		h.second = newWorld()
	}
	op := Operation{Do: Update, Program: r.Program, Manner: r.Manner, Flags: Flags{ContinueOnError: r.ContinueOnError}}
	read := func(ctx context.Context, _ string) (property.Map, error) { return outputsIn(ctx, text, r.Sealed) }
	var attempts []*attempt
	for n, s := range h.Schedules {
		for _, preview := range []bool{true, false} {
			if preview && n > 0 {
				continue
			}
			a := prepare(h.second, op, s, i, preview, nil)
			a.read = read
			a.run(h.ctx, s)
			a.text, _ = encode(h.ctx, a.after.snapshot) // verify has encoded the same state
			for _, f := range append(verify(h.ctx, a), a.verifyRead(text)...) {
				h.fault("reader %d%s: %s", i, a.label(s), f)
			}
			if !preview {
				attempts = append(attempts, a)
			}
		}
	}
	h.compare(i, "reader", attempts)
	h.second = attempts[0].after
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

// readStack reads the outputs of the other stack, if the program uses any.
func (p *program) readStack(ctx context.Context, m stages.Monitor) error {
	for _, d := range p.op.Program {
		if len(d.Outputs) == 0 {
			continue
		}
		name := strings.ReplaceAll(stackName, "/dev", "/other")
		r, err := m.Read(ctx, &stages.ReadRequest{
			Type: stackReferenceType, Name: name, ID: property.String(name),
			Properties: property.NewMap(map[string]property.Value{"name": property.String(name)}),
		})
		if err != nil {
			return err
		}
		p.outputs = r.Outputs.At("outputs").AsMap()
		return nil
	}
	return nil
}
