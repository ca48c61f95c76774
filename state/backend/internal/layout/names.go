package layout

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// CheckName refuses the name of a project or stack that would be no file name, and with validate one that Pulumi refuses.
// what says which of the two it is.
func CheckName(what, name string, validate bool) error {
	isFolder := name == "." || name == ".."
	if validate && !isFolder && (!urn.IsName(name) || len(name) > maxName) {
		return fmt.Errorf("%s name %q must have 1 to 100 letters, digits, hyphens, underscores and periods", what, name)
	}
	if isFolder || name == "" || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%s name %q cannot be used as a file name", what, name)
	}
	return nil
}

// maxName is the length of the longest name that Pulumi accepts.
const maxName = 100
