package environments

import (
	"encoding/json"
	"maps"
	"os"
	"strings"

	"github.com/sluice-iac/sluice/state/backend"
)

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
