package layout

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// CheckName refuses a name of a project or stack that is not a valid file name; with validate also a name that Pulumi
// refuses. what is "project" or "stack".
func CheckName(what, name string, validate bool) error {
	isFolder := name == "." || name == ".."
	if validate && !isFolder && (!urn.IsName(name) || len(name) > maxName) {
		// Scripts look for the last words.
		return fmt.Errorf("%q cannot be the name of a %s, which has 1 to %d characters: a %s name may only contain alphanumeric, "+
			"hyphens, underscores, or periods", name, what, maxName, what)
	}
	if isFolder || name == "" || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%s name %q cannot be used as a file name", what, name)
	}
	return nil
}

// maxName is the length of the longest name that Pulumi accepts.
const maxName = 100
