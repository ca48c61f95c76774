package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Store keeps contents under keys: paths with slashes, relative to the store. It is safe for concurrent use, by other
// processes too. Listing and reading after a write or removal has returned show its effect.
type Store interface {
	// Name is the text by which people find a key: a path, or a URL without credentials.
	Name(key string) string
	// Read returns a content. The error wraps [fs.ErrNotExist] when there is none.
	Read(ctx context.Context, key string) ([]byte, Info, error)
	// Stat describes those of the keys that exist, in the order of the arguments.
	Stat(ctx context.Context, keys ...string) ([]Info, error)
	// List describes the keys that begin with a prefix, in their order. What the store itself puts beside contents, such as
	// unfinished writes, is not among them.
	List(ctx context.Context, prefix string) ([]Info, error)
	// Write replaces a content, durably, or returns an error that wraps [ErrConflict] if the condition does not hold.
	Write(ctx context.Context, key string, content []byte, c Condition) (Info, error)
	// Copy makes to a copy that shares nothing with from. The error wraps [fs.ErrNotExist] when there is no from.
	Copy(ctx context.Context, from, to string) error
	// Remove removes keys, durably, one after the other or at once. Those that do not exist are no error.
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

// Condition defines when a Write may happen; with the zero Condition, always. Where the store can, the condition is checked
// in one step with the write; directories and some object stores check it right before.
type Condition struct {
	absent   bool
	blind    bool // nobody will ask what was written
	revision string
}

// IfAbsent lets a Write happen when the key does not exist.
func IfAbsent() Condition { return Condition{absent: true} }

// New is IfAbsent for a key that is written once: what Write returns may lack the time and the revision, which cost some stores
// a request.
func New() Condition { return Condition{absent: true, blind: true} }

// IfRevision lets a Write happen when the key has this revision.
func IfRevision(revision string) Condition { return Condition{revision: revision} }

// IfUnchanged lets a Write happen when the key is still as it was described, or if it did not exist, still does not.
func IfUnchanged(i Info) Condition {
	if i.Revision == "" {
		return IfAbsent()
	}
	return IfRevision(i.Revision)
}

// Blind reports whether Write need not find out the time and the revision.
func (c Condition) Blind() bool { return c.blind }

// Absent reports whether the key must not exist.
func (c Condition) Absent() bool { return c.absent }

// Revision is what the key must have; "" is no condition.
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

// Missing returns the error for a key that does not exist, named for people.
func Missing(name string) error { return &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist} }

// Keeper is a Store that has a cheaper way than a copy to keep a content that is about to be replaced or removed.
type Keeper interface {
	Keep(ctx context.Context, from, to string) error
}

// Keep makes to what from is now. from is replaced or removed next: until then the two may share their storage, so
// that damage to one is damage to both. A missing from is no error.
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

// Tidier is a Store that processes which were killed leave files in.
type Tidier interface {
	// Tidy removes what processes that have ended have left of unfinished writes of keys with one of the prefixes, and nothing that one
	// still uses. It may remove that of other keys, too.
	Tidy(prefixes ...string) error
}

// Hold excludes other processes from a name for as long as this process has the connection that it took it with.
type Hold interface {
	// Alive asks the store whether the hold is still there; an error says that it is not, or that the store does not answer.
	Alive(ctx context.Context) error
	// Close releases the name. A second Close does nothing.
	Close() error
}

// Session is the connection by which a process holds a name.
type Session struct {
	ID string // by which the store knows it
	// Holder is what the process said of itself when it took the name, "" if it is none of those that take names with Exclude.
	Holder string
	// Account is the one of the store that the process uses.
	Account string
	// Since is when the connection was made, by the clock of the store; zero where it does not say that.
	Since time.Time
}

// MaxHolder is how many characters a holder can say of itself.
const MaxHolder = 50

// Excluder is a Store that knows for certain whether some process holds a name.
type Excluder interface {
	// Exclude takes a name, or returns nil when another process has it. It does not wait. holder says who takes it, in at
	// most [MaxHolder] printable characters of ASCII: it is known from the moment that the name is held.
	Exclude(ctx context.Context, name, holder string) (Hold, error)
	// Holding returns the session that holds a name, nil if none does.
	Holding(ctx context.Context, name string) (*Session, error)
	// End ends a session if it still holds the name, and waits until it has. It is an error for a session that has no Holder.
	End(ctx context.Context, name string, s Session) error
	// Now is the time by the clock that [Info].Modified is from.
	Now(ctx context.Context) (time.Time, error)
}

// Opener opens the store that a URL names. lookup reads the environment, as [os.LookupEnv] does.
type Opener func(ctx context.Context, url string, lookup func(name string) (string, bool)) (Store, error)
