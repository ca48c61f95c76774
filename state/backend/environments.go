package backend

import (
	"bytes"
	"context"
	"encoding/json"
)

// Environments opens environments: settings, variables and files for several stacks, which are kept beside the stacks. Only some
// backends have them.
type Environments interface {
	// OpenEnvironment evaluates a definition in an organization.
	OpenEnvironment(ctx context.Context, organization string, q EnvironmentQuery) (Environment, error)
	// CreateEnvironment makes an environment, "project/name", from a definition.
	CreateEnvironment(ctx context.Context, organization, name string, definition []byte) error
}

// EnvironmentQuery defines the environment to evaluate, and how.
type EnvironmentQuery struct {
	Definition []byte // in YAML
	// Open fetches the values of other systems. Without it they are unknown, and secrets are not shown.
	Open bool
	// Overrides are environments by the names of those that they replace, wherever the definition imports them. They are for Open.
	Overrides map[string]string
}

// Pages is a [Backend] that shows its stacks to people, in a browser.
type Pages interface {
	// StackPage is the address of the page of a stack, "" if it is not known.
	StackPage(ref Ref) string
}

// Auditor is a [Stack] of a backend that records when secrets are shown.
type Auditor interface {
	// NoteDecryption records that a secret setting was shown, or that a command has shown secrets. Exactly one of the two
	// is given.
	NoteDecryption(ctx context.Context, setting, command string) error
}

// Environment is an environment that has been evaluated: its properties.
type Environment map[string]EnvironmentValue

// EnvironmentValue is a property of an environment, or a part of one.
type EnvironmentValue struct {
	Value   any // nil, bool, json.Number, string, []EnvironmentValue or map[string]EnvironmentValue
	Secret  bool
	Unknown bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *EnvironmentValue) UnmarshalJSON(text []byte) error {
	var in struct {
		Value   json.RawMessage `json:"value"`
		Secret  bool            `json:"secret"`
		Unknown bool            `json:"unknown"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*v = EnvironmentValue{Secret: in.Secret, Unknown: in.Unknown}
	in.Value = bytes.TrimSpace(in.Value)
	switch {
	case len(in.Value) == 0:
		return nil
	case in.Value[0] == '[':
		var list []EnvironmentValue
		err := json.Unmarshal(in.Value, &list)
		v.Value = list
		return err
	case in.Value[0] == '{':
		var object map[string]EnvironmentValue
		err := json.Unmarshal(in.Value, &object)
		v.Value = object
		return err
	}
	d := json.NewDecoder(bytes.NewReader(in.Value))
	d.UseNumber()
	return d.Decode(&v.Value)
}

// Object returns the parts of a value, nil if it is not an object.
func (v EnvironmentValue) Object() map[string]EnvironmentValue {
	object, _ := v.Value.(map[string]EnvironmentValue)
	return object
}

// Text returns a scalar as a text for programs, and reports whether it is one.
func (v EnvironmentValue) Text() (string, bool) {
	if v.Unknown {
		return "[unknown]", true
	}
	switch value := v.Value.(type) {
	case nil:
		return "", true
	case string:
		return value, true
	case json.Number:
		return value.String(), true
	case bool:
		if value {
			return "true", true
		}
		return "false", true
	}
	return "", false
}
