package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Options say how a lock is taken.
type Options struct {
	// Dir holds the lock files of one stack. It is made if it is missing.
	Dir string
	// TempDir is on the same file system as Dir, but not in it: there the file is written before it appears in Dir.
	TempDir string
	// URL turns the path of a lock file into the text for messages; nil leaves the path.
	URL func(path string) string
	// Owner describes the process; the zero Owner means this one.
	Owner Owner
}

// Held is a lock that somebody has.
type Held struct {
	Path  string // of the lock file
	URL   string // for messages
	Owner Owner
	// Unknown says that the file cannot be read, so that nobody knows whose it is.
	Unknown bool
}

// HeldError says who has the lock. Its text is part of the contract with scripts (state.md 4.6).
type HeldError struct{ Locks []Held }

func (e *HeldError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the stack is currently locked by %d lock(s). Either wait for the other process(es) to end or delete the "+
		"lock file with `sluice cancel`.", len(e.Locks))
	for _, l := range e.Locks {
		if l.Unknown {
			fmt.Fprintf(&b, "\n  %s: created by an unknown owner: the lock file cannot be read", l.URL)
			continue
		}
		fmt.Fprintf(&b, "\n  %s: created by %s@%s (pid %d) at %s",
			l.URL, l.Owner.Username, l.Owner.Hostname, l.Owner.PID, l.Owner.Timestamp.Format(time.RFC3339))
	}
	return b.String()
}

// Lock is a lock that this process holds.
type Lock struct {
	path string

	mu       sync.Mutex // guards released
	released bool
}

// Acquire takes the lock, or returns a [*HeldError]. Locks of sluice processes that are certainly dead are removed
// first. It does not wait.
func Acquire(ctx context.Context, o Options) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Owner == (Owner{}) {
		o.Owner = Self()
	}
	// Pulumi shows the name when it refuses to work: it says what to do about a lock that was left behind.
	mine := filepath.Join(o.Dir, "sluice-"+uuid.NewString()+"-run-sluice-recover.json")
	others, err := o.others(mine)
	if err != nil {
		return nil, err
	}
	if others, err = buryDead(others, o.Owner); err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, &HeldError{others}
	}
	if err := o.write(mine); err != nil {
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	l := &Lock{path: mine}
	if others, err = o.others(mine); err == nil && len(others) > 0 {
		err = &HeldError{others}
	}
	if err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// Release gives the lock up. A second Release does nothing; neither does one after somebody broke the lock.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	var err error
	for _, pause := range [...]time.Duration{0, 20 * time.Millisecond, 40 * time.Millisecond} {
		time.Sleep(pause)
		if err = os.Remove(l.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			l.released = true
			return nil
		}
	}
	return fmt.Errorf("remove the lock file, which has to be deleted by hand: %w", err)
}

// List returns the locks in a directory in the order of their names.
func List(o Options) ([]Held, error) { return o.others("") }

// Break removes all lock files of a directory, whoever has them, and returns how many there were (state.md 7.11).
func Break(o Options) (int, error) {
	locks, err := List(o)
	if err != nil {
		return 0, err
	}
	for i, l := range locks {
		if err := os.Remove(l.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return i, fmt.Errorf("remove a lock file: %w", err)
		}
	}
	return len(locks), nil
}

func (o Options) others(mine string) ([]Held, error) {
	entries, err := os.ReadDir(o.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for locks: %w", err)
	}
	var held []Held
	for _, e := range entries {
		path := filepath.Join(o.Dir, e.Name())
		// Sidecars and unfinished writes are not locks. Whoever is writing one looks for ours afterwards.
		if e.IsDir() || path == mine || strings.HasSuffix(path, ".attrs") || strings.HasSuffix(path, ".tmp") {
			continue
		}
		h := Held{Path: path, URL: path}
		if o.URL != nil {
			h.URL = o.URL(path)
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // released meanwhile
		}
		h.Unknown = err != nil || json.Unmarshal(b, &h.Owner) != nil
		held = append(held, h)
	}
	return held, nil
}

func buryDead(locks []Held, self Owner) ([]Held, error) {
	var alive []Held
	for _, l := range locks {
		if l.Unknown || l.Owner.Tool != self.Tool || !l.Owner.IsDead(self) {
			alive = append(alive, l)
			continue
		}
		if err := os.Remove(l.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove the lock file of a process that has died: %w", err)
		}
	}
	return alive, nil
}

func (o Options) write(path string) error {
	b, err := json.Marshal(o.Owner)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(o.Dir, 0o777), os.MkdirAll(o.TempDir, 0o777)); err != nil {
		return err
	}
	temp := filepath.Join(o.TempDir, filepath.Base(path)+".tmp")
	if err := writeFile(temp, b); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(o.Dir)
}

func writeFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes the entries of a directory durable. File systems that cannot do that are not asked twice.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync()
	return f.Close()
}
