package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is the maximum depth of nested objects and arrays, that of encoding/json. It bounds the stack of callers that read recursively.
const MaxDepth = 10_000

// ErrTruncated is wrapped by the error for text that ends in the middle of a value.
var ErrTruncated = fmt.Errorf("the text ends in the middle of a value: %w", io.ErrUnexpectedEOF)

// ScanError reports that text is not JSON.
type ScanError struct {
	Offset  int    // in bytes
	Problem string // without the place

	message string // with the place
	err     error
}

func (e *ScanError) Error() string { return e.message }

// Unwrap returns [ErrTruncated] for text that ends too early.
func (e *ScanError) Unwrap() error { return e.err }

// Scanner reads one text. After an error its position is that of the error.
type Scanner struct {
	text  []byte
	at    int
	depth int
}

// New returns a scanner at the beginning of text.
func New(text []byte) *Scanner { return &Scanner{text: text} }

// fail returns the error for a byte that is not the expected one.
func (s *Scanner) fail(problem, expected string) error {
	if s.at >= len(s.text) {
		return &ScanError{s.at, problem, ErrTruncated.Error(), ErrTruncated}
	}
	return &ScanError{s.at, problem, fmt.Sprintf("at byte %d: %q instead of %s", s.at, s.text[s.at], expected), nil}
}

// bad returns the error for a part that is malformed in another way.
func (s *Scanner) bad(problem string) error {
	return &ScanError{s.at, problem, fmt.Sprintf("at byte %d: %s", s.at, problem), nil}
}

// truncated returns the error for a string or a cut value that is not closed.
func (s *Scanner) truncated(problem string) error {
	s.at = len(s.text)
	return s.fail(problem, "")
}

// Next skips white space and returns the next byte without consuming it; 0 at the end, which begins no value either.
func (s *Scanner) Next() byte {
	if s.at < len(s.text) && s.text[s.at] > ' ' {
		return s.text[s.at]
	}
	return s.skipSpace()
}

func (s *Scanner) skipSpace() byte {
	for s.at < len(s.text) {
		switch b := s.text[s.at]; b {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return b
		}
	}
	return 0
}

// peek returns the next byte, white space included; 0 at the end.
func (s *Scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// End checks that only white space is left.
func (s *Scanner) End() error {
	if s.Next() != 0 || s.at < len(s.text) {
		return &ScanError{s.at, "more than one value", fmt.Sprintf("at byte %d: text after the end of the value", s.at), nil}
	}
	return nil
}

// OpenObject consumes the brace before the first member, and reports whether there is one. Without members it consumes both braces.
func (s *Scanner) OpenObject() (bool, error) {
	if s.Next() != '{' {
		return false, s.fail("expected a value", "an object")
	}
	return s.open('}')
}

// OpenArray is [Scanner.OpenObject] for the brackets of an array.
func (s *Scanner) OpenArray() (bool, error) {
	if s.Next() != '[' {
		return false, s.fail("expected a value", "an array")
	}
	return s.open(']')
}

func (s *Scanner) open(closing byte) (bool, error) {
	if s.depth++; s.depth > MaxDepth {
		return false, s.bad("nested too deeply")
	}
	s.at++
	if s.Next() == closing {
		s.depth--
		s.at++
		return false, nil
	}
	return true, nil
}

// MoreMembers consumes what is after a member, and reports whether another one follows.
func (s *Scanner) MoreMembers() (bool, error) { return s.more('}') }

// MoreElements is [Scanner.MoreMembers] for the elements of an array.
func (s *Scanner) MoreElements() (bool, error) { return s.more(']') }

func (s *Scanner) more(closing byte) (bool, error) {
	switch s.Next() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.depth--
		s.at++
		return false, nil
	}
	return false, s.fail("expected ',' or '"+string(closing)+"'", "a comma or "+string(closing))
}

// Name consumes the name of a member and the colon after it.
func (s *Scanner) Name() (string, error) {
	if s.Next() != '"' {
		return "", s.fail("expected a name", "a name")
	}
	name, err := s.Text()
	if err != nil {
		return "", err
	}
	if s.Next() != ':' {
		return "", s.fail("expected ':'", "a colon")
	}
	s.at++
	return name, nil
}

// Object is [Scanner.Members] of an object or of null, which has none.
func (s *Scanner) Object(member func(name string) error) error {
	if s.Null() {
		return nil
	}
	return s.Members(member)
}

// Members consumes an object. It calls member for each name, in the order of the text. The call consumes the value.
func (s *Scanner) Members(member func(name string) error) error {
	more, err := s.OpenObject()
	for more && err == nil {
		var name string
		if name, err = s.Name(); err != nil {
			return err
		}
		if err = member(name); err != nil {
			return err
		}
		more, err = s.MoreMembers()
	}
	return err
}

// Array consumes an array or null, which has no elements. It calls element for each index. The call consumes the value.
func (s *Scanner) Array(element func(i int) error) error {
	if s.Null() {
		return nil
	}
	more, err := s.OpenArray()
	for i := 0; more && err == nil; i++ {
		if err = element(i); err != nil {
			return err
		}
		more, err = s.MoreElements()
	}
	return err
}

