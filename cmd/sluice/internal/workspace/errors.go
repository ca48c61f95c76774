package workspace

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state/secrets"
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
// to do: the setting is at fault only if the passphrase is not.
func Undecryptable(k Key, err error) error {
	var unanswered *secrets.PromptError
	var unreadable *secrets.UnreadableError
	switch {
	case errors.As(err, &unanswered):
		return fmt.Errorf("decrypt the setting %s: %w; run the command again and type the passphrase of the stack, or set %s to it, or set %s to a file that has it",
			k, err, secrets.EnvPassphrase, secrets.EnvPassphraseFile)
	case errors.As(err, &unreadable), errors.Is(err, secrets.ErrNoPassphrase), errors.Is(err, secrets.ErrIncorrectPassphrase):
		return fmt.Errorf("decrypt the setting %s: %w", k, err) // which says what to do
	}
	return fmt.Errorf("decrypt the setting %s: %w; set it again with `sluice config set --secret %s`", k, err, k)
}
