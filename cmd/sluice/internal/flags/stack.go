package flags

import "github.com/spf13/pflag"

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

// AddStack registers the flag that names a stack.
func AddStack(f *pflag.FlagSet, name *string) {
	f.StringVarP(name, "stack", "s", "", "the stack; the selected one if not given")
}
