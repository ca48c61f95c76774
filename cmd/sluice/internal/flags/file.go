package flags

import (
	"errors"

	"github.com/spf13/pflag"
)

// AddFile registers a flag that names a file. Without the flag the command does something else, such as an update that no plan limits, so an empty
// name, as that of a variable that is not set, is refused.
func AddFile(f *pflag.FlagSet, name *string, flag, usage string) {
	*name = ""
	f.Var((*file)(name), flag, usage)
}

// file is the value of a flag that names a file.
type file string

// Set implements [pflag.Value].
func (f *file) Set(text string) error {
	if text == "" {
		return errors.New("it is empty: name a file, or leave the flag out")
	}
	*f = file(text)
	return nil
}

// String implements [pflag.Value].
func (f *file) String() string { return string(*f) }

// Type implements [pflag.Value].
func (*file) Type() string { return "string" }
