package flags

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// Settings are changes to the configuration of a stack.
type Settings struct {
	set    []string // key=value
	asPath bool     // the keys are paths
	// overrides are replacements of environments: name=replacement.
	overrides []string
}

// Add registers the flags.
func (s *Settings) Add(f *pflag.FlagSet) {
	f.StringArrayVarP(&s.set, "config", "c", nil, "a setting as key=value, saved in the stack's configuration; may be repeated")
	f.BoolVar(&s.asPath, "config-path", false, "the keys of --config are paths to parts of settings")
}

// AddOverrides registers the flag of operations that open environments.
func (s *Settings) AddOverrides(f *pflag.FlagSet) {
	f.StringArrayVar(&s.overrides, "override-env", nil, "open another environment in place of one that the stack imports, as environment=replacement, in this run; may be repeated")
}

// Overrides maps names of environments to the names of their replacements.
func (s *Settings) Overrides() (map[string]string, error) {
	out := make(map[string]string, len(s.overrides))
	for _, text := range s.overrides {
		name, replacement, _ := strings.Cut(text, "=")
		if name == "" || replacement == "" {
			return nil, exit.Usagef("invalid --override-env value %q: expected format <env>=<replacement>", text) // scripts look for these words
		}
		out[name] = replacement
	}
	return out, nil
}

// Check refuses contradictory flags.
func (s *Settings) Check() error {
	if s.asPath && len(s.set) == 0 {
		return exit.Usagef("--config-path requires --config")
	}
	_, err := s.Overrides()
	return err
}

// Apply changes the settings in a file of a project's stack. The file is not saved.
func (s *Settings) Apply(file *workspace.StackFile, project string) error {
	for _, setting := range s.set {
		text, value, _ := strings.Cut(setting, "=")
		key, err := workspace.ParseSettingKey(text, project, s.asPath)
		if err != nil {
			return err
		}
		if s.asPath {
			err = file.SetPath(key, workspace.PathScalar(value))
		} else {
			err = file.Set(key, value, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
