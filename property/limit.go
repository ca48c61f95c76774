package property

import "fmt"

// The limits of both encodings. They keep a malformed or hostile value from exhausting the stack or the memory, and lie
// far above what real programs use: Pulumi allows gRPC messages of 400 MiB.
const (
	// MaxDepth is the maximum depth of nested arrays, objects, secrets and outputs.
	MaxDepth = 1000
	// MaxSize is the approximate maximum size of one encoded object, in bytes.
	MaxSize = 400 << 20
)

// LimitError reports that a value is nested too deeply or is too large to be encoded or decoded.
type LimitError struct {
	Path  Path   // where the limit was exceeded
	What  string // "depth" or "size"
	Limit int64  // MaxDepth in levels or MaxSize in bytes
}

// shownElements is the number of path elements in a message; the path of a value that is too deep is not readable.
const shownElements = 12

func (e *LimitError) Error() string {
	where := e.Path.String()
	if len(e.Path) > shownElements {
		where = e.Path[:shownElements].String() + "..."
	}
	if e.What == limitSize {
		return fmt.Sprintf("the value at property %q makes the whole larger than %d MiB; put large contents into assets", where,
			e.Limit>>20)
	}
	return fmt.Sprintf("the value at property %q is nested deeper than %d levels; flatten it", where, e.Limit)
}

func (e *LimitError) under(el Element) { e.Path = append(e.Path, el) }
func (e *LimitError) turn()            { reversePath(e.Path) }

const (
	limitDepth = "depth"
	limitSize  = "size"
)

// ValueError reports that a value cannot be encoded or decoded, with its path.
type ValueError struct {
	Path Path
	Err  error // the cause outside this package, such as that of a crypter; may be nil

	before, after string // the message around the quoted path
}

func (e *ValueError) Error() string {
	msg := e.before + fmt.Sprintf("%q", e.Path.String()) + e.after
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the cause.
func (e *ValueError) Unwrap() error { return e.Err }

func (e *ValueError) under(el Element) { e.Path = append(e.Path, el) }
func (e *ValueError) turn()            { reversePath(e.Path) }

// located is an error that collects its path, innermost element first, on the way up: a walk that succeeds spends
// nothing on paths.
type located interface {
	error
	under(Element)
	turn()
}

// within adds to an error the path element at which the walk failed.
func within(err error, el Element) error {
	if l, ok := err.(located); ok { //nolint:errorlint // only an error made by this walk itself collects a path
		l.under(el)
	}
	return err
}

// outermost completes the path at the top of a walk; name is the name of the whole value, "" for none.
func outermost(err error, name string) error {
	if l, ok := err.(located); ok { //nolint:errorlint // see within
		if name != "" {
			l.under(Key(name))
		}
		l.turn()
	}
	return err
}

func reversePath(p Path) {
	for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
		p[i], p[j] = p[j], p[i]
	}
}

// budget counts the size that a walk has used. The walk passes the depth itself.
type budget struct{ size int64 }

// perValue is the size of one value besides its text: tag and length bytes of the nested messages.
const perValue = 8

func (b *budget) spend(depth, bytes int) error {
	b.size += int64(bytes) + perValue
	if depth > MaxDepth {
		return &LimitError{What: limitDepth, Limit: MaxDepth}
	}
	if b.size > MaxSize {
		return &LimitError{What: limitSize, Limit: MaxSize}
	}
	return nil
}
