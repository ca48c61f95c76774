package peer

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// task is the environment variable that makes this binary another user's process: "call <address>" or "listen".
const task = "PEER_TEST_TASK"

func TestMain(m *testing.M) {
	switch verb, address, _ := strings.Cut(os.Getenv(task), " "); verb {
	case "call":
		os.Stdout.WriteString(call(address).String())
	case "listen":
		listen()
	default:
		os.Exit(m.Run())
	}
}

// call returns the status of a call to the health service.
func call(address string) codes.Code {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	return status.Code(err)
}

// listen prints the port on which it serves, and then the first bytes that it receives, if there are any.
func listen() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "\n")
	c, err := l.Accept()
	if err != nil {
		panic(err)
	}
	b := make([]byte, 100)
	n, _ := c.Read(b)
	os.Stdout.WriteString("got " + strconv.Quote(string(b[:n])) + "\n")
}

// reported has the errors that a server reports.
type reported struct {
	mu   sync.Mutex
	list []error
}

func (r *reported) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, err)
}

func (r *reported) all() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// server serves the health service at an address until the end of the test.
func server(t *testing.T, network, at string) (address string, errs *reported) {
	l, err := net.Listen(network, at)
	require.NoError(t, err)
	errs = &reported{}
	s := grpc.NewServer(grpc.Creds(Credentials(errs.add)))
	healthpb.RegisterHealthServer(s, health.NewServer())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
	return l.Addr().String(), errs
}

// client connects to an address as the engine connects to plugins.
func client(t *testing.T, address string) error {
	stranger := make(chan error, 1)
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(Credentials(func(err error) {
		select {
		case stranger <- err:
		default:
		}
	})))
	require.NoError(t, err)
	defer conn.Close()
	conn.Connect()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for s := conn.GetState(); s != connectivity.Ready && s != connectivity.TransientFailure; s = conn.GetState() {
		require.True(t, conn.WaitForStateChange(ctx, s))
	}
	select {
	case err := <-stranger:
		return err
	default:
		return nil
	}
}

func TestOnesOwnProcessesMayCall(t *testing.T) {
	for name, c := range map[string]struct{ at, dialed string }{
		"IPv4":                      {"127.0.0.1:0", "127.0.0.1"},
		"IPv4 at any address":       {"0.0.0.0:0", "127.0.0.1"},
		"IPv6":                      {"[::1]:0", "[::1]"},
		"IPv4 at a socket for both": {"[::]:0", "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(c.at, "[") {
				requireIPv6(t)
			}
			address, errs := server(t, "tcp", c.at)
			_, port, err := net.SplitHostPort(address)
			require.NoError(t, err)
			require.NoError(t, client(t, c.dialed+":"+port))
			require.Equal(t, codes.OK, call(c.dialed+":"+port))
			require.Empty(t, errs.all())
		})
	}
}

// The socket of a caller for IPv6 is in another table, under a mapped address.
func TestACallerMayHaveASocketForBothVersions(t *testing.T) {
	requireIPv6(t)
	address, errs := server(t, "tcp", "127.0.0.1:0")
	require.Equal(t, codes.OK, call("passthrough:///[::ffff:127.0.0.1]:"+address[strings.LastIndex(address, ":")+1:]))
	require.Empty(t, errs.all())
}

func TestSocketsInTheFileSystemHaveItsPermissions(t *testing.T) {
	path := t.TempDir() + "/socket"
	_, errs := server(t, "unix", path)
	require.Equal(t, codes.OK, call("unix://"+path))
	require.Empty(t, errs.all())
}

func requireIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this system has no IPv6: ", err)
	}
	require.NoError(t, l.Close())
}

func TestErrorsNameTheUser(t *testing.T) {
	require.EqualError(t, &StrangerError{Address: "127.0.0.1:1", UID: 0}, "127.0.0.1:1 belongs to the user root (uid 0)")
	require.EqualError(t, &StrangerError{Address: "127.0.0.1:1", UID: 4294967}, "127.0.0.1:1 belongs to an unknown user (uid 4294967)")
	require.EqualError(t, &StrangerError{Address: "127.0.0.1:1", UID: -1}, "127.0.0.1:1 belongs to an unknown user")
	require.ErrorIs(t, &UntoldError{os.ErrPermission}, os.ErrPermission)
	require.False(t, errors.Is(errGone, os.ErrPermission))
}
