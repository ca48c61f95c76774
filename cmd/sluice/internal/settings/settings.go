// Package settings has the common parts of the commands about the configuration of a stack: the form of settings in JSON, and the
// conversion of a text to a stored value.
package settings

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/property"
)

// Entry is a setting in JSON listings (state.md 6.5).
type Entry struct {
	Value       *string `json:"value,omitempty"`
	ObjectValue any     `json:"objectValue,omitempty"`
	Secret      bool    `json:"secret"`
	// Origins has the place of each part, if it is asked for.
	Origins []Origin `json:"origins,omitempty"`
}

// Origin is the place that a part of a setting comes from.
type Origin struct {
	Path string `json:"path"` // with the setting: settings.color
	From string `json:"from"` // Pulumi.dev.yaml:3
}

// Parts returns the parts of an effective setting, or of the part of it at a path, and their places.
func Parts(s *session.Stack, key workspace.Key, at property.Path, v workspace.Value) (parts []workspace.Part, origins []Origin) {
	parts = workspace.Parts(s.Session.Project, s.Settings, key, at, v)
	for _, part := range parts {
		origins = append(origins, Origin{part.Path.String(), part.From})
	}
	return parts, origins
}

// From returns the places of a setting, each once, in the order of the parts.
func From(origins []Origin) string {
	var list []string
	for _, o := range origins {
		if !slices.Contains(list, o.From) {
			list = append(list, o.From)
		}
	}
	return strings.Join(list, ", ")
}

// Storage defines how a value is stored.
type Storage struct {
	Secret    bool   // encrypted
	Plaintext bool   // not encrypted even if it looks like a secret
	Path      bool   // as a part of a structured setting
	Type      string // string, int, bool or float; "" is text
}

// Store converts a text to the value of a key in the settings of a stack.
func Store(ctx context.Context, s *session.Stack, how Storage, key workspace.Key, text string) (workspace.Value, error) {
	if err := workspace.RefuseMark(key, text); err != nil {
		return nil, err
	}
	if how.Secret {
		enc, err := session.SettingsEncrypter(ctx, s)
		if err != nil {
			return nil, err
		}
		ciphertext, err := enc.Encrypt(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("encrypt the setting %s: %w", key, err)
		}
		return workspace.Secure(ciphertext), nil
	}
	if !how.Plaintext && workspace.LooksSecret(key, text) {
		return nil, fmt.Errorf("config value for '%s' looks like a secret; rerun with --secret to encrypt it, or --plaintext if you meant to store in plaintext",
			key.Short(s.Session.Project.Name))
	}
	if how.Type != "" {
		return workspace.TypedScalar(how.Type, text)
	}
	if how.Path {
		return workspace.PathScalar(text), nil
	}
	return text, nil
}

// Save saves the settings of a stack. It refuses changed settings that contradict the project's declarations, which every
// operation would refuse, and warns about new ones that the project does not declare.
func Save(ctx context.Context, s *session.Stack, before map[workspace.Key]workspace.Value) error {
	decrypted := func(v workspace.Value) (workspace.Value, error) {
		if !workspace.HasSecrets(v) {
			return v, nil
		}
		dec, err := session.SettingsDecrypter(ctx, s)
		if err != nil {
			return nil, err
		}
		return workspace.Decrypted(ctx, v, dec)
	}
	values := s.Settings.Values()
	for _, key := range s.Settings.Keys() {
		old, was := before[key]
		if was && reflect.DeepEqual(old, values[key]) {
			continue
		}
		if err := s.Session.Project.Check(s.Name(), key, values[key], decrypted); err != nil {
			return err
		}
		if text := s.Session.Project.Undeclared(key); text != "" && !was {
			s.Session.Terminal.Warn("%s", text)
		}
	}
	return s.Settings.Save()
}

// Remove removes a setting, or a part of one, from the settings in memory.
func Remove(s *session.Stack, text string, path bool) error {
	key, err := workspace.ParseSettingKey(text, s.Session.Project.Name, path)
	if err != nil {
		return err
	}
	if path {
		_, err = s.Settings.RemovePath(key)
	} else {
		_, err = s.Settings.Remove(key)
	}
	return err
}
