package plugin

import (
	"os"

	"golang.org/x/sys/unix"
)

// bytesIn returns the number of bytes in a pipe, if the system reports it. A closed pipe has none.
func bytesIn(pipe *os.File) (n int, known bool) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0, true
	}
	var failed error
	err = conn.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	if err != nil {
		return 0, true
	}
	return n, failed == nil
}
