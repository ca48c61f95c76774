// Package watch reports changes of files.
//
// Only contents count: rewriting a file with the same content is no change. It leaves out files that programs and tools write beside the
// sources: see [New] and [Watcher.Settle].
//
// Invariant: a change between two calls of Next is reported by the second one, unless Settle has taken it for an output.
package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// quiet is the time without events after which a change counts as complete: editors and version control write several files.
const quiet = 250 * time.Millisecond

// largest is the size in bytes up to which files are compared by content.
const largest = 8 << 20

// Watcher watches files and folders.
type Watcher struct {
	notify *fsnotify.Watcher
	roots  []string
	except []fs.FileInfo
	sums   map[string]string // of the watched files, by path

	edited  map[string]bool // files that have changed while nothing ran: somebody edits them
	pending map[string]bool // files that changed while something ran, and are still to be reported
	written map[string]bool // files that have changed while something ran, and were reported
	outputs map[string]bool // files that only runs write
}

// New watches files, and folders with everything below them. In a folder, it leaves out names that begin with a period, the packages of
// Node.js and Python, temporary files of editors, and the files except.
func New(paths []string, except ...fs.FileInfo) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{notify: notify, except: except, edited: map[string]bool{}, written: map[string]bool{}, outputs: map[string]bool{}}
	for _, path := range paths {
		root, err := filepath.Abs(path)
		if err == nil {
			w.roots = append(w.roots, root)
			_, err = os.Stat(root)
		}
		if err != nil {
			return nil, errors.Join(err, notify.Close())
		}
	}
	if w.sums, err = w.look(); err != nil {
		return nil, errors.Join(err, notify.Close())
	}
	return w, nil
}

// Close ends the watch.
func (w *Watcher) Close() error { return w.notify.Close() }

// Next waits until files have changed and returns their paths, sorted. The error is that of ctx when it ends.
func (w *Watcher) Next(ctx context.Context) ([]string, error) {
	settled := time.NewTimer(0) // there may be changes since the last call
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case _, open := <-w.notify.Events:
			if !open {
				return nil, fsnotify.ErrClosed
			}
			settled.Reset(quiet)
		case err := <-w.notify.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil, err
			}
			settled.Reset(quiet) // look finds changes without events
		case <-settled.C:
			now, err := w.look()
			if err != nil {
				return nil, err
			}
			changed := different(w.sums, now)
			if w.sums = now; len(changed) > 0 {
				for _, path := range changed {
					w.edited[path] = w.edited[path] || !w.pending[path]
				}
				return changed, nil
			}
		}
	}
}

// Settle takes the changes since the last call of Next that something that has run in the meantime has made, so that Next does not report them: new
// files, files that isOutput reports, and files that a run has changed before. It returns the last ones, sorted, when that is noticed.
// A file that somebody has edited while nothing ran is a source for ever.
func (w *Watcher) Settle(isOutput func(path string) bool) (outputs []string, err error) {
	now, err := w.look()
	if err != nil {
		return nil, err
	}
	again := map[string]bool{}
	for _, path := range different(w.sums, now) {
		_, existed := w.sums[path]
		switch {
		case w.edited[path]:
			again[path] = true
			continue
		case w.outputs[path]:
		case w.written[path]:
			w.outputs[path] = true
			outputs = append(outputs, path)
		case existed && !isOutput(path):
			again[path], w.written[path] = true, true
			continue
		default:
			w.outputs[path] = true
		}
		if sum, exists := now[path]; exists {
			w.sums[path] = sum
		} else {
			delete(w.sums, path)
		}
	}
	w.pending = again
	return outputs, nil
}

// different returns the paths whose sums differ.
func different(before, now map[string]string) []string {
	var out []string
	for path, sum := range now {
		if before[path] != sum {
			out = append(out, path)
		}
	}
	for path := range before {
		if _, there := now[path]; !there {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// look returns the sums of the existing files, and watches new folders.
func (w *Watcher) look() (map[string]string, error) {
	sums := map[string]string{}
	for _, root := range w.roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // it has just been removed
				return nil
			case err != nil && path == root:
				return err
			case err != nil: // an unreadable file is not a source
				return fs.SkipDir
			case path != root && isLeftOut(path, d):
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir():
				return w.add(path)
			}
			if path == root { // the events of the folder show that a file is replaced by another one of its name
				if err := w.add(filepath.Dir(path)); err != nil {
					return err
				}
			}
			if sum, ok := w.sumOf(path); ok {
				sums[path] = sum
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// add watches a folder. Further calls for the same folder do nothing.
func (w *Watcher) add(folder string) error {
	err := w.notify.Add(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	return nil
}

// isLeftOut reports whether an entry of a folder is not a source.
func isLeftOut(path string, d fs.DirEntry) bool {
	name := d.Name()
	if strings.HasPrefix(name, ".") {
		return true
	}
	if !d.IsDir() {
		return strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".swp") || strings.HasSuffix(name, ".tmp")
	}
	if name == "node_modules" || name == "__pycache__" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "pyvenv.cfg")) // true for a virtual environment of Python
	return err == nil
}

// sumOf returns a text that differs for different contents of a file. It reports false for entries that are not files, or not sources.
func (w *Watcher) sumOf(path string) (string, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", false
	case slices.ContainsFunc(w.except, func(other fs.FileInfo) bool { return os.SameFile(info, other) }):
		return "", false
	case info.Size() > largest:
		return fmt.Sprint(info.Size(), info.ModTime()), true
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(content)
	return string(sum[:]), true
}
