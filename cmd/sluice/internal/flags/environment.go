package flags

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

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
				fault = InvalidValue("the environment variable "+name, f, value, err)
			}
			return
		}
	})
	return fault
}
