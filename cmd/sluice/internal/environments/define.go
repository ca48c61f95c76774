package environments

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// definitionText escapes a setting for a definition: a $ that would begin a reference is doubled.
func definitionText(text string) string {
	if strings.Contains(text, "${") || strings.Contains(text, "$$") {
		return strings.ReplaceAll(text, "$", "$$")
	}
	return text
}

// DefinitionOf returns the definition of an environment that has these settings. dec decrypts the secret ones, which are secrets in the definition.
// Without dec they are masked, for display.
func DefinitionOf(ctx context.Context, values map[workspace.Key]workspace.Value, dec workspace.Decrypter) ([]byte, error) {
	settings := make(map[string]any, len(values))
	for k, v := range values {
		defined, err := definitionOf(ctx, v, dec)
		if err != nil {
			return nil, workspace.Undecryptable(k, err)
		}
		settings[k.String()] = defined
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := e.Encode(map[string]any{"values": map[string]any{propertySettings: settings}})
	return out.Bytes(), err
}

func definitionOf(ctx context.Context, v workspace.Value, dec workspace.Decrypter) (any, error) {
	switch v := v.(type) {
	case workspace.Secure:
		if dec == nil {
			return map[string]any{"fn::secret": "[secret]"}, nil
		}
		text, err := dec.Decrypt(ctx, string(v))
		return map[string]any{"fn::secret": text}, err
	case string:
		return definitionText(v), nil
	case json.Number:
		n := &yaml.Node{}
		n.SetString(v.String())
		n.Tag = "" // the text determines the tag
		return n, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = definitionOf(ctx, e, dec); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			var err error
			if out[name], err = definitionOf(ctx, e, dec); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}
