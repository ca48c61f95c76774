// Package cuttest has a connection between clients and a server that tests can cut.
package cuttest

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
)

// Connection forwards connections to a server, and can be cut.
type Connection struct {
	t       testing.TB
	address string
	server  net.Addr
	work    conc.WaitGroup

	mu       sync.Mutex   // guards the rest
	listener net.Listener // nil while connections are refused
	down     bool
	lose     func(request []byte) bool // nil loses nothing
	open     map[net.Conn]bool
}

// Connect makes a connection with a server. It lasts until the end of the test.
func Connect(t testing.TB, server net.Addr) *Connection {
	t.Helper()
	c := &Connection{t: t, address: "127.0.0.1:0", server: server, open: map[net.Conn]bool{}}
	c.listen()
	c.address = c.listener.Addr().String()
	t.Cleanup(func() {
		c.Refuse()
		c.work.Wait()
	})
	return c
}

// Address returns the address for clients.
func (c *Connection) Address() string { return c.address }

// listen accepts connections again. The caller holds mu, or is alone.
func (c *Connection) listen() {
	listener, err := net.Listen("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.listener = listener
	c.work.Go(func() { c.serve(listener) })
}

func (c *Connection) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		c.work.Go(func() { c.pass(client) })
	}
}

// pass connects a client with the server until one of them, or a cut, ends the connection.
func (c *Connection) pass(client net.Conn) {
	server, err := net.Dial(c.server.Network(), c.server.String())
	if err != nil {
		_ = client.Close()
		return
	}
	if c.add(client, server) {
		var both conc.WaitGroup
		l := &losing{connection: c}
		end := func() { _ = client.Close(); _ = server.Close() }
		both.Go(func() {
			defer end()
			_, _ = io.Copy(server, io.TeeReader(client, requests{l})) // returns an error when the connection is cut
		})
		both.Go(func() {
			defer end()
			_, _ = io.Copy(replies{l, client}, server)
		})
		both.Wait()
	}
	c.remove(client, server)
}

// add adds connections to close at a cut. It reports false after a cut.
func (c *Connection) add(ends ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range ends {
		c.open[conn] = true
	}
	return !c.down
}

func (c *Connection) remove(ends ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range ends {
		_ = conn.Close()
		delete(c.open, conn)
	}
}

// Cut closes every connection. Until Mend, new ones are closed as well. The server still executes the requests that it has
// received, but its replies are lost.
func (c *Connection) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut()
}

// cut is Cut for a caller that holds mu.
func (c *Connection) cut() {
	c.down = true
	for conn := range c.open {
		_ = conn.Close()
	}
}

// Refuse is Cut, but new connections are refused.
func (c *Connection) Refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil {
		_ = c.listener.Close()
		c.listener = nil
	}
	c.cut()
}

// Mend undoes Cut and Refuse.
func (c *Connection) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = false
	if c.listener == nil {
		c.listen()
	}
}

// Lose cuts a connection when the server replies to a request for which lose returns true, so that the request is executed and
// its reply lost. A request is the data of one write of a client. nil loses nothing.
func (c *Connection) Lose(lose func(request []byte) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose = lose
}

// losing is a connection whose next reply may be lost.
type losing struct {
	connection *Connection

	mu   sync.Mutex // guards next
	next bool
}

// requests receives the data of a client.
type requests struct{ *losing }

func (l requests) Write(request []byte) (int, error) {
	l.connection.mu.Lock()
	lose := l.connection.lose
	l.connection.mu.Unlock()
	if lose != nil && lose(request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next = true
	}
	return len(request), nil
}

// replies forwards the data of a server.
type replies struct {
	*losing
	client net.Conn
}

func (l replies) Write(reply []byte) (int, error) {
	l.mu.Lock()
	lose := l.next
	l.mu.Unlock()
	if lose {
		return 0, net.ErrClosed
	}
	return l.client.Write(reply)
}
