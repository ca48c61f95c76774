package workspace

import (
	"errors"
	"fmt"
)

// ErrNoProject is wrapped when neither a directory nor any of its parents holds a project file.
var ErrNoProject = errors.New("no Pulumi.yaml found")

// FileError says what is wrong in a project or stack file, where, and what to do.
type FileError struct {
	Path    string
	Line    int // 1 is the first; 0 when the fault belongs to no line
	Problem string
	Advice  string // may be empty
}

func (e *FileError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if e.Advice == "" {
		return where + ": " + e.Problem
	}
	return where + ": " + e.Problem + "; " + e.Advice
}

// ConfigError says which setting is wrong and what to do.
type ConfigError struct{ Problem string }

func (e *ConfigError) Error() string { return e.Problem }

func configErrorf(format string, args ...any) error {
	return &ConfigError{Problem: fmt.Sprintf(format, args...)}
}

// Undecryptable says that the secret setting k cannot be read, because of err, and what to do.
func Undecryptable(k Key, err error) error {
	return fmt.Errorf("decrypt the setting %s: %w; set it again with `sluice config set --secret %s`", k, err, k)
}
