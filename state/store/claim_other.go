//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import (
	"errors"
	"io"
)

// claim cannot tell whether a process uses a file.
func claim(string) (io.Closer, error) { return nil, errors.ErrUnsupported }
