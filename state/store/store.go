package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/sourcegraph/conc/iter"
)

// Store keeps contents under keys: paths with slashes, relative to the store. It is safe for concurrent use, by other
// processes too. A list or read after a write or removal has returned shows its effect.
type Store interface {
	// Name is the text by which people find a key: a path, or a URL without credentials.
	Name(key string) string
	// Read returns a content. The error wraps [fs.ErrNotExist] when there is none.
	Read(ctx context.Context, key string) ([]byte, Info, error)
	// Stat describes the existing ones of the keys, in the order of the arguments.
	Stat(ctx context.Context, keys ...string) ([]Info, error)
	// List describes the keys that begin with a prefix, in their order. The store's own files beside contents, such as
	// unfinished writes, are not among them.
	List(ctx context.Context, prefix string) ([]Info, error)
	// Write replaces a content, durably, or returns an error that wraps [ErrConflict] if the condition does not hold.
	Write(ctx context.Context, key string, content []byte, c Condition) (Info, error)
	// Copy makes to a copy of from that shares nothing with it. The error wraps [fs.ErrNotExist] when there is no from.
	Copy(ctx context.Context, from, to string) error
	// Remove removes keys, durably, one after the other or at once. A key that does not exist is no error.
	Remove(ctx context.Context, keys ...string) error
	// Close closes the connections of the store. No method may be called afterwards.
	Close() error
}

// Info describes a content.
type Info struct {
	Key      string
	Modified time.Time // by the clock of the store
	Size     int64     // in bytes
	// Revision distinguishes the contents that a key has over time; it has no other meaning.
	Revision string
}

// Condition defines when a Write may happen; with the zero Condition, always. If the store supports it, the condition is
// checked in one step with the write; directories and some object stores check it right before.
type Condition struct {
	absent   bool
	blind    bool // the caller does not use the result of Write
	revision string
}

// IfAbsent lets a Write happen when the key does not exist.
func IfAbsent() Condition { return Condition{absent: true} }

// New is IfAbsent for a key that is written once: the result of Write may lack the time and the revision, which cost some
// stores a request.
func New() Condition { return Condition{absent: true, blind: true} }

// IfRevision lets a Write happen when the key has this revision.
func IfRevision(revision string) Condition { return Condition{revision: revision} }

// IfUnchanged lets a Write happen when the key still has the given description, or still does not exist.
func IfUnchanged(i Info) Condition {
	if i.Revision == "" {
		return IfAbsent()
	}
	return IfRevision(i.Revision)
}

// Blind reports whether Write may omit the time and the revision.
func (c Condition) Blind() bool { return c.blind }

// Absent reports whether the key must not exist.
func (c Condition) Absent() bool { return c.absent }

// Revision is the required revision of the key; "" is no condition.
func (c Condition) Revision() string { return c.revision }

// Check returns an error that wraps [ErrConflict] if a content, given by its description and whether it exists, does not
// fit the condition.
func (c Condition) Check(key string, now Info, exists bool) error {
	if c.absent && exists || c.revision != "" && (!exists || now.Revision != c.revision) {
		return Conflict(key)
	}
	return nil
}

// ErrConflict is wrapped by the error of a Write whose condition does not hold.
var ErrConflict = errors.New("it has been written by somebody else")

// Conflict returns the error of a conditional Write of a key that another process has written.
func Conflict(key string) error { return fmt.Errorf("%s: %w", key, ErrConflict) }

// Missing returns the error for a key that does not exist, with its name for people.
func Missing(name string) error { return &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist} }

// Keeper is a Store with a cheaper way than a copy to keep a content that is about to be replaced or removed.
type Keeper interface {
	Keep(ctx context.Context, from, to string) error
}

// Keep makes to a copy of the present content of from. from is replaced or removed next: until then the two may share
// their storage, so that damage to one is damage to both. A missing from is no error.
func Keep(ctx context.Context, s Store, from, to string) error {
	keep := s.Copy
	if k, ok := s.(Keeper); ok {
		keep = k.Keep
	}
	if err := keep(ctx, from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Requests is the number of simultaneous requests of one call to a store.
const Requests = 10

// Lean is a Store in which a content costs less than a content with its description.
type Lean interface {
	// Content is Read without the description.
	Content(ctx context.Context, key string) ([]byte, error)
}

// Contents returns the contents of keys, in their order. It reads several at once. The error is that of the first key in that
// order that cannot be read.
func Contents(ctx context.Context, s Store, keys ...string) ([][]byte, error) {
	var mu sync.Mutex // guards the variables below
	failed, fault := len(keys), error(nil)
	contents := make([][]byte, len(keys))
	iter.Iterator[string]{MaxGoroutines: Requests}.ForEachIdx(keys, func(i int, key *string) {
		mu.Lock()
		needless := failed < i
		mu.Unlock()
		if needless {
			return
		}
		b, err := content(ctx, s, *key)
		mu.Lock()
		defer mu.Unlock()
		if contents[i] = b; err != nil && i < failed {
			failed, fault = i, err
		}
	})
	if fault != nil {
		return nil, fault
	}
	return contents, nil
}

func content(ctx context.Context, s Store, key string) ([]byte, error) {
	if lean, is := s.(Lean); is {
		return lean.Content(ctx, key)
	}
	b, _, err := s.Read(ctx, key)
	return b, err
}

// Tidier is a Store in which killed processes leave files.
type Tidier interface {
	// Tidy removes unfinished writes, of keys with one of the prefixes, that ended processes have left, and nothing that a running
	// process uses. It may remove those of other keys, too.
	Tidy(prefixes ...string) error
}

// Hold excludes other processes from a name for as long as this process keeps the connection that took it.
type Hold interface {
	// Alive checks in the store whether the hold is still there; an error means that it is not, or that the store does not
	// answer.
	Alive(ctx context.Context) error
	// Close releases the name. A second Close does nothing.
	Close() error
}

// Session is the connection by which a process holds a name.
type Session struct {
	ID string // the store's name for it
	// Holder is the text that the process gave to Exclude, "" if it did not use Exclude.
	Holder string
	// Account is the account of the process at the store.
	Account string
	// Since is when the connection was made, by the clock of the store; zero if the store does not report it.
	Since time.Time
}

// MaxHolder is the maximum number of characters of a holder.
const MaxHolder = 50

// Excluder is a Store that can report for certain whether a process holds a name.
type Excluder interface {
	// Exclude takes a name, or returns nil when another process has it. It does not wait. holder describes this process,
	// in at most [MaxHolder] printable characters of ASCII: others see it from the moment that the name is held.
	Exclude(ctx context.Context, name, holder string) (Hold, error)
	// Holding returns the session that holds a name, nil if none does.
	Holding(ctx context.Context, name string) (*Session, error)
	// End ends a session if it still holds the name, and waits until it has ended. It is an error for a session that has no
	// Holder.
	End(ctx context.Context, name string, s Session) error
	// Now is the time by the clock of [Info].Modified.
	Now(ctx context.Context) (time.Time, error)
}

// Opener opens the store that a URL names. lookup reads the environment, as [os.LookupEnv] does.
type Opener func(ctx context.Context, url string, lookup func(name string) (string, bool)) (Store, error)
