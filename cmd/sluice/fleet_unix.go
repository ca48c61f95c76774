//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// become replaces this process by another program, so that signals and the exit status are its own. name is its argv[0].
func become(_ context.Context, _ *terminal.Terminal, path, name string, args []string) error {
	err := syscall.Exec(path, append([]string{name}, args...), os.Environ())
	return fmt.Errorf("start %s: %w", path, err)
}
