package workspace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Declaration is a setting that the project file declares (state.md 6.2).
type Declaration struct {
	Key         Key
	Type        *Type // nil if every value is allowed
	Description string
	Default     Value
	HasDefault  bool
	Value       Value
	HasValue    bool
	Secret      bool
	Line        int
}

// own returns the value in the project file, if there is one.
func (d *Declaration) own() (v Value, given bool) {
	if d.HasDefault {
		return d.Default, true
	}
	return d.Value, d.HasValue
}

// given returns the value that a stack gets from the project if it sets none itself.
func (d *Declaration) given(v Value) Value {
	v = untyped(v)
	if d.Secret {
		return Declared{v}
	}
	return v
}

// untyped converts a scalar to the text that stack files hold.
func untyped(v Value) Value {
	switch v := v.(type) {
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	}
	return v
}

// check returns an error if a setting does not match d.
func (d *Declaration) check(p *Project, stack string, v Value, decrypted func(Value) (Value, error)) error {
	if d.Secret && !HasSecrets(v) {
		return configErrorf("%s is declared secret in %s but stored in plain text on stack '%s'; set it with `sluice config set --secret %s`",
			d.Key, p.Path, stack, d.Key)
	}
	if d.Type == nil {
		return nil
	}
	plain, err := decrypted(v)
	if err != nil {
		return Undecryptable(d.Key, err)
	}
	if !d.Type.accepts(plain) {
		return configErrorf("the setting %s of stack '%s' must be of the type %s, as %s declares%s", d.Key, stack, d.Type, p.Path, d.inParts(p, plain, HasSecrets(v)))
	}
	return nil
}

// inParts returns advice about a text that was set as an object or array: how to set its parts.
func (d *Declaration) inParts(p *Project, v Value, secret bool) string {
	text, is := v.(string)
	if !is || d.Type.Name != "object" && d.Type.Name != "array" {
		return ""
	}
	path := d.Key.Short(p.Name) + "[0]"
	if d.Type.Name == "object" {
		path = d.Key.Short(p.Name) + ".<name>"
		var parts map[string]any
		if !secret && json.Unmarshal([]byte(text), &parts) == nil && len(parts) > 0 {
			path = d.Key.Short(p.Name) + "." + slices.Sorted(maps.Keys(parts))[0]
		}
	}
	flags := "--path"
	if secret {
		flags = "--secret --path"
	}
	return fmt.Sprintf("; a text is no %s: set its parts one by one, with `sluice config set %s '%s' <value>`", d.Type.Name, flags, path)
}

// Type is the type of a declared setting: string, integer, boolean, array or object.
type Type struct {
	Name  string
	Items *Type // of an array
}

// String returns the name, with the element type of arrays.
func (t *Type) String() string {
	if t.Name == "array" {
		return fmt.Sprintf("array<%s>", t.Items)
	}
	return t.Name
}

// accepts reports whether a decrypted value has the type. A string that spells an integer or a boolean has that type,
// too.
func (t *Type) accepts(v Value) bool {
	switch t.Name {
	case "string":
		_, ok := v.(string)
		return ok
	case "integer":
		switch v := v.(type) {
		case json.Number:
			return isWhole(v.String())
		case string:
			return isWhole(v)
		}
		return false
	case "boolean":
		_, ok := v.(bool)
		return ok || v == "true" || v == "false"
	case "array":
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(e any) bool { return !t.Items.accepts(e) })
	}
	_, ok := v.(map[string]any)
	return ok
}

func isWhole(text string) bool {
	n := json.Number(text)
	if _, err := n.Int64(); err == nil {
		return true
	}
	f, err := n.Float64()
	return err == nil && f == float64(int64(f))
}
