package workspace

import (
	"cmp"
	"strings"

	"github.com/sluice-iac/sluice/property"
)

// Key names a setting: "<namespace>:<name>" (state.md 6.3).
type Key struct{ Namespace, Name string }

// ParseKey parses a key. A key without a namespace belongs to the project. "<ns>:config:<name>" is an old spelling of
// "<ns>:<name>".
func ParseKey(text, project string) (Key, error) {
	parts := strings.Split(text, ":")
	var k Key
	switch {
	case len(parts) == 1:
		k = Key{project, parts[0]}
	case len(parts) == 2:
		k = Key{parts[0], parts[1]}
	case len(parts) == 3 && parts[1] == "config":
		k = Key{parts[0], parts[2]}
	default:
		return Key{}, configErrorf("%q is not a configuration key; write <name> or <namespace>:<name>", text)
	}
	if k.Namespace == "" || k.Name == "" {
		return Key{}, configErrorf("%q is not a configuration key; write <name> or <namespace>:<name>, neither may be empty", text)
	}
	return k, nil
}

// ParsePathKey parses a key whose name is a property path, for config --path. A colon inside brackets belongs to the
// path.
func ParsePathKey(text, project string) (Key, error) {
	head, path := text, ""
	if i := strings.IndexAny(text, "[."); i >= 0 {
		head, path = text[:i], text[i:]
	}
	if path != "" && (head == "" || strings.HasSuffix(head, ":")) { // the name is quoted: ns:["a name"]
		return Key{cmp.Or(strings.TrimSuffix(strings.TrimSuffix(head, ":"), ":config"), project), path}, nil
	}
	k, err := ParseKey(head, project)
	k.Name += path
	return k, err
}

// String returns "<namespace>:<name>".
func (k Key) String() string { return k.Namespace + ":" + k.Name }

// Short returns the key as used in the project: without the project's own namespace.
func (k Key) Short(project string) string {
	if k.Namespace == project {
		return k.Name
	}
	return k.String()
}

// CompareKeys orders keys by namespace and name.
func CompareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ParseSettingKey parses a key or, if path is set, a path into a structured setting.
func ParseSettingKey(text, project string, path bool) (Key, error) {
	if path {
		return ParsePathKey(text, project)
	}
	return ParseKey(text, project)
}

// RefuseMark returns an error if the plain text of a setting (see [Text]) has one that represents unknown values in states and between programs, engine
// and providers. The text would be recorded as an output that nobody can read again. The error does not have the value.
func RefuseMark(k Key, text string) error {
	if !property.HasUnknownMarker(text) {
		return nil
	}
	return configErrorf("%s: the value has a text that stands for an unknown value between programs, providers and states, so it cannot be used in a setting; "+
		"set another value with `sluice config set`", k)
}
