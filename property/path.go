package property

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Path is the way to a value inside an object ([state.md 2.9]): a property name or an index for each level. Its text form
// looks like JavaScript: a.b[0]["quoted key"], with "*" for every name or index.
//
// [state.md 2.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#29-paths
type Path []Element

// Element is one step of a [Path]: the name of a property, an array index, or the wildcard, which is the name "*".
type Element struct {
	Key     string
	Index   int
	IsIndex bool
}

// Key makes the element for a property name; Key("*") is the wildcard.
func Key(name string) Element { return Element{Key: name} }

// Index makes the element for an array index.
func Index(i int) Element { return Element{Index: i, IsIndex: true} }

const wildcard = "*"

// IsWildcard reports whether e stands for every name or index.
func (e Element) IsWildcard() bool { return !e.IsIndex && e.Key == wildcard }

// ErrPath is wrapped by every error of [ParsePath] and [ParsePathStrict].
var ErrPath = errors.New("invalid property path")

// ParsePath parses the text form of a path. Names run to the next "." or "["; a "." before "[" is tolerated, as old
// providers write it. The empty text is the empty path.
func ParsePath(text string) (Path, error) { return parsePath(text, false) }

// ParsePathStrict is [ParsePath] without the tolerance.
func ParsePathStrict(text string) (Path, error) { return parsePath(text, true) }

func parsePath(text string, strict bool) (Path, error) {
	bad := func(problem string) (Path, error) { return nil, fmt.Errorf("%w %q: %s", ErrPath, text, problem) }
	if strings.HasPrefix(text, ".") {
		return bad("it must begin with a name or an index")
	}
	var p Path
	for rest := text; rest != ""; {
		switch rest[0] {
		case '.':
			rest = rest[1:]
			if rest == "" {
				return bad("it ends with a '.'")
			}
			if strict && rest[0] == '[' {
				return bad("a '.' must be followed by a name")
			}
		case '[':
			e, tail, err := parseBracket(rest)
			if err != nil {
				return bad(err.Error())
			}
			p, rest = append(p, e), tail
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			p, rest = append(p, Key(rest[:end])), rest[end:]
		}
	}
	return p, nil
}

// parseBracket parses `[n]`, `[*]` or `["name"]` at the beginning of s. Inside quotes only `\"` is an escape.
func parseBracket(s string) (e Element, rest string, err error) {
	if !strings.HasPrefix(s, `["`) {
		inside, rest, closed := strings.Cut(s[1:], "]")
		if !closed {
			return Element{}, "", errors.New("a '[' is not closed")
		}
		if inside == wildcard {
			return Key(wildcard), rest, nil
		}
		i, err := strconv.Atoi(inside)
		if err != nil {
			return Element{}, "", fmt.Errorf("%q is not an array index", inside)
		}
		return Index(i), rest, nil
	}
	var name strings.Builder
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
			name.WriteByte('"')
		case s[i] != '"':
			name.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == ']':
			return Key(name.String()), s[i+2:], nil
		default:
			return Element{}, "", errors.New("a quoted name must be followed by ']'")
		}
	}
	return Element{}, "", errors.New("a quoted name is not closed")
}

// String returns the text form. Names of ASCII letters, digits and "_" are not quoted, others are. [ParsePath] returns p
// again, except if a name has no text form: one with a "." or "[" that also ends with a backslash or has one before a
// quote.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p {
		switch {
		case e.IsIndex:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(e.Index))
			b.WriteByte(']')
		case isBareName(e.Key):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(e.Key)
		default:
			b.WriteString(`["`)
			b.WriteString(strings.ReplaceAll(e.Key, `"`, `\"`))
			b.WriteString(`"]`)
		}
	}
	return b.String()
}

func isBareName(s string) bool {
	// The quoted form has no way to write a backslash before a quote, but an unquoted name may contain anything except "."
	// and "[", so such names are written unquoted if possible.
	if strings.Contains(s, `\"`) || strings.HasSuffix(s, `\`) {
		return !strings.ContainsAny(s, ".[")
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}

// With returns p followed by e, in a new slice.
func (p Path) With(e Element) Path { return append(p[:len(p):len(p)], e) }

// Contains reports whether p is a prefix of q, where the wildcard in p stands for any name or index and an index only for
// itself ([steps.md 3.10]).
//
// [steps.md 3.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#310-replaceonchanges
func (p Path) Contains(q Path) bool {
	if len(q) < len(p) {
		return false
	}
	for i, e := range p {
		if !e.IsWildcard() && e != q[i] {
			return false
		}
	}
	return true
}
