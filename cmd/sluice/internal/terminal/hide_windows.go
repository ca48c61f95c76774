package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// hide turns off the echo of a terminal in line mode. Ctrl-C still sends a signal. show restores the mode.
func hide(f *os.File) (show func(), err error) {
	console := windows.Handle(f.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	mode := before&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_PROCESSED_INPUT | windows.ENABLE_LINE_INPUT
	if err := windows.SetConsoleMode(console, mode); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil // if this fails, nothing else can be done
}
