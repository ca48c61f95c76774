// Package environments opens the environments that a stack's settings name, in the backend of the stack, and adds their settings, variables and files
// to the stack.
//
// It decides nothing about operations, and makes no calls of the service itself.
//
// Invariant: a secret of an environment is a secret of the settings, and is in the list of secrets before any process starts with it. Files are for
// their owner only, and are removed when the operation has ended.
package environments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
)

// The properties of environments that have a meaning for stacks.
const (
	propertySettings  = "pulumiConfig"
	propertyVariables = "environmentVariables"
	propertyFiles     = "files"
	propertyPolicies  = "policyConfig"
)

// Opened are evaluated environments. The zero value is empty.
type Opened struct {
	properties backend.Environment
}

// Query defines how environments are evaluated.
type Query struct {
	// Open requests values from other services. Otherwise those values are unknown.
	Open bool
	// Overrides maps names of environments to the names of their replacements.
	Overrides map[string]string
}

// ErrNoService is the error for settings that ask for environments where there are none.
var ErrNoService = errors.New("it asks for environments, which only Pulumi's service has; remove `environment`, or use a stack of the service")

// Of evaluates the environments of a stack. Without environments it returns nil.
func Of(ctx context.Context, s *session.Stack, q Query) (*Opened, error) {
	definition, err := s.Settings.Environments.Definition()
	if err != nil || definition == nil {
		return nil, err
	}
	o, err := Define(ctx, s, definition, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Settings.Path, err)
	}
	return o, nil
}

// HasService reports whether the backend of a stack has environments.
func HasService(s *session.Stack) bool {
	_, has := s.Session.Backend.(backend.Environments)
	return has
}

// Define evaluates a definition in the organization of a stack.
func Define(ctx context.Context, s *session.Stack, definition []byte, q Query) (*Opened, error) {
	b, has := s.Session.Backend.(backend.Environments)
	if !has {
		return nil, ErrNoService
	}
	properties, err := b.OpenEnvironment(ctx, s.Ref.Organization(), backend.EnvironmentQuery{Definition: definition, Open: q.Open, Overrides: q.Overrides})
	return &Opened{properties}, err
}

// HasEffect reports whether the environments contain anything for a stack.
func (o *Opened) HasEffect() bool {
	for _, name := range []string{propertySettings, propertyVariables, propertyFiles} {
		if len(o.properties[name].Object()) > 0 {
			return true
		}
	}
	return false
}

// Complete adds the settings of the environments to those of a stack. It seals secrets like the secrets of the stack.
func (o *Opened) Complete(ctx context.Context, s *session.Stack) error {
	if o == nil {
		return nil
	}
	encrypter := sync.OnceValues(func() (workspace.Encrypter, error) {
		enc, err := session.SettingsEncrypter(ctx, s)
		if err == nil {
			err = secrets.EncryptAhead(ctx, enc, appendSecrets(nil, o.properties[propertySettings], false))
		}
		return enc, err
	})
	names, hidden, err := o.named(s.Session.Project.Name)
	if err != nil {
		return err
	}
	for _, name := range hidden {
		s.Session.Terminal.Warn("the environments of the stack have a setting twice: %s does not count, because its full name is there, too", name)
	}
	values, err := o.settings(ctx, names, encrypter)
	s.Settings.Complete(values)
	return err
}

// named returns the property for each setting, and the properties that do not count: environments may have one setting under its full name and under
// a shorter one. The full name counts.
func (o *Opened) named(project string) (names map[workspace.Key]string, hidden []string, err error) {
	names = map[workspace.Key]string{}
	for _, name := range slices.Sorted(maps.Keys(o.properties[propertySettings].Object())) {
		k, err := workspace.EnvironmentKey(name, project)
		if err != nil {
			return nil, nil, err
		}
		other, twice := names[k]
		switch {
		case !twice:
			names[k] = name
		case name == k.String():
			names[k], hidden = name, append(hidden, other)
		default:
			hidden = append(hidden, name)
		}
	}
	return names, hidden, nil
}

// settings returns the settings of properties. encrypter is only called if there are secrets.
func (o *Opened) settings(ctx context.Context, names map[workspace.Key]string, encrypter func() (workspace.Encrypter, error)) (map[workspace.Key]workspace.Value, error) {
	out := map[workspace.Key]workspace.Value{}
	for k, name := range names {
		v := o.properties[propertySettings].Object()[name]
		var err error
		if out[k], err = settingOf(ctx, v, v.Secret, encrypter); err != nil {
			return nil, err
		}
		if text, is := v.Text(); is && !v.Secret {
			out[k] = text // settings are texts
		}
	}
	return out, nil
}

