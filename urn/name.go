package urn

import (
	"fmt"
	"strings"
)

// IsName reports whether s can be the name of a stack, a project, a package, a runtime or a plugin: letters, digits, hyphens,
// underscores and periods. Pulumi accepts the same names, and also "." and "..", which are folders. A name is therefore one
// element of a path and never a path.
func IsName(s string) bool {
	return s != "" && s != "." && s != ".." && strings.IndexFunc(s, isNotInNames) < 0
}

func isNotInNames(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-", r))
}

// NameError is the error for a name from outside that is not valid. Executables are found and files are named by such
// names.
type NameError struct{ What, Name string }

func (e *NameError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("the name of a %s is empty", e.What)
	}
	return fmt.Sprintf("%q cannot be the name of a %s: write letters, digits, hyphens, underscores and periods, without a hyphen in front",
		e.Name, e.What)
}

// CheckPackageName returns a *[NameError] unless name can be the name of a package, or of something else that a plugin of the
// same name serves. what is the kind of name, for the message.
func CheckPackageName(what, name string) error {
	if !IsName(name) || strings.HasPrefix(name, "-") {
		return &NameError{What: what, Name: name}
	}
	return nil
}

// CheckPluginName is [CheckPackageName] for plugins, whose executables are called "pulumi-<kind>-<name>". The name of a plugin
// that comes from a git repository is made from a URL, and may have a port and a "~" in it.
func CheckPluginName(name string) error {
	if CheckPackageName("plugin", strings.NewReplacer(":", "_", "~", "_").Replace(name)) != nil {
		return &NameError{What: "plugin", Name: name}
	}
	return nil
}
