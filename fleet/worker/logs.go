package worker

import (
	"errors"
	"io/fs"
	"os"
	"strings"
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

// LogPath returns the path of the log of a stack in a run.
func LogPath(h server.Home, runID, stack string) string {
	return h.Path("runs", plain(runID), plain(stack)+".log")
}

func plain(name string) string { return strings.NewReplacer("/", "--", ":", "-").Replace(name) }
