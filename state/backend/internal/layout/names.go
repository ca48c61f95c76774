package layout

import (
	"fmt"
	"regexp"
	"strings"
)

// CheckName refuses the name of a project or stack that would be no file name, and with validate one that Pulumi refuses.
// what says which of the two it is.
func CheckName(what, name string, validate bool) error {
	if validate && !namePattern().MatchString(name) {
		return fmt.Errorf("%s name %q must have 1 to 100 letters, digits, hyphens, underscores and periods", what, name)
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%s name %q cannot be used as a file name", what, name)
	}
	return nil
}

func namePattern() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) }
