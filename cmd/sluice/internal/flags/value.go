package flags

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
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

// Moment returns the time that the text of a flag means: a date, a time, or how long before now.
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return now, exit.Usagef("--%s %s: write a date as 2026-01-31, a time as 2026-01-31T12:00:00Z, or how long ago as 24h", flag, format.Printable(text))
}

// variables returns the flags that have a variable of their own, besides PULUMI_OPTION_<FLAG>.
func variables() map[string]string {
	return map[string]string{
		"parallel":          "PULUMI_PARALLEL",
		"continue-on-error": "PULUMI_CONTINUE_ON_ERROR",
		"yes":               "PULUMI_SKIP_CONFIRMATIONS",
		"run-program":       "PULUMI_RUN_PROGRAM",
	}
}

// FromEnvironment sets the flags that are not on the command line from environment variables.
func FromEnvironment(flags *pflag.FlagSet, lookup func(name string) (string, bool)) error {
	var fault error
	own := variables()
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || fault != nil || f.Name == "help" {
			return
		}
		names := []string{"PULUMI_OPTION_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))}
		if variable, ok := own[f.Name]; ok {
			names = append(names, variable)
		}
		for _, name := range names {
			value, set := lookup(name)
			if !set || value == "" {
				continue
			}
			if f.Value.Type() == "bool" && f.Name == "yes" {
				value = strconv.FormatBool(terminal.IsTrue(value))
			}
			if err := f.Value.Set(value); err != nil {
				own := "SLUICE_" + strings.TrimPrefix(name, "PULUMI_")
				if _, set := lookup(own); set {
					name = own // which takes precedence
				}
				fault = InvalidValue("the environment variable "+name, f, value, err)
			}
			return
		}
	})
	return fault
}
