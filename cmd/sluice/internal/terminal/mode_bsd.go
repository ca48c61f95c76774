//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

const (
	readMode  = unix.TIOCGETA
	writeMode = unix.TIOCSETA
)
