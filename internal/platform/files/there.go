package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// IsThere reports whether there is a file or a folder at a path for sure. It is for what is used if it is there: what may not be looked at is not.
func IsThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// MayBeThere reports whether there is a file or a folder at a path, or nobody may say: what may not be looked at counts as being there. It is for what
// must be absent, such as a mark. A path below a file is not there.
func MayBeThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}
