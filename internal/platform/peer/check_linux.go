package peer

import (
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// attempts is how often the tables are read: reading may miss a line while others are added and removed.
const attempts = 3

// checkCaller checks the user at the other end of an accepted connection.
func checkCaller(c *net.TCPConn) error {
	ours, theirs := ends(c)
	return check(c, socket{local: theirs, remote: ours})
}

// checkListener checks the user that listens at the other end of a connection to a server. It looks for listening sockets,
// because the other end itself has no owner until the server accepts it.
func checkListener(c *net.TCPConn) error {
	if _, theirs := ends(c); theirs.Addr().IsLoopback() {
		return check(c, socket{local: theirs})
	}
	return nil
}

func ends(c *net.TCPConn) (ours, theirs netip.AddrPort) {
	return address(c.LocalAddr()), address(c.RemoteAddr())
}

func address(a net.Addr) netip.AddrPort {
	if tcp, is := a.(*net.TCPAddr); is {
		ap := tcp.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}

// check finds the owners of the sockets at the other end. The connection must still stand afterwards;
// otherwise another process could have made one with the same addresses in the meantime, and be the one that was found.
func check(c *net.TCPConn, wanted socket) error {
	_, theirs := ends(c)
	for range attempts {
		owners, err := find(wanted)
		switch {
		case err != nil:
			return err
		case !stands(c):
			return errGone
		case len(owners) > 0:
			return judge(theirs, owners)
		}
	}
	return &StrangerError{Address: theirs.String(), UID: -1}
}

func judge(theirs netip.AddrPort, owners []int) error {
	stranger := slices.IndexFunc(owners, func(uid int) bool { return !isTrusted(uid) })
	if stranger < 0 {
		return nil
	}
	return &StrangerError{Address: theirs.String(), UID: owners[stranger]}
}

// stands reports whether neither end has closed a connection.
func stands(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var info *unix.TCPInfo
	var failed error
	err = raw.Control(func(fd uintptr) { info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	return err == nil && failed == nil && info.State == unix.BPF_TCP_ESTABLISHED
}
