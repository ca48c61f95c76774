package store

import (
	"errors"
	"fmt"
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
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return temporary{file, use}, err
}

// errClaimed is the error if another process uses a file, or has removed it.
var errClaimed = errors.New("another process uses the file")

// claims is the number of attempts to make a temporary file that this process can claim. Another process takes a new file for
// debris only in the moment before it is claimed, so more failures have another cause, such as a file system with other
// numbers for the same file each time.
const claims = 100

// claimed makes a temporary file and claims it, again if another process has taken it for debris before. try leaves nothing
// behind if it fails.
func claimed(try func() (temporary, error)) (temporary, error) {
	for n := 1; ; n++ {
		temp, err := try()
		if err == nil {
			return temp, nil
		}
		if !errors.Is(err, errClaimed) {
			return temporary{}, err
		}
		if n == claims {
			return temporary{}, fmt.Errorf("make a temporary file, %d times: %w", n, err)
		}
	}
}
