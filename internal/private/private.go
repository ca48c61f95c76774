package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// The permissions of what is only for its owner.
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

// MkdirAll makes a folder, and those above it that are missing. Folders that exist keep their permissions.
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

// Temporary makes a new file whose name is of its own and begins and ends as is said.
func Temporary(path, end string) (*os.File, error) {
	return Create(path+"."+uuid.NewString()+end, File)
}

// Truncate opens a file for writing from its beginning, for its owner only: one that more people may read is made private
// before anything is written. What is no file, such as a pipe, keeps its permissions.
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

// with is the mode of a file with other permissions: what it has from the folder that it is in, such as the group, stays.
func with(info fs.FileInfo, mode fs.FileMode) fs.FileMode {
	return info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) | mode.Perm()
}

// unlessFixed leaves out the error of a file system that has no permissions of single files.
func unlessFixed(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
