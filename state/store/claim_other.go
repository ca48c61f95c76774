//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import (
	"errors"
	"io"
)

// claim is not supported on this system.
func claim(string) (io.Closer, error) { return nil, errors.ErrUnsupported }
