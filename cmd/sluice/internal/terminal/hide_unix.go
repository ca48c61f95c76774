//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// hide turns off the echo of a terminal in line mode. Ctrl-C still sends a signal. show restores the mode.
func hide(f *os.File) (show func(), err error) {
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	mode, err := unix.IoctlGetTermios(fd, readMode)
	if err != nil {
		return nil, err
	}
	mode.Lflag = mode.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
	mode.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, writeMode, mode); err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(fd, before) }, nil // if this fails, nothing else can be done
}
