package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sluice-iac/sluice/fleet/server"
)

// Prune removes the logs of runs without writes since a time.
func Prune(h server.Home, since time.Time) error {
	runs, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, r := range runs {
		last, err := lastChange(h.Path("runs", r.Name()))
		if err == nil && last.Before(since) {
			err = os.RemoveAll(h.Path("runs", r.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another command may remove it too
			return err
		}
	}
	return nil
}

// lastChange returns when a folder, or an entry of it, was last changed.
func lastChange(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	last := info.ModTime()
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if below, err := e.Info(); err == nil && below.ModTime().After(last) {
			last = below.ModTime()
		}
	}
	return last, err
}

func below(root, directory string) (string, error) {
	if directory != "" && !filepath.IsLocal(filepath.FromSlash(directory)) {
		return "", fmt.Errorf("the folder %q is not below that of the fleet", directory)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	is, err := filepath.EvalSymlinks(filepath.Join(real, filepath.FromSlash(directory)))
	if err != nil {
		return "", fmt.Errorf("the folder of the stack: %w", err)
	}
	if rel, err := filepath.Rel(real, is); err != nil || rel != "." && !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the folder %q is a link that leaves that of the fleet", directory)
	}
	return is, nil
}
