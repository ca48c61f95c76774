package peer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The tables of the TCP sockets in the network namespace of this process. The second one also has the IPv4 connections of
// sockets for both versions of IP. It is missing if IPv6 is turned off.
const (
	table4 = "/proc/net/tcp"
	table6 = "/proc/net/tcp6"
)

// The states of sockets, in the notation of the tables.
const (
	isConnected = " 01 "
	isListening = " 0A "
)

// socket is a wanted socket at the other end: one that is connected to remote or, without remote, one that listens.
type socket struct{ local, remote netip.AddrPort }

func (s socket) listens() bool { return !s.remote.IsValid() }

// state returns the state of the socket as a number of the kernel.
func (s socket) state() uint8 {
	if s.listens() {
		return unix.BPF_TCP_LISTEN
	}
	return unix.BPF_TCP_ESTABLISHED
}

// lines returns the pattern of the socket's lines in the tables.
func (s socket) lines() pattern {
	if s.listens() {
		return listening(s.local)
	}
	return connected(s.local, s.remote)
}

// pattern has the fields of a socket's line, by table: its address, that of its other end, and its state.
type pattern map[string][]string

// connected matches a socket at one address that is connected to the other.
func connected(local, remote netip.AddrPort) pattern {
	p := pattern{table6: {" " + written6(local) + " " + written6(remote) + isConnected}}
	if local.Addr().Is4() {
		p[table4] = []string{" " + written4(local) + " " + written4(remote) + isConnected}
	}
	return p
}

// listening matches the sockets that accept connections to an address.
func listening(at netip.AddrPort) pattern {
	const nowhere = ":0000" + isListening
	all := netip.AddrPortFrom(netip.IPv6Unspecified(), at.Port())
	zeros := strings.Repeat("0", 8)
	p := pattern{}
	for _, a := range []netip.AddrPort{at, all} {
		p[table6] = append(p[table6], " "+written6(a)+" "+strings.Repeat(zeros, 4)+nowhere)
	}
	if at.Addr().Is4() {
		all = netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())
		for _, a := range []netip.AddrPort{at, all} {
			p[table4] = append(p[table4], " "+written4(a)+" "+zeros+nowhere)
		}
		p[table6] = append(p[table6], " "+written6(all)+" "+strings.Repeat(zeros, 4)+nowhere)
	}
	return p
}

// written4 and written6 return an address in the notation of the tables: numbers of 32 bits in the byte order of the machine.
func written4(a netip.AddrPort) string {
	ip := a.Addr().As4()
	return written(ip[:], a.Port())
}

func written6(a netip.AddrPort) string {
	ip := a.Addr().As16()
	return written(ip[:], a.Port())
}

func written(ip []byte, port uint16) string {
	var b strings.Builder
	for word := range slices.Chunk(ip, 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	fmt.Fprintf(&b, ":%04X", port)
	return b.String()
}

// errEmpty reports that the tables have no sockets, not even the existing one that was looked for.
var errEmpty = errors.New(table4 + " is empty")

// find returns the owners of the wanted sockets. It asks the kernel, and reads the tables if that knows none.
//
// The error is an *[UntoldError] only if the system shows no sockets. A caller cannot cause that, unlike, for example, a lack
// of file descriptors.
func find(wanted socket) ([]int, error) {
	if uid, known := diagnose(wanted); known {
		return []int{uid}, nil
	}
	return findInTables(wanted.lines())
}

// findInTables returns the owners of the sockets whose lines match. If the first table has some, it does not read the second one: a socket that
// listens only for IPv4 gets the connections to an IPv4 address, and one that listens for IPv6 at the same port may belong to another user. Its error
// is that of find.
func findInTables(wanted pattern) ([]int, error) {
	count := 0
	for _, table := range []string{table4, table6} {
		owners, n, err := read(table, wanted[table])
		switch {
		case table == table6 && errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil, &UntoldError{err}
		case err != nil:
			return nil, err
		case len(owners) > 0:
			return owners, nil
		}
		count += n
	}
	if count == 0 {
		return nil, &UntoldError{errEmpty}
	}
	return nil, nil
}

// read returns the owners of the matching sockets in one table, and the number of all sockets in it.
func read(table string, wanted []string) (owners []int, count int, err error) {
	file, err := os.Open(table)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }() // it is only read
	lines := bufio.NewScanner(file)
	for heading := true; lines.Scan(); heading = false {
		line := lines.Text()
		if heading {
			continue
		}
		count++
		if hasOne(line, wanted) {
			if uid, ok := ownerIn(line); ok {
				owners = append(owners, uid)
			}
		}
	}
	return owners, count, lines.Err()
}

func hasOne(line string, texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
}

// ownerIn returns the owner of the socket of a line:
//
//	sl local remote state queues timer retransmissions uid timeout inode …
//
// A socket whose process has closed it has no inode, and its line names root as the owner.
func ownerIn(line string) (uid int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[9] == "0" {
		return 0, false
	}
	uid, err := strconv.Atoi(fields[7])
	return uid, err == nil
}
