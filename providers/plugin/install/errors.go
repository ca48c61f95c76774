package install

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// Error reports why a plugin cannot be installed: which places were tried, with their errors.
type Error struct {
	Request Request
	Tries   []Try
}

// Try is one place that was searched for a plugin.
type Try struct {
	Place string // a URL, or a path
	Err   error
}

func (e *Error) Error() string {
	at := ""
	if e.Request.Version != "" {
		at = " at version v" + e.Request.Version
	}
	return fmt.Sprintf("the %s plugin '%s'%s cannot be installed%s", e.Request.Kind, e.Request.executable(), at, e.Reasons())
}

// Reasons lists the tries, each on a line of its own that begins with a line end.
func (e *Error) Reasons() string {
	var b strings.Builder
	for _, t := range e.Tries {
		fmt.Fprintf(&b, "\n  %s: %v", t.Place, t.Err)
	}
	return b.String()
}

// Unwrap returns the errors of all tries.
func (e *Error) Unwrap() []error {
	var all []error
	for _, t := range e.Tries {
		all = append(all, t.Err)
	}
	return all
}

// Advice suggests installing the plugin from a file, unless it comes from a git repository, or only its dependencies are
// missing.
func (e *Error) Advice() []advice.Advice {
	r := e.Request
	if r.File != "" || strings.HasPrefix(r.Source, plugin.GitScheme) || errors.As(e, new(*DependenciesError)) {
		return nil
	}
	about := advice.Plugin{Kind: string(r.Kind), Name: r.Name, Version: r.Version}
	if r.Version != "" {
		about.Archive = r.archive()
	}
	return []advice.Advice{{Action: advice.InstallFile, Plugin: about}}
}

// ChecksumError reports that an archive is not the published one. Nothing of it is kept.
type ChecksumError struct {
	Want, Got []byte
	From      string // the source of the checksum: a URL, or "" for the request
}

func (e *ChecksumError) Error() string {
	says := "was asked for"
	if e.From != "" {
		says = e.From + " says"
	}
	return fmt.Sprintf("the SHA-256 checksum is %s, and not %s as %s; nothing was installed",
		hex.EncodeToString(e.Got), hex.EncodeToString(e.Want), says)
}

// StatusError is an unexpected answer of a server.
type StatusError struct {
	Code   int
	Status string // "404 Not Found"
	Hint   string // what the user can do, may be ""
}

func (e *StatusError) Error() string {
	if e.Hint != "" {
		return e.Status + " (" + e.Hint + ")"
	}
	return e.Status
}
