package property

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError reports that text is not JSON.
type SyntaxError struct {
	Offset  int // in bytes
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: %s at byte %d", e.Problem, e.Offset)
}

type jsonParser struct {
	*stateDecoder
	data []byte
	at   int
	// members and elements are those of the open objects and arrays. Each object or array is copied when it closes and its length is
	// known.
	members  members
	elements []Value
}

func (p *jsonParser) bad(problem string) error { return &SyntaxError{Offset: p.at, Problem: problem} }

func (p *jsonParser) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the next byte without taking it; 0 at the end, which begins no JSON either.
func (p *jsonParser) next() byte {
	p.space()
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *jsonParser) element(depth int) (Value, error) {
	c := p.next()
	if err := p.spend(depth, 0); err != nil {
		return Null, err
	}
	switch c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		s, err := p.text()
		if err != nil {
			return Null, err
		}
		return p.stateDecoder.text(s)
	case 't':
		return Bool(true), p.word("true")
	case 'f':
		return Bool(false), p.word("false")
	case 'n':
		return Null, p.word("null")
	default:
		return p.number()
	}
}

func (p *jsonParser) word(w string) error {
	if !bytes.HasPrefix(p.data[p.at:], []byte(w)) {
		return p.bad("unknown word")
	}
	p.at += len(w)
	return nil
}

func (p *jsonParser) array(depth int) (Value, error) {
	p.at++
	if p.next() == ']' {
		p.at++
		return Of(Array{}), nil
	}
	first := len(p.elements)
	for {
		v, err := p.element(depth + 1)
		if err != nil {
			return Null, within(err, Index(len(p.elements)-first))
		}
		p.elements = append(p.elements, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			a := slices.Clone(p.elements[first:])
			p.elements = p.elements[:first]
			return Of(Array{a}), nil
		default:
			return Null, p.bad("expected ',' or ']'")
		}
	}
}

func (p *jsonParser) object(depth int) (Value, error) {
	p.at++
	if p.next() == '}' {
		p.at++
		return Of(Map{}), nil
	}
	if p.members == nil {
		p.members = make(members, 0, 8)
	}
	first := len(p.members)
	for {
		if p.next() != '"' {
			return Null, p.bad("expected a name")
		}
		k, err := p.text()
		if err != nil {
			return Null, err
		}
		if p.next() != ':' {
			return Null, p.bad("expected ':'")
		}
		p.at++
		p.size += int64(len(k))
		v, err := p.element(depth + 1)
		if err != nil {
			return Null, within(err, Key(k))
		}
		p.members = append(p.members, member{k, v})
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			list := slices.Clone(p.members[first:])
			p.members = p.members[:first]
			return p.finish(list.object(), depth)
		default:
			return Null, p.bad("expected ',' or '}'")
		}
	}
}

func (p *jsonParser) number() (Value, error) {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
	} else if !p.digits() {
		return Null, p.bad("expected a value")
	}
	if p.peek() == '.' {
		p.at++
		if !p.digits() {
			return Null, p.bad("expected a digit")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return Null, p.bad("expected a digit")
		}
	}
	f, err := strconv.ParseFloat(string(p.data[start:p.at]), 64)
	if err != nil {
		p.at = start
		return Null, p.bad("number out of range")
	}
	return Number(f), nil
}

// peek returns the next byte, white space included; 0 at the end.
func (p *jsonParser) peek() byte {
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *jsonParser) digits() bool {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > start
}

// text takes a string, whose opening quote is next.
func (p *jsonParser) text() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '"':
			s := p.data[start:p.at]
			p.at++
			return string(s), nil
		case c == '\\' || c >= utf8.RuneSelf:
			return p.slowText(start)
		case c < ' ':
			return "", p.bad("control character in a string")
		}
		p.at++
	}
	return "", p.bad("a string is not closed")
}

// slowText continues with a string that has more than plain ASCII in it.
func (p *jsonParser) slowText(start int) (string, error) {
	out := append([]byte(nil), p.data[start:p.at]...)
	for p.at < len(p.data) {
		switch c := p.data[p.at]; {
		case c == '"':
			p.at++
			return string(out), nil
		case c == '\\':
			p.at++
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		case c < ' ':
			return "", p.bad("control character in a string")
		case c < utf8.RuneSelf:
			out = append(out, c)
			p.at++
		default:
			r, n := utf8.DecodeRune(p.data[p.at:])
			out = utf8.AppendRune(out, r)
			p.at += n
		}
	}
	return "", p.bad("a string is not closed")
}

func (p *jsonParser) escape(out []byte) ([]byte, error) {
	c := p.peek()
	p.at++
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
		r, ok := p.hex4()
		if !ok {
			return nil, p.bad("broken \\u escape")
		}
		if utf16.IsSurrogate(r) {
			r = p.pair(r)
		}
		return utf8.AppendRune(out, r), nil
	}
	return nil, p.bad("unknown escape")
}

// pair completes a surrogate pair. Half of one is U+FFFD, and the text after it is read as usual.
func (p *jsonParser) pair(first rune) rune {
	back := p.at
	if bytes.HasPrefix(p.data[p.at:], []byte(`\u`)) {
		p.at += 2
		if second, ok := p.hex4(); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r
			}
		}
	}
	p.at = back
	return utf8.RuneError
}

func (p *jsonParser) hex4() (rune, bool) {
	if p.at+4 > len(p.data) {
		return 0, false
	}
	var r rune
	for _, c := range p.data[p.at : p.at+4] {
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
	p.at += 4
	return r, true
}
