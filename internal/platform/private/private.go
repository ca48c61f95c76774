package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Permissions for the owner only.
const (
	File   fs.FileMode = 0o600
	Folder fs.FileMode = 0o700
)

// Create makes a new file for writing. The error wraps [fs.ErrExist] if there is one.
func Create(path string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return nil, err
	}
	if err := settle(f, mode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return f, nil
}

// Remove removes a file or an empty folder. If there is none, that is no error.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err // it names the file
	}
	return nil
}

// Mkdir makes a new folder in one that exists. The error wraps [fs.ErrExist] if there is one.
func Mkdir(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode.Perm()); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() == mode.Perm() {
		return err
	}
	return unlessFixed(os.Chmod(path, with(info, mode)))
}

// MkdirAll makes a folder and its missing parents. Existing folders keep their permissions.
func MkdirAll(path string, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", path)
		}
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Temporary makes a new file with a unique name that consists of path, random characters and end.
func Temporary(path, end string) (*os.File, error) {
	return Create(path+"."+uuid.NewString()+end, File)
}

// Truncate opens a file for writing from its beginning, for its owner only: it restricts the permissions of an existing
// file before anything is written. A file that is not regular, such as a pipe, keeps its permissions.
func Truncate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, File)
	if err != nil {
		return nil, err
	}
	if err := settle(f, File); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Write is [os.WriteFile] with [Truncate].
func Write(path string, content []byte) error {
	f, err := Truncate(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// settle gives an open file its permissions if it has others.
func settle(f *os.File, mode fs.FileMode) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() == mode.Perm() {
		return err
	}
	return unlessFixed(f.Chmod(with(info, mode)))
}

// with returns a mode with other permissions. It keeps bits inherited from the folder, such as the set-group-ID bit.
func with(info fs.FileInfo, mode fs.FileMode) fs.FileMode {
	return info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) | mode.Perm()
}

// unlessFixed drops the error of a file system without permissions of single files.
func unlessFixed(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
