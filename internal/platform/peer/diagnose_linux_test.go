package peer

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// requireDiagnoses skips a test if the kernel lists no sockets of TCP, as small kernels without that module.
func requireDiagnoses(t *testing.T) {
	t.Helper()
	conn, err := netlink.Dial(unix.NETLINK_INET_DIAG, nil)
	if err == nil {
		defer conn.Close()
		var request bytes.Buffer
		require.NoError(t, binary.Write(&request, binary.NativeEndian, requestFor(socket{})))
		_, err = conn.Execute(netlink.Message{Header: netlink.Header{Type: byFamily, Flags: netlink.Request | netlink.Dump}, Data: request.Bytes()})
	}
	if err != nil {
		t.Skipf("NOT TESTED: the kernel does not tell about sockets: %v", err)
	}
}

func TestTheKernelAnswersAsTheTables(t *testing.T) {
	requireDiagnoses(t)
	for name, at := range map[string]struct{ listen, dial string }{
		"IPv4":                      {"127.0.0.1:0", "127.0.0.1"},
		"IPv4 of all addresses":     {"0.0.0.0:0", "127.0.0.1"},
		"IPv6":                      {"[::1]:0", "::1"},
		"IPv4 at a socket for both": {"[::]:0", "127.0.0.1"},
		"IPv4 within IPv6":          {"127.0.0.1:0", "::ffff:127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if net.ParseIP(at.dial).To4() == nil || at.listen[0] == '[' {
				requireIPv6(t)
			}
			l, err := net.Listen("tcp", at.listen)
			require.NoError(t, err)
			defer l.Close()
			_, port, err := net.SplitHostPort(l.Addr().String())
			require.NoError(t, err)
			d, err := net.Dial("tcp", net.JoinHostPort(at.dial, port))
			require.NoError(t, err)
			defer d.Close()
			a, err := l.Accept()
			require.NoError(t, err)
			defer a.Close()
			dialing, accepting := ends(d.(*net.TCPConn))
			for what, s := range map[string]socket{
				"caller":   {local: dialing, remote: accepting},
				"server":   {local: accepting, remote: dialing},
				"listener": {local: accepting},
			} {
				uid, known := diagnose(s)
				require.True(t, known, what)
				require.Equal(t, os.Getuid(), uid, what)
				owners, err := findInTables(s.lines())
				require.NoError(t, err)
				require.Equal(t, []int{uid}, owners, what)
			}
			require.NoError(t, l.Close())
			_, known := diagnose(socket{local: accepting})
			require.False(t, known, "nobody listens there any more")
			require.NoError(t, d.Close())
			_, known = diagnose(socket{local: dialing, remote: accepting})
			require.False(t, known, "who has closed it is no owner")
		})
	}
}

func BenchmarkOwner(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	s := socket{local: address(l.Addr())}
	b.Run("kernel", func(b *testing.B) {
		for b.Loop() {
			_, _ = diagnose(s)
		}
	})
	b.Run("tables", func(b *testing.B) {
		for b.Loop() {
			_, _ = findInTables(s.lines())
		}
	})
}
