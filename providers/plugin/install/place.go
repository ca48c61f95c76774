package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// place is the place of a plugin in the cache. Beside its folder there are (protocol.md 1.4) a lock, a mark while it is
// incomplete, its download, and the time of its last use; and two folders in which it is made and removed.
type place struct {
	directory string // "<home>/plugins/<kind>-<name>-v<version>"
	request   Request
}

func (p place) partial() string  { return p.directory + ".partial" }
func (p place) download() string { return p.directory + ".download" }

// These have the names of remains, which no process takes for plugins.
func (p place) half() string { return p.directory + ".tmp1" }
func (p place) old() string  { return p.directory + ".tmp2" }

// complete reports whether the plugin is installed: whether a [plugin.Finder] finds it.
func (p place) complete() bool {
	return !files.MayBeThere(p.partial()) && p.usable(p.directory)
}

// usable reports whether a folder has a plugin: an executable, or the manifest of a plugin in source form.
func (p place) usable(directory string) bool {
	if _, executable := plugin.Executable(directory, p.request.Kind, p.request.Name); executable {
		return true
	}
	_, written := plugin.SourceFolder(directory, p.request.Kind, p.request.Name)
	return written
}

// unwritable adds advice to the error for a folder of plugins that is not writable.
func unwritable(err error) error {
	return fmt.Errorf("%w; make it a folder that you may write to, or set PULUMI_HOME to another one", err)
}

// patience is how long another process may hold the lock before that is worth a message.
const patience = time.Second

// lock waits until no other process, and no other goroutine of this one, works on the place.
func (p place) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(p.directory), 0o700); err != nil {
		return nil, unwritable(fmt.Errorf("cannot create the folder for plugins: %w", err))
	}
	say := time.AfterFunc(patience, func() { p.request.observe(Progress{Phase: Waiting}) })
	defer say.Stop()
	locked := await.NewPromise[func()]()
	var waiting conc.WaitGroup // nobody waits for it: the system has no way to end the wait for a lock
	waiting.Go(func() {
		unlock, err := lockedfile.MutexAt(p.directory + ".lock").Lock()
		if err != nil {
			locked.Fail(unwritable(fmt.Errorf("cannot lock the plugin: %w", err)))
		} else if !locked.Resolve(unlock) {
			unlock()
		}
	})
	unlock, err = locked.Wait(ctx)
	if err == nil || ctx.Err() == nil {
		return unlock, err
	}
	if !locked.Fail(context.Cause(ctx)) {
		if unlock, err := locked.Wait(context.WithoutCancel(ctx)); err == nil {
			unlock()
		}
	}
	return nil, context.Cause(ctx)
}

// clean removes the remains of installations that were cut off. The lock is held.
func (p place) clean() error {
	return errors.Join(os.RemoveAll(p.half()), os.RemoveAll(p.old()))
}

// commit moves a complete folder to the plugin's final place, and calls finish to complete it there: a virtual environment of Python
// cannot be moved. Meanwhile the mark shows that the plugin is not complete, so that a kill leaves nothing that is found.
func (p place) commit(finish func() error) error {
	keep := p.complete() // otherwise nothing of it may be found again
	if err := os.WriteFile(p.partial(), nil, 0o600); err != nil {
		return err
	}
	var err error
	if keep {
		err = os.Rename(p.directory, p.old())
	} else {
		err = os.RemoveAll(p.directory)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(p.half(), p.directory); err != nil {
		return err
	}
	if err := finish(); err != nil {
		return errors.Join(err, p.revert())
	}
	if err := os.Remove(p.partial()); err != nil {
		return err
	}
	_ = os.RemoveAll(p.old()) // perhaps in use on Windows; the next installation removes it
	return nil
}

// revert removes a plugin that could not be completed, and puts the previous one into its place again. If it fails, the mark
// stays.
func (p place) revert() error {
	if err := os.RemoveAll(p.directory); err != nil {
		return err
	}
	if files.MayBeThere(p.old()) {
		if err := os.Rename(p.old(), p.directory); err != nil {
			return err
		}
	}
	return os.Remove(p.partial())
}

// forget removes the download.
func (p place) forget() { removeAll(p.download(), p.download()+".json") }

func (p place) installed(present bool) Installed {
	return Installed{Kind: p.request.Kind, Name: p.request.Name, Version: p.request.Version, Directory: p.directory, Present: present}
}

func removeAll(paths ...string) {
	for _, path := range paths {
		_ = os.Remove(path) // a remaining file is overwritten or ignored
	}
}

// Details are the facts in the cache about a plugin besides its name.
type Details struct {
	Size      int64 // bytes
	Installed time.Time
	LastUsed  time.Time // zero if it was not used, or not since uses are recorded
}

// Describe returns the details of a plugin's folder in the cache. Files that cannot be read do not count.
func Describe(directory string) Details {
	var d Details
	if info, err := os.Stat(directory); err == nil {
		d.Installed = info.ModTime()
	}
	if info, err := os.Stat(directory + ".lastused"); err == nil {
		d.LastUsed = info.ModTime()
	}
	_ = filepath.WalkDir(directory, func(_ string, e os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it counts nothing
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			d.Size += info.Size()
		}
		return nil
	})
	return d
}
