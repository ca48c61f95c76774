package flags

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Stack selects the stack and the settings file of a command.
type Stack struct {
	Name       string // "" is the selected one
	ConfigFile string // "" is that of the stack
}

// Add registers the flags.
func (s *Stack) Add(f *pflag.FlagSet) {
	AddStack(f, &s.Name)
	AddFile(f, &s.ConfigFile, "config-file", "use this file instead of Pulumi.<stack>.yaml")
}

// Check refuses a settings file that does not exist: an operation without the settings would put every one back to its default.
func (s *Stack) Check() error {
	if s.ConfigFile == "" {
		return nil
	}
	if _, err := os.Stat(s.ConfigFile); errors.Is(err, fs.ErrNotExist) {
		return exit.Usagef("there is no file %s, which --config-file names; `sluice config set --config-file FILE` makes one", s.ConfigFile)
	}
	return nil
}

// AddStack registers the flag that names a stack.
func AddStack(f *pflag.FlagSet, name *string) {
	f.StringVarP(name, "stack", "s", "", "the stack; the selected one if not given")
}
