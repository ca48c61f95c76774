package peer

import (
	"bufio"
	"bytes"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is a user other than that of the tests.
const nobody = 65534

// asNobody returns a command that runs this binary as another user.
func asNobody(t *testing.T, what string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can start a process of another user")
	}
	cmd := exec.Command("/proc/self/exe") // its path may lead through folders that nobody else may enter
	cmd.Env = []string{task + "=" + what}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

func TestStrangersMayNotCall(t *testing.T) {
	for _, at := range []string{"127.0.0.1", "[::ffff:127.0.0.1]"} {
		address, errs := server(t, "tcp", "127.0.0.1:0")
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		out, err := asNobody(t, "call passthrough:///"+at+":"+port).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, "Unavailable", string(out))
		require.NotEmpty(t, errs.all())
		var stranger *StrangerError
		require.ErrorAs(t, errs.all()[0], &stranger)
		require.Equal(t, nobody, stranger.UID)
	}
}

func TestStrangersWhoListenAreNotCalled(t *testing.T) {
	cmd := asNobody(t, "listen")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(stdout)
	port, err := lines.ReadString('\n')
	require.NoError(t, err)
	var stranger *StrangerError
	require.ErrorAs(t, client(t, "127.0.0.1:"+strings.TrimSpace(port)), &stranger)
	require.Equal(t, StrangerError{Address: "127.0.0.1:" + strings.TrimSpace(port), UID: nobody}, *stranger)
	got, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "got \"\"\n", got, "nothing is sent")
	require.NoError(t, cmd.Wait())
}

// pair returns both ends of a connection.
func pair(t *testing.T) (dialed, accepted *net.TCPConn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	d, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	a, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	return d.(*net.TCPConn), a.(*net.TCPConn)
}

// Data that a caller sent before closing its end is not read: the tables name root as the owner of a closed socket.
func TestWhoHasClosedItsEndIsRefused(t *testing.T) {
	for name, closeEnd := range map[string]func(*net.TCPConn) error{
		"closed":      (*net.TCPConn).Close,
		"half closed": (*net.TCPConn).CloseWrite,
		"reset":       func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			dialed, accepted := pair(t)
			require.NoError(t, checkCaller(accepted))
			_, err := dialed.Write([]byte("a request"))
			require.NoError(t, err)
			require.NoError(t, closeEnd(dialed))
			require.ErrorIs(t, checkCaller(accepted), errGone)
		})
	}
}

// No socket listens any more at the address of the connection, so the process that accepted it cannot be identified.
func TestAConnectionWhoseListenerIsGoneIsNotUsed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer d.Close()
	a, err := l.Accept()
	require.NoError(t, err)
	defer a.Close()
	require.NoError(t, checkListener(d.(*net.TCPConn)))
	require.NoError(t, l.Close())
	var stranger *StrangerError
	require.ErrorAs(t, checkListener(d.(*net.TCPConn)), &stranger)
	require.Equal(t, -1, stranger.UID)
}

// A flood of connections can use up the file descriptors of the engine. It then accepts no caller that it cannot check.
func TestWithoutFileDescriptorsNobodyIsAccepted(t *testing.T) {
	_, accepted := pair(t)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	none := limit
	none.Cur = 0
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none))
	err := checkCaller(accepted)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	require.ErrorIs(t, err, syscall.EMFILE)
	require.NotErrorAs(t, err, new(*UntoldError))
	require.NoError(t, checkCaller(accepted))
}

func TestAddressesAreWrittenAsInTheTables(t *testing.T) {
	dialed, accepted := pair(t)
	ours, theirs := ends(dialed)
	table, err := os.ReadFile(table4)
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(table, []byte(connected(ours, theirs)[table4][0])))
	require.Equal(t, 1, bytes.Count(table, []byte(connected(theirs, ours)[table4][0])))
	require.NotNil(t, accepted)
	require.Nil(t, connected(netip.MustParseAddrPort("[::1]:1"), netip.MustParseAddrPort("[::1]:2"))[table4])
}

func TestOnlySocketsThatAreOpenHaveOwners(t *testing.T) {
	for line, want := range map[string]int{
		"   0: 0100007F:A455 0100007F:E17A 01 00000000:00000000 00:00000000 00000000  1000        0 30547 2 0000000000000000 20 4 30 10 -1": 1000,
		"   1: 0100007F:A455 0100007F:E17A 06 00000000:00000000 03:00000F5A 00000000     0        0 0 3 0000000000000000":                   -1,
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode":                                  -1,
		"": -1,
	} {
		uid, ok := ownerIn(line)
		require.Equal(t, want >= 0, ok, line)
		if ok {
			require.Equal(t, want, uid)
		}
	}
}
