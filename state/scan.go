package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// cursor walks through JSON text once: the large parts of a checkpoint are cut out as slices of the text, without
// being parsed again at each level of nesting.
type cursor struct {
	data []byte
	pos  int
}

// ErrTruncated is wrapped by the error for text that ends in the middle of a value.
var ErrTruncated = fmt.Errorf("the text ends in the middle of a value: %w", io.ErrUnexpectedEOF)

func (c *cursor) fail(expected string) error {
	if c.pos >= len(c.data) {
		return ErrTruncated
	}
	return fmt.Errorf("at byte %d: %q instead of %s", c.pos, c.data[c.pos], expected)
}

// space skips white space and returns the next byte, 0 at the end.
func (c *cursor) space() byte {
	for c.pos < len(c.data) {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return b
		}
	}
	return 0
}

func (c *cursor) expect(b byte, what string) error {
	if c.space() != b {
		return c.fail(what)
	}
	c.pos++
	return nil
}

// null consumes a null, if that comes next.
func (c *cursor) null() bool {
	c.space()
	if bytes.HasPrefix(c.data[c.pos:], []byte("null")) {
		c.pos += len("null")
		return true
	}
	return false
}

// end checks that the text ends here.
func (c *cursor) end() error {
	if c.space() != 0 || c.pos < len(c.data) {
		return fmt.Errorf("at byte %d: text after the end of the value", c.pos)
	}
	return nil
}

// object calls member for each name, with the cursor before the value that member must consume. null has no members.
func (c *cursor) object(member func(name string) error) error {
	if c.null() {
		return nil
	}
	if err := c.expect('{', "an object"); err != nil {
		return err
	}
	if c.space() == '}' {
		c.pos++
		return nil
	}
	for {
		name, err := c.name()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
		if more, err := c.more('}'); !more {
			return err
		}
	}
}

func (c *cursor) name() (string, error) {
	if c.space() != '"' {
		return "", c.fail("a name")
	}
	raw, err := c.cut()
	if err != nil {
		return "", err
	}
	if err := c.expect(':', "a colon"); err != nil {
		return "", err
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var name string
	err = json.Unmarshal(raw, &name)
	return name, err
}

// array calls element for each index, with the cursor before the value that element must consume.
func (c *cursor) array(element func(i int) error) error {
	if c.null() {
		return nil
	}
	if err := c.expect('[', "an array"); err != nil {
		return err
	}
	if c.space() == ']' {
		c.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if more, err := c.more(']'); !more {
			return err
		}
	}
}

func (c *cursor) more(closing byte) (bool, error) {
	switch c.space() {
	case ',':
		c.pos++
		return true, nil
	case closing:
		c.pos++
		return false, nil
	}
	return false, c.fail("a comma or " + string(closing))
}

// cut consumes a value and returns its text. Only the nesting is checked.
func (c *cursor) cut() (json.RawMessage, error) {
	c.space()
	start, depth := c.pos, 0
	for c.pos < len(c.data) {
		switch b := c.data[c.pos]; b {
		case '"':
			if !c.skipString() {
				return nil, ErrTruncated
			}
			if depth == 0 {
				return c.data[start:c.pos], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return c.scalar(start)
			}
			if depth == 0 {
				c.pos++
				return c.data[start:c.pos], nil
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return c.scalar(start)
			}
		}
		c.pos++
	}
	if depth > 0 {
		return nil, ErrTruncated
	}
	return c.scalar(start)
}

func (c *cursor) scalar(start int) (json.RawMessage, error) {
	if c.pos == start {
		return nil, c.fail("a value")
	}
	return c.data[start:c.pos], nil
}

// skipString consumes a string, from its first quote on, in one pass: the next quote is looked for once.
func (c *cursor) skipString() bool {
	quote := c.pos
	for c.pos++; c.pos < len(c.data); {
		if quote < c.pos {
			n := bytes.IndexByte(c.data[c.pos:], '"')
			if n < 0 {
				return false
			}
			quote = c.pos + n
		}
		escape := bytes.IndexByte(c.data[c.pos:quote], '\\')
		if escape < 0 {
			c.pos = quote + 1
			return true
		}
		c.pos += escape + 2
	}
	return false
}

// decode consumes a value and unmarshals it.
func (c *cursor) decode(into any) error {
	raw, err := c.cut()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// skip consumes a value that is not needed, and checks that it is one.
func (c *cursor) skip() error {
	raw, err := c.cut()
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return errors.New("a value is not JSON")
	}
	return nil
}

// optional is [cursor.compact], but returns nil for null.
func (c *cursor) optional() (json.RawMessage, error) {
	if c.null() {
		return nil, nil
	}
	return c.compact()
}

// compact consumes a value and returns a copy of its text without white space.
func (c *cursor) compact() (json.RawMessage, error) {
	raw, err := c.cut()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
