package stages

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrShutDown is wrapped by what a [Monitor] returns after the run has stopped. Over gRPC it has the code Unavailable,
// which SDKs take as "the engine went away" (protocol.md 4.14).
var ErrShutDown = errors.New("resource monitor shut down")

// ErrRegistrationFailed is what a program that does not understand results gets for a failed or skipped registration
// (steps.md 1.3). Over gRPC it has the code Internal.
var ErrRegistrationFailed = errors.New("resource registration failed")

// InvalidRequestError says that a program sent something malformed. Over gRPC it has the code InvalidArgument.
type InvalidRequestError struct{ Err error }

func (e *InvalidRequestError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidRequestError) Unwrap() error { return e.Err }

var (
	errEmptyPackage   = errors.New("package name is empty")
	errAlreadyWaiting = errors.New("Already waiting for shutdown") // SDKs know this text (steps.md 9.8)
)

type unknownPackageError struct{ ref string }

func (e *unknownPackageError) Error() string {
	return fmt.Sprintf("unknown provider package '%v'", e.ref)
}

// shownError is an error that a program or plugin has shown itself.
type shownError string

func (e shownError) Error() string { return strings.TrimSpace(string(e)) }

// isEchoOfShutDown tells whether a message only repeats that the monitor went away.
func isEchoOfShutDown(message string) bool { return strings.Contains(message, ErrShutDown.Error()) }

// packageKey spells a package out, so that equal requests have equal keys.
func packageKey(p Package) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%s", p.Name, p.Version, p.DownloadURL)
	platforms := make([]string, 0, len(p.Checksums))
	for k := range p.Checksums {
		platforms = append(platforms, k)
	}
	slices.Sort(platforms)
	for _, k := range platforms {
		fmt.Fprintf(&b, "\x00%s=%s", k, hex.EncodeToString(p.Checksums[k]))
	}
	for _, x := range []*Parameterization{p.Parameterization, p.Extension} {
		if x == nil {
			b.WriteString("\x01")
			continue
		}
		fmt.Fprintf(&b, "\x02%s\x00%s\x00%s", x.Name, x.Version, hex.EncodeToString(x.Value))
	}
	return []byte(b.String())
}
