package workspace

import (
	"errors"
	"fmt"
)

// ErrNoProject is wrapped if neither a directory nor any of its parents has a project file.
var ErrNoProject = errors.New("no Pulumi.yaml project file found")

// FileError describes a fault in a project or stack file, where it is, and what to do.
type FileError struct {
	Path    string
	Line    int // counted from 1; 0 if the fault belongs to no line
	Problem string
	Advice  string // may be empty
	Excerpt string // the line, with carets; may be empty
}

func (e *FileError) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	text := where + ": " + e.Problem
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	if e.Excerpt != "" {
		text += "\n" + e.Excerpt
	}
	return text
}

// ConfigError describes the fault of a setting and what to do.
type ConfigError struct{ Problem string }

func (e *ConfigError) Error() string { return e.Problem }

func configErrorf(format string, args ...any) error {
	return &ConfigError{Problem: fmt.Sprintf(format, args...)}
}

// Undecryptable returns an error for the secret setting k, which cannot be decrypted because of err. It explains what
// to do.
func Undecryptable(k Key, err error) error {
	return fmt.Errorf("decrypt the setting %s: %w; set it again with `sluice config set --secret %s`", k, err, k)
}
