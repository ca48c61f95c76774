package api

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/jsonscan"
)

// answer is the result of a call. Nothing of an answer is used before its check has passed: [decode] is the only way from the bytes of a service to a
// value.
type answer interface {
	// check returns an error for a missing or wrong part. given are the members in the text of the answer.
	check(given members) error
}

// nothing is the answer of a call without a result. A service may send an empty object all the same.
type nothing struct{}

func (*nothing) check(members) error { return nil }

// members are those of an object, by their names in lower case, as package json finds them.
type members map[string]json.RawMessage

// need returns an error if a member is missing.
func (m members) need(names ...string) error {
	for _, name := range names {
		if isNull(m[strings.ToLower(name)]) {
			return fmt.Errorf("it has no %q", name)
		}
	}
	return nil
}

// list returns an error if a list is missing. Servers in Go write null for one without elements.
func (m members) list(name string) error {
	if _, given := m[strings.ToLower(name)]; !given {
		return fmt.Errorf("it has no %q", name)
	}
	return nil
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// text returns an error if a member that must have a text is empty.
func text(name, value string) error {
	if value == "" {
		return fmt.Errorf("its %q is empty", name)
	}
	return nil
}

// decode reads an answer strictly: one JSON object that has each member once, has the required members, and is not an error of the service.
func decode(body []byte, out answer) error {
	body = bytes.TrimSpace(body)
	if _, none := out.(*nothing); none && (len(body) == 0 || string(body) == "null") {
		return nil
	}
	switch {
	case len(body) == 0:
		return errors.New("it is empty")
	case body[0] == '<':
		return errors.New("it is a page for a browser; a proxy or a login page on the way may have sent it")
	case !json.Valid(body):
		return fmt.Errorf("it is not valid JSON, or incomplete: %s", whyInvalid(body))
	case body[0] != '{':
		return errors.New("it is not a JSON object")
	}
	depth := math.MaxInt
	if len(body) > largeAnswer {
		depth = 2 // deeper objects were checked when they were written
	}
	if err := checkNames(body, depth); err != nil {
		return err
	}
	given := members{}
	for name, raw := range objectOf(body) {
		if _, twice := given[strings.ToLower(name)]; twice {
			return fmt.Errorf("it has %q twice", name)
		}
		given[strings.ToLower(name)] = raw
	}
	if said, is := given["message"]; is {
		var message string
		_ = json.Unmarshal(said, &message) // the error does not matter: with a message it is not an answer
		return fmt.Errorf("it is the message of an error: %q", message)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return err
	}
	return out.check(given)
}

// largeAnswer is the size from which only the outer objects of an answer are searched for duplicate members.
const largeAnswer = 4 << 20

func whyInvalid(body []byte) string {
	var any json.RawMessage
	if err := json.Unmarshal(body, &any); err != nil {
		return err.Error()
	}
	return "" // it is not valid
}

// objectOf returns the members of a valid object. Of those with one name it returns the last.
func objectOf(body []byte) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(body, &all) // the caller has checked that it is a valid object
	return all
}

// checkNames returns an error if an object of valid JSON, down to a depth, has a member twice: readers differ in which one they
// take. It reads the text once.
func checkNames(body []byte, depth int) error { return checkNext(jsonscan.New(body), depth) }

// checkNext is checkNames for the next value.
func checkNext(s *jsonscan.Scanner, depth int) error {
	next := s.Next()
	switch {
	case depth == 0 || next != '{' && next != '[':
		_, err := s.Cut()
		return err
	case next == '[':
		return s.Array(func(int) error { return checkNext(s, depth-1) })
	}
	seen := map[string]bool{}
	return s.Members(func(name string) error {
		if seen[name] {
			return fmt.Errorf("it has %q twice", name)
		}
		seen[name] = true
		return checkNext(s, depth-1)
	})
}

// The bounds of answers: their unpacked size, and its ratio to the size that was sent.
const (
	maxAnswer = 64 << 20
	maxState  = 1 << 30
	maxError  = 1 << 20
	unpacked  = 32 << 20 // of any answer, however well it is packed
	expansion = 256      // of the part above that size
)

// errTooLarge reports that an answer is beyond a bound.
var errTooLarge = errors.New("it is larger than such an answer may be")

// body reads the body of an answer, unpacked, up to a bound.
func body(r *http.Response, limit int64) ([]byte, error) {
	sent := &counted{from: r.Body}
	var from io.Reader = sent
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		if r.ContentLength == 0 || r.StatusCode == http.StatusNoContent {
			return nil, nil
		}
		z, err := gzip.NewReader(sent)
		if err != nil {
			return nil, &formError{err}
		}
		from = z
	default:
		return nil, &formError{fmt.Errorf("it is packed as %q, which was not requested", encoding)}
	}
	var all bytes.Buffer
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		all.Write(part[:n])
		size := int64(all.Len())
		if size > limit || sent.n > limit || size > unpacked+expansion*sent.n {
			return nil, &formError{errTooLarge}
		}
		switch {
		case errors.Is(err, io.EOF):
			return all.Bytes(), nil
		case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, new(flate.CorruptInputError)):
			return nil, &formError{err}
		case err != nil:
			return nil, err
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	from io.Reader
	n    int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// formError reports that an answer has arrived and does not have the right form.
type formError struct{ err error }

func (e *formError) Error() string { return e.err.Error() }
func (e *formError) Unwrap() error { return e.err }
