package peer

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// A request for one socket and the answer, in the layout of Linux's inet_diag.h. Ports and addresses are in network byte order; other numbers
// are in the byte order of the machine.
type (
	diagnosisOf struct {
		SourcePort, DestinationPort [2]byte
		Source, Destination         [16]byte
		Interface                   uint32
		Cookie                      [2]uint32
	}
	diagnosisRequest struct {
		Family, Protocol, Extensions, _ uint8
		States                          uint32
		Of                              diagnosisOf
	}
	diagnosis struct {
		Family, State, Timer, Retransmissions      uint8
		Of                                         diagnosisOf
		Expires, ReceiveQueue, SendQueue, UID, Ino uint32
	}
)

// byFamily is the type of the request and of the answer: SOCK_DIAG_BY_FAMILY.
const byFamily = 20

// diagnose asks the kernel for the owner of a socket. It takes microseconds, while reading a table takes milliseconds on a machine with much
// memory. The kernel finds a listening socket as it would for a new connection. If it finds no open socket, or if the system
// does not answer such requests, known is false; the tables decide then.
func diagnose(s socket) (uid int, known bool) {
	conn, err := netlink.Dial(unix.NETLINK_INET_DIAG, &netlink.Config{MessageBufferSize: 1 << 12})
	if err != nil {
		return 0, false
	}
	defer func() { _ = conn.Close() }() // nothing is written
	var request bytes.Buffer
	if err := binary.Write(&request, binary.NativeEndian, requestFor(s)); err != nil {
		return 0, false
	}
	answers, err := conn.Execute(netlink.Message{Header: netlink.Header{Type: byFamily, Flags: netlink.Request}, Data: request.Bytes()})
	if err != nil || len(answers) != 1 || answers[0].Header.Type != byFamily {
		return 0, false
	}
	var d diagnosis
	if _, err := binary.Decode(answers[0].Data, binary.NativeEndian, &d); err != nil || d.State != s.state() || d.Ino == 0 {
		return 0, false
	}
	return int(d.UID), true
}

func requestFor(s socket) diagnosisRequest {
	r := diagnosisRequest{Family: unix.AF_INET6, Protocol: unix.IPPROTO_TCP, States: 1 << s.state()}
	if s.local.Addr().Is4() {
		r.Family = unix.AF_INET
	}
	r.Of = diagnosisOf{Source: raw(s.local.Addr()), Destination: raw(s.remote.Addr()), Cookie: [2]uint32{^uint32(0), ^uint32(0)}} // any cookie
	binary.BigEndian.PutUint16(r.Of.SourcePort[:], s.local.Port())
	binary.BigEndian.PutUint16(r.Of.DestinationPort[:], s.remote.Port())
	return r
}

// raw returns an address as in a request: an IPv4 address is in the first four bytes.
func raw(a netip.Addr) (to [16]byte) {
	copy(to[:], a.AsSlice())
	return to
}
