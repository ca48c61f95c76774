package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// InvalidValue returns the error for a value that a flag refuses because of cause. source is the origin of the value: the flag
// itself, or an environment variable. Scripts look for the first two words.
func InvalidValue(source string, f *pflag.Flag, value string, cause error) error {
	return exit.Usagef("invalid argument %q for %s: %s", value, source, wanted(f, cause))
}

// wanted describes the valid values. Errors of the parsers of numbers and booleans name Go functions and need it; errors of
// other flags describe the valid values themselves.
func wanted(f *pflag.Flag, cause error) string {
	switch kind := f.Value.Type(); {
	case errors.Is(cause, strconv.ErrRange):
		return "the number is too large"
	case !errors.Is(cause, strconv.ErrSyntax):
		return cause.Error()
	case kind == "int":
		return "write a whole number"
	case kind == "bool":
		return "write true or false"
	}
	return cause.Error()
}
