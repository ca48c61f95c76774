//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// become makes this process another program, so that signals and the exit status are its own.
func become(_ *terminal.Terminal, path string, args []string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return fmt.Errorf("start %s: %w", path, err)
}
