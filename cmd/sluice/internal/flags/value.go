package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// InvalidValue returns the error for a value that a flag does not accept because of cause. source is what has the value: the
// flag itself, or an environment variable. Scripts look for the first two words.
func InvalidValue(source string, f *pflag.Flag, value string, cause error) error {
	return exit.Usagef("invalid argument %q for %s: %s", value, source, wanted(f, cause))
}

// wanted says what to write instead. The parsers of numbers and booleans name functions of Go in their errors; the other flags
// have errors that say it.
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