// Null consumes a null, if that comes next, and reports whether it did.
func (s *Scanner) Null() bool { return s.Next() == 'n' && s.Word("null") == nil }

// Word consumes one of the words true, false and null.
func (s *Scanner) Word(w string) error {
	s.Next()
	if !bytes.HasPrefix(s.text[s.at:], []byte(w)) {
		return s.bad("unknown word")
	}
	s.at += len(w)
	return nil
}

// Number consumes a number.
func (s *Scanner) Number() (float64, error) {
	s.Next()
	start := s.at
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return 0, s.fail("expected a value", "a value")
	}
	if s.peek() == '.' {
		s.at++
		if !s.digits() {
			return 0, s.fail("expected a digit", "a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if !s.digits() {
			return 0, s.fail("expected a digit", "a digit")
		}
	}
	f, err := strconv.ParseFloat(string(s.text[start:s.at]), 64)
	if err != nil {
		s.at = start
		return 0, s.bad("number out of range")
	}
	return f, nil
}

func (s *Scanner) digits() bool {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at > start
}

// Text consumes a string, whose opening quote is next. Broken UTF-8 and halves of surrogate pairs become U+FFFD.
func (s *Scanner) Text() (string, error) {
	s.at++
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			plain := s.text[start:s.at]
			s.at++
			return string(plain), nil
		case c == '\\' || c >= utf8.RuneSelf:
			return s.slowText(start)
		case c < ' ':
			return "", s.bad("control character in a string")
		}
		s.at++
	}
	return "", s.truncated("a string is not closed")
}

// slowText continues with a string that has more than plain ASCII in it.
func (s *Scanner) slowText(start int) (string, error) {
	out := append([]byte(nil), s.text[start:s.at]...)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(out), nil
		case c == '\\':
			s.at++
			var err error
			if out, err = s.escape(out); err != nil {
				return "", err
			}
		case c < ' ':
			return "", s.bad("control character in a string")
		case c < utf8.RuneSelf:
			out = append(out, c)
			s.at++
		default:
			r, n := utf8.DecodeRune(s.text[s.at:])
			out = utf8.AppendRune(out, r)
			s.at += n
		}
	}
	return "", s.truncated("a string is not closed")
}

// escape consumes an escape after its backslash, and appends what it stands for.
func (s *Scanner) escape(out []byte) ([]byte, error) {
	if s.at == len(s.text) {
		return nil, s.truncated("a string is not closed")
	}
	c := s.text[s.at]
	s.at++
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		r, ok := hex4(s.text[s.at:])
		if !ok {
			return nil, s.bad("broken \\u escape")
		}
		s.at += 4
		if utf16.IsSurrogate(r) {
			r = s.pair(r)
		}
		return utf8.AppendRune(out, r), nil
	}
	return nil, s.bad("unknown escape")
}

// pair completes a surrogate pair. Half of one is U+FFFD, and the text after it is read as usual.
func (s *Scanner) pair(first rune) rune {
	if rest, escaped := bytes.CutPrefix(s.text[s.at:], []byte(`\u`)); escaped {
		second, ok := hex4(rest)
		if r := utf16.DecodeRune(first, second); ok && r != utf8.RuneError {
			s.at += len(`\uXXXX`)
			return r
		}
	}
	return utf8.RuneError
}

// hex4 returns the number that the first four bytes are in hexadecimal digits.
func hex4(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Cut consumes a value and returns its text, a slice of the whole. Only the nesting is checked.
func (s *Scanner) Cut() (json.RawMessage, error) {
	s.Next()
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch b := s.text[s.at]; b {
		case '"':
			if !s.skipString() {
				return nil, s.truncated("a string is not closed")
			}
			if depth == 0 {
				return s.text[start:s.at], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return s.scalar(start)
			}
			if depth == 0 {
				s.at++
				return s.text[start:s.at], nil
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return s.scalar(start)
			}
		}
		s.at++
	}
	if depth > 0 {
		return nil, s.truncated("a value is not closed")
	}
	return s.scalar(start)
}

func (s *Scanner) scalar(start int) (json.RawMessage, error) {
	if s.at == start {
		return nil, s.fail("expected a value", "a value")
	}
	return s.text[start:s.at], nil
}

// skipString consumes a string, from its first quote on, in one pass: the next quote is looked for once.
func (s *Scanner) skipString() bool {
	quote := s.at
	for s.at++; s.at < len(s.text); {
		if quote < s.at {
			n := bytes.IndexByte(s.text[s.at:], '"')
			if n < 0 {
				return false
			}
			quote = s.at + n
		}
		escape := bytes.IndexByte(s.text[s.at:quote], '\\')
		if escape < 0 {
			s.at = quote + 1
			return true
		}
		s.at += escape + 2
	}
	return false
}

// Decode consumes a value and unmarshals it.
func (s *Scanner) Decode(into any) error {
	raw, err := s.Cut()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Skip consumes a value, and checks that it is one.
func (s *Scanner) Skip() error {
	raw, err := s.Cut()
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return errors.New("a value is not JSON")
	}
	return nil
}
