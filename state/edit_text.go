package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
)

// EditText returns s in the form for editing: the deployment as JSON, indented by 2 spaces, with its present ciphertexts
// ([state.md 7.10]). s must have been read with sealed secrets, or with those of its own provider.
//
// [state.md 7.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#710-state
func EditText(ctx context.Context, s *Snapshot) ([]byte, error) {
	return editText(ctx, s, unexpected{})
}

func editText(ctx context.Context, s *Snapshot, fresh property.Encrypter) ([]byte, error) {
	e := NewEncoder(EncoderOptions{Crypter: s.SecretsProvider.Identity(), Encrypter: fresh})
	parts, _, err := e.parts(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("encode the deployment: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, parts.appendDeployment(nil, s), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// unexpected always fails: a state that was read has no secret to encrypt anew.
type unexpected struct{}

func (unexpected) Encrypt(context.Context, string) (string, error) {
	return "", errors.New("there is a secret that is not encrypted yet")
}

// placeholder stands for the ciphertexts of secrets that the user has typed.
type placeholder struct{}

func (placeholder) Encrypt(context.Context, string) (string, error) {
	return "(encrypted when it is written)", nil
}

// ParseEdit reads an edited form of the [EditText] of before, for the stack of that name. A new secret may be given as
// plain text. A nil snapshot means that nothing has changed. The returned text is the result in the form of EditText,
// without new secrets in the clear. Errors give the place of the problem: JSON that cannot be read, a member that no
// state has, resources of other stacks, another secrets provider, or the [*IntegrityError] of [Verify].
func ParseEdit(ctx context.Context, before *Snapshot, stack string, text []byte) (*Snapshot, []byte, error) {
	was, err := EditText(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if bytes.Equal(was, text) {
		return nil, was, nil
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, nil, located(text, err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, nil, errors.New("the text is not a JSON object")
	}
	decode := func() (*Snapshot, error) {
		return decodeDeployment(ctx, &envelope{version: versionPlain, latest: text}, DecodeOptions{Name: "the edited state"})
	}
	s, err := decode()
	if err != nil {
		return nil, nil, err
	}
	if err := checkEdit(before, s, stack); err != nil {
		return nil, nil, err
	}
	s.origin = before.origin
	// Encoding stores ciphertexts beside secrets, so this works on a copy.
	probe, err := decode()
	if err != nil {
		return nil, nil, err
	}
	again, err := editText(ctx, probe, placeholder{})
	if err != nil {
		return nil, nil, err
	}
	if lost := lostIn(tree, again); lost != "" {
		return nil, nil, fmt.Errorf("%s means nothing in a state and would be lost; correct or remove it", lost)
	}
	if bytes.Equal(was, again) {
		return nil, was, nil
	}
	return s, again, nil
}

func checkEdit(before, s *Snapshot, stack string) error {
	if s.SecretsProvider.Identity() != before.SecretsProvider.Identity() {
		return errors.New("secrets_providers has changed: the secrets of the state could not be opened any more")
	}
	for i, r := range s.Resources {
		if u := r.URN; u.IsValid() && u.Stack() != stack {
			return fmt.Errorf("resources[%d] (%s) is of the stack %q, not of %q", i, u, u.Stack(), stack)
		}
	}
	if err := VerifyNames(s); err != nil {
		return err
	}
	return Verify(s)
}

// located puts line and column in front of a JSON error.
func located(text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := text[:min(max(int(syntax.Offset)-1, 0), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// lostIn returns the path of the first member of tree that has a value and is not in text, the encoding of the decoded
// tree.
func lostIn(tree any, text []byte) string {
	var understood any
	if err := json.Unmarshal(text, &understood); err != nil {
		return ""
	}
	return lost(tree, understood, "")
}

func lost(typed, understood any, path string) string {
	switch t := typed.(type) {
	case map[string]any:
		u, _ := understood.(map[string]any)
		if _, special := t[property.SignatureKey]; special {
			return "" // secrets, assets and the like have forms of their own
		}
		for _, name := range slices.Sorted(maps.Keys(t)) {
			at := path + "." + name
			if path == "" {
				at = name
			}
			v, ok := u[name]
			if !ok && !isEmpty(t[name]) {
				return at
			}
			if found := lost(t[name], v, at); ok && found != "" {
				return found
			}
		}
	case []any:
		u, _ := understood.([]any)
		for i := range min(len(t), len(u)) {
			if found := lost(t[i], u[i], fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// isEmpty reports whether states leave out this value.
func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		return !x
	case string:
		return x == ""
	case float64:
		return x == 0
	case []any:
		return len(x) == 0
	case map[string]any:
		for _, e := range x {
			if !isEmpty(e) {
				return false
			}
		}
		return true
	}
	return false
}
