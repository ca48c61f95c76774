package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secureKey marks a mapping as a ciphertext (state.md 6.3).
const secureKey = "secure"

// Value is a setting or a part of one: nil, bool, [json.Number], string, [Secure], []any or map[string]any. A whole
// setting is never a bool or a number: a scalar at the top level is a string (state.md 6.4). It may be [Declared].
type Value = any

// Secure is the ciphertext of a secret string.
type Secure string

// Declared is a secret whose plain form is in the project file: the default of a setting that is declared secret. It needs no key, unless secrets of
// the stack have been merged into it.
type Declared struct{ Plain Value }

// Decrypter decrypts a ciphertext of a stack file.
type Decrypter interface {
	Decrypt(ctx context.Context, ciphertext string) (string, error)
}

// Encrypter makes ciphertexts for a stack file.
type Encrypter interface {
	Encrypt(ctx context.Context, plaintext string) (string, error)
}

// HasSecrets reports whether v is, or contains, a secret.
func HasSecrets(v Value) bool {
	_, declared := v.(Declared)
	return declared || IsSealed(v)
}

// IsSealed reports whether v is, or contains, a ciphertext.
func IsSealed(v Value) bool {
	switch v := v.(type) {
	case Secure:
		return true
	case Declared:
		return IsSealed(v.Plain)
	case []any:
		return slices.ContainsFunc(v, IsSealed)
	case map[string]any:
		for _, e := range v {
			if IsSealed(e) {
				return true
			}
		}
	}
	return false
}

// AnySealed reports whether any of the values is, or contains, a ciphertext.
func AnySealed(values map[Key]Value) bool {
	for _, v := range values {
		if IsSealed(v) {
			return true
		}
	}
	return false
}

// IsObject reports whether v is a list or a mapping.
func IsObject(v Value) bool {
	switch v := v.(type) {
	case []any, map[string]any:
		return true
	case Declared:
		return IsObject(v.Plain)
	}
	return false
}

// Decrypted returns v with every secret replaced by its plain form. dec may be nil if v has no ciphertexts.
func Decrypted(ctx context.Context, v Value, dec Decrypter) (Value, error) {
	switch v := v.(type) {
	case Declared:
		return Decrypted(ctx, v.Plain, dec)
	case Secure:
		return dec.Decrypt(ctx, string(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			d, err := Decrypted(ctx, e, dec)
			if err != nil {
				return nil, err
			}
			out[i] = d
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			d, err := Decrypted(ctx, v[k], dec)
			if err != nil {
				return nil, err
			}
			out[k] = d
		}
		return out, nil
	}
	return v, nil
}

// Masked returns v with every secret replaced by the text "[secret]".
func Masked(v Value) Value {
	if _, declared := v.(Declared); declared {
		return maskedText
	}
	masked, _ := Decrypted(context.Background(), v, maskSecrets{})
	return masked
}

type maskSecrets struct{}

func (maskSecrets) Decrypt(context.Context, string) (string, error) { return maskedText, nil }

// maskedText stands for a secret.
const maskedText = "[secret]"

// Text returns a decrypted setting in the form for programs: strings unchanged, everything else as JSON (state.md 6.7).
func Text(v Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case Secure, Declared:
		return maskedText
	}
	text, err := json.Marshal(v)
	if err != nil {
		// Values consist only of types of JSON.
		return fmt.Sprint(v)
	}
	return string(text)
}

// JSONForm returns v in the form of the history: ciphertexts are {"secure": text} (state.md 6.5). The history leaves out [Declared] secrets.
func JSONForm(v Value) any {
	switch v := v.(type) {
	case Secure:
		return map[string]any{secureKey: string(v)}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = JSONForm(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = JSONForm(e)
		}
		return out
	}
	return v
}

// nodeOf encodes a value. The keys of maps are in ascending order.
func nodeOf(v Value) *yaml.Node {
	switch v := v.(type) {
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(v.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: v.String()}
	case Secure:
		n := newMapping()
		n.Content = []*yaml.Node{newText(secureKey), newText(string(v))}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range v {
			n.Content = append(n.Content, nodeOf(e))
		}
		return n
	case map[string]any:
		n := newMapping()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, newText(k), nodeOf(v[k]))
		}
		return n
	}
	return newText(fmt.Sprint(v))
}

// plainValue returns v with the types that encoding/json decodes into: numbers are float64.
func plainValue(v Value) any {
	switch v := JSONForm(v).(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainValue(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plainValue(e)
		}
		return out
	default:
		return v
	}
}
