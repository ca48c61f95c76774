package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// become runs another program, and ends with its status. name is its argv[0].
func become(ctx context.Context, t *terminal.Terminal, path, name string, args []string) error {
	c := exec.Command(path, args...)
	c.Args[0] = name
	err := t.Lend(ctx, func(p terminal.Process) error {
		c.Stdin, c.Stdout, c.Stderr = p.In, p.Out, p.Err
		return c.Run()
	})
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return &exit.Error{Status: ended.ExitCode(), Err: err, Quiet: true}
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}
