package servicetest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"time"
)

// chance has the nondeterministic inputs of a call: the time, and random bytes. It is new for each call.
type chance struct {
	moment
	before int // Last when the call began
	random *mathrand.ChaCha8
	file   *os.File // records the calls that had an effect; nil for none
}

// moment is the recorded form of a chance.
type moment struct {
	Now  time.Time
	Seed [32]byte
	Last int // the number of the last ID
}

// saved is a recorded call that had an effect.
type saved struct {
	moment
	Method, URL string
	Header      http.Header
	Body        []byte // uncompressed
}

// next draws the chance of the next call.
func (c *chance) next() {
	c.Now = time.Now()
	_, _ = rand.Read(c.Seed[:]) // never fails
	c.random, c.before = mathrand.NewChaCha8(c.Seed), c.Last
}

// id returns an identifier.
func (c *chance) id() string {
	c.Last++
	return fmt.Sprintf("00000000-0000-0000-0000-%012d", c.Last)
}

// bytes draws n bytes.
func (c *chance) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = c.random.Read(b) // never fails
	return b
}

func (c *chance) token() string { return hex.EncodeToString(c.bytes(16)) }

// save records a call that has had its effect.
func (c *chance) save(r *request) error {
	if c.file == nil || r.Method == http.MethodGet {
		return nil
	}
	header := r.Header.Clone()
	header.Del("Content-Encoding")
	text, err := json.Marshal(saved{moment{c.Now, c.Seed, c.before}, r.Method, r.URL.String(), header, r.body})
	if err == nil {
		_, err = c.file.Write(append(text, '\n'))
	}
	return err
}

// Restart starts a server at an address with the data of the server before it, however that has ended. path is the file that records the calls, and
// need not exist. The options must be the same.
func Restart(o Options, address, path string) (*Server, error) {
	s := newServer(o)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, math.MaxInt)
	for lines.Scan() {
		if err := s.repeat(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if s.chance.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.Join(err, s.chance.file.Close())
	}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	s.http.Start()
	return s, nil
}

// repeat executes a recorded call again.
func (s *Server) repeat(line []byte) error {
	var c saved
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	h, err := http.NewRequest(c.Method, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		return err
	}
	h.Header = c.Header
	s.chance.moment, s.chance.random = c.moment, mathrand.NewChaCha8(c.Seed)
	r, err := s.read(h)
	if err == nil {
		_, err = s.route(r)
	}
	return err
}
