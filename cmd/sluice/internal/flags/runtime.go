package flags

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// AddRuntimeOptions registers the flag for additional options of the runtime of a new project.
func AddRuntimeOptions(f *pflag.FlagSet, options *map[string]string) {
	f.Var((*runtimeOptions)(options), "runtime-options", "options of the runtime, which replace those of the template, such as toolchain=uv; may be repeated")
}

// runtimeOptions is the value of a flag with pairs of names and values, separated by commas.
type runtimeOptions map[string]string

// Type implements [pflag.Value].
func (o *runtimeOptions) Type() string { return "NAME=VALUE" }

// String implements [pflag.Value].
func (o *runtimeOptions) String() string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(*o)) {
		pairs = append(pairs, name+"="+(*o)[name])
	}
	return strings.Join(pairs, ",")
}

// Set implements [pflag.Value]. It adds to the pairs of the flag.
func (o *runtimeOptions) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found || name == "" || value == "" {
			return errors.New("write NAME=VALUE")
		}
		if *o == nil {
			*o = runtimeOptions{}
		}
		(*o)[name] = value
	}
	return nil
}