// settingOf returns a value in the form of settings. Everything inside a secret is secret.
func settingOf(ctx context.Context, v backend.EnvironmentValue, secret bool, encrypter func() (workspace.Encrypter, error)) (workspace.Value, error) {
	secret = secret || v.Secret
	switch inner := v.Value.(type) {
	case []backend.EnvironmentValue:
		out := make([]any, len(inner))
		for i, e := range inner {
			var err error
			if out[i], err = settingOf(ctx, e, secret, encrypter); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]backend.EnvironmentValue:
		out := make(map[string]any, len(inner))
		for name, e := range inner {
			var err error
			if out[name], err = settingOf(ctx, e, secret, encrypter); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	text, _ := v.Text()
	switch {
	case secret:
		enc, err := encrypter()
		if err != nil {
			return nil, err
		}
		sealed, err := enc.Encrypt(ctx, text)
		return workspace.Secure(sealed), err
	case v.Unknown:
		return text, nil
	}
	return v.Value, nil
}

// Variable is a variable of the environment of processes.
type Variable struct {
	Name, Text string
	Secret     bool
	IsFile     bool // Text is the content of a file, and the variable has its path
}

// Variables returns the variables and those for files, by name. Only scalars can be variables.
func (o *Opened) Variables() []Variable {
	if o == nil {
		return nil
	}
	var out []Variable
	for _, property := range []string{propertyVariables, propertyFiles} {
		object := o.properties[property].Object()
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if text, is := object[name].Text(); is {
				out = append(out, Variable{name, text, object[name].Secret, property == propertyFiles})
			}
		}
	}
	return out
}

// Prepare writes the files, and returns all variables as "NAME=value". remove removes the files.
func (o *Opened) Prepare() (variables []string, remove func(), err error) {
	var files []string
	remove = func() {
		for _, f := range files {
			_ = os.Remove(f) // a process may have removed it
		}
	}
	for _, v := range o.Variables() {
		if v.IsFile {
			name, err := temporary(v.Text)
			if err != nil {
				remove()
				return nil, nil, fmt.Errorf("write the file of the variable %s: %w", v.Name, err)
			}
			files, v.Text = append(files, name), name
		}
		variables = append(variables, v.Name+"="+v.Text)
	}
	return variables, remove, nil
}

// Apply sets the variables and files in this process, so that its child processes inherit them. restore undoes that.
func (o *Opened) Apply() (restore func(), err error) {
	variables, remove, err := o.Prepare()
	if err != nil {
		return nil, err
	}
	var undo []func()
	restore = func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
		remove()
	}
	for _, v := range variables {
		name, text, _ := strings.Cut(v, "=")
		before, set := os.LookupEnv(name)
		if err := os.Setenv(name, text); err != nil {
			restore()
			return nil, err
		}
		undo = append(undo, func() {
			if set {
				_ = os.Setenv(name, before) // it was a valid value before
			} else {
				_ = os.Unsetenv(name)
			}
		})
	}
	return restore, nil
}

// PolicyConfig returns the configuration of a policy pack, completed by that of the environments. given takes precedence.
func (o *Opened) PolicyConfig(pack string, given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	out := maps.Clone(given)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	for name, v := range o.properties[propertyPolicies].Object() {
		if of, policy, isFull := strings.Cut(name, ":"); isFull {
			if of != pack {
				continue
			}
			name = policy
		}
		under := plain(v)
		var over any
		if text, set := out[name]; set {
			if err := json.Unmarshal(text, &over); err != nil {
				return nil, err
			}
		}
		text, err := json.Marshal(merged(over, under))
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}

// merged returns over, with the keys of objects that only under has.
func merged(over, under any) any {
	if over == nil {
		return under
	}
	object, isObject := over.(map[string]any)
	below, areObjects := under.(map[string]any)
	if !isObject || !areObjects {
		return over
	}
	out := maps.Clone(below)
	for name, v := range object {
		out[name] = merged(v, out[name])
	}
	return out
}

// plain returns a value in the form of JSON.
func plain(v backend.EnvironmentValue) any {
	switch inner := v.Value.(type) {
	case []backend.EnvironmentValue:
		out := make([]any, len(inner))
		for i, e := range inner {
			out[i] = plain(e)
		}
		return out
	case map[string]backend.EnvironmentValue:
		out := make(map[string]any, len(inner))
		for name, e := range inner {
			out[name] = plain(e)
		}
		return out
	}
	return v.Value
}

// Secrets returns all secret texts.
func (o *Opened) Secrets() []string {
	if o == nil {
		return nil
	}
	var out []string
	for _, v := range o.properties {
		out = appendSecrets(out, v, false)
	}
	return out
}

// temporary writes a file for its owner only.
func temporary(text string) (string, error) {
	f, err := os.CreateTemp("", "sluice-environment-")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
	}
	return f.Name(), err
}

func appendSecrets(out []string, v backend.EnvironmentValue, secret bool) []string {
	secret = secret || v.Secret
	if list, is := v.Value.([]backend.EnvironmentValue); is {
		for _, e := range list {
			out = appendSecrets(out, e, secret)
		}
	}
	for _, e := range v.Object() {
		out = appendSecrets(out, e, secret)
	}
	if text, is := v.Text(); is && secret && !v.Unknown {
		out = append(out, text)
	}
	return out
}
