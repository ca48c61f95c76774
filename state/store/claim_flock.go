//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// claim marks a file as used by this process, until the result is closed or the process ends. The error wraps errClaimed
// if another process uses the file, and [errors.ErrUnsupported] if the file system has no such locks.
func claim(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // for writing, which network file systems require for such a lock
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errClaimed
	}
	if err != nil {
		return nil, err
	}
	if err = lockFile(f); err == nil {
		err = isAt(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lockFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errClaimed
		case errors.Is(err, syscall.ENOLCK):
			return errors.Join(err, errors.ErrUnsupported)
		}
		return err
	}
}

// isAt checks that a file still has its name.
func isAt(f *os.File, path string) error {
	ours, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(ours, there) {
		return errClaimed
	}
	return err
}
