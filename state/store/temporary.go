package store

import (
	"errors"
	"io"
)

// temporary is a file that is being written, under a temporary name.
type temporary struct {
	path string
	use  io.Closer // while it is open, no process takes the file for debris
}

const temporarySuffix = ".tmp"

// inUse claims a new temporary file.
func inUse(file string) (temporary, error) {
	use, err := claim(file)
	if errors.Is(err, errors.ErrUnsupported) { // without locks no other process removes it, either
		return temporary{file, io.NopCloser(nil)}, nil
	}
	return temporary{file, use}, err
}

// errClaimed is the error if another process uses a file, or has removed it.
var errClaimed = errors.New("another process uses the file")

// unlessClaimed returns nil for an error after which another attempt is enough: another process took the new file for debris
// before this process had claimed it.
func unlessClaimed(err error) error {
	if errors.Is(err, errClaimed) {
		return nil
	}
	return err
}
