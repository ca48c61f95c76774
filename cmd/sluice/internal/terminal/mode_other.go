//go:build aix || linux || solaris || illumos

package terminal

import "golang.org/x/sys/unix"

const (
	readMode  = unix.TCGETS
	writeMode = unix.TCSETS
)
