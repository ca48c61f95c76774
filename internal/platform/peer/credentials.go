package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// StrangerError reports that a connection leads to a process of another user.
type StrangerError struct {
	Address string // of the other end, "127.0.0.1:<port>"
	UID     int    // of the user; -1 if it is unknown
}

func (e *StrangerError) Error() string {
	if e.UID < 0 {
		return e.Address + " belongs to an unknown user"
	}
	name := "an unknown user"
	if u, err := user.LookupId(strconv.Itoa(e.UID)); err == nil {
		name = "the user " + u.Username
	}
	return fmt.Sprintf("%s belongs to %s (uid %d)", e.Address, name, e.UID)
}

// UntoldError reports that this system does not show its connections, so that strangers cannot be recognized.
type UntoldError struct{ Err error }

func (e *UntoldError) Error() string {
	return "the system does not show the owners of connections: " + e.Err.Error()
}
func (e *UntoldError) Unwrap() error { return e.Err }

// errGone reports that a connection was closed before its owner was known.
var errGone = errors.New("the connection was closed at its other end")

// Credentials returns credentials without encryption, for servers and clients. If the connection is on the loopback
// interface, a server checks its caller before it reads, and a client checks the listener before it sends. report is
// called with a *[StrangerError] for each connection that is closed after a check, and with an *[UntoldError] for each
// that cannot be checked and is used all the same; it may be called from many goroutines. nil discards.
func Credentials(report func(error)) credentials.TransportCredentials {
	if report == nil {
		report = func(error) {}
	}
	return transport{insecure.NewCredentials(), report}
}

type transport struct {
	credentials.TransportCredentials
	report func(error)
}

// ServerHandshake refuses callers who are strangers.
func (t transport) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := t.judge(c, checkCaller); err != nil {
		return nil, nil, err
	}
	return t.TransportCredentials.ServerHandshake(c)
}

// ClientHandshake refuses servers that are strangers.
func (t transport) ClientHandshake(ctx context.Context, authority string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if err := t.judge(c, checkListener); err != nil {
		return nil, nil, err
	}
	return t.TransportCredentials.ClientHandshake(ctx, authority, c)
}

// Clone keeps the check.
func (t transport) Clone() credentials.TransportCredentials {
	return transport{t.TransportCredentials.Clone(), t.report}
}

// judge applies a check to TCP connections. Other connections use a socket in the file system, which has permissions.
func (t transport) judge(c net.Conn, check func(*net.TCPConn) error) error {
	tcp, is := c.(*net.TCPConn)
	if !is {
		return nil
	}
	err := check(tcp)
	switch {
	case errors.As(err, new(*UntoldError)):
		t.report(err)
		return nil
	case errors.As(err, new(*StrangerError)):
		t.report(err)
	}
	return err
}

// isTrusted reports whether a user can act as this process's user in any case.
func isTrusted(uid int) bool { return uid == 0 || uid == os.Geteuid() }
