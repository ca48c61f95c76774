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
}

// Add registers the flags.
func (s *Settings) Add(f *pflag.FlagSet) {
	f.StringArrayVarP(&s.set, "config", "c", nil, "a setting as key=value, saved in the stack's configuration; may be repeated")
	f.BoolVar(&s.asPath, "config-path", false, "the keys of --config are paths to parts of settings")
}

// Check refuses flags that do not fit together.
func (s *Settings) Check() error {
	if s.asPath && len(s.set) == 0 {
		return exit.Usagef("--config-path requires --config")
	}
	return nil
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
