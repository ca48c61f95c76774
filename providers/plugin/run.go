package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/process"
)

// Exit describes the end of a process that was run with [Run].
type Exit struct {
	Code   int    // -1 when a signal ended it
	Status string // "exit status 7", "signal: killed"
	Output string // the last lines of both streams below a heading, "" when there are none
}

// Run runs a process that serves nothing, such as a program, to its end. Like a plugin it has its own process group, which has ended when Run
// returns. At the end of ctx the group is interrupted, and killed if it does not end; the error is then ctx's cause. If ctx has a span, the process
// gets it as its TRACEPARENT. Other errors report that the process could not be started.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return Exit{}, err
	}
	cmd := exec.CommandContext(ctx, c.Executable, c.Args...)
	cmd.Dir, cmd.Env = c.Directory, traced(ctx, c.Environment)
	cmd.Cancel = func() error { process.InterruptGroup(cmd.Process); return nil }
	cmd.WaitDelay = stopPatience

	var last Tail
	var readers conc.WaitGroup
	read := func(stream int32, isStderr bool) *io.PipeWriter {
		r, w := io.Pipe()
		readers.Go(func() {
			defer func() { _ = r.Close() }() // after a panic below, the rest of the output is dropped
			forward(r, func(p Piece) {
				if c.intercepts(cmd.Process.Pid, p) {
					return
				}
				line := Line{Piece: p, Plugin: c.Name, Stderr: isStderr, Stream: stream}
				last.Add(line)
				if c.Output != nil {
					c.Output(line)
				}
			})
		})
		return w
	}
	stdout, stderr := read(1, false), read(2, true)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	group, err := process.Start(cmd)
	if err == nil {
		err = cmd.Wait()
		group.Kill()
		group.Release()
	}
	_, _ = stdout.Close(), stderr.Close()
	readers.Wait()

	var exit *exec.ExitError
	switch {
	case cmd.ProcessState == nil:
		return Exit{}, fmt.Errorf("start %s: %w", c.Name, err)
	case err != nil && ctx.Err() != nil:
		return Exit{}, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return Exit{}, fmt.Errorf("wait for %s: %w", c.Name, err)
	}
	return Exit{
		Code: cmd.ProcessState.ExitCode(), Status: cmd.ProcessState.String(), Output: last.Text("its last output was:"),
	}, nil
}

// maxOutput is the number of bytes that [Output] keeps of one stream.
const maxOutput = 64 << 20

// Output is [Run] for a process that is run for its output; c.Output is not called. It is an error if a process prints more
// than 64 MiB to its standard output; the rest of the other stream is dropped.
func Output(ctx context.Context, c Command) (stdout, stderr string, exit Exit, err error) {
	var out, errs strings.Builder // each written by one goroutine
	var cut bool
	c.Output = func(l Line) {
		to := &out
		if l.Stderr {
			to = &errs
		}
		if to.Len()+len(l.Text) >= maxOutput {
			if !l.Stderr {
				cut = true
			}
			return
		}
		to.WriteString(l.Text)
		if !l.Cut {
			to.WriteString("\n")
		}
	}
	if exit, err = Run(ctx, c); err == nil && cut {
		err = fmt.Errorf("%s has printed more than %d MiB", c.Name, maxOutput>>20)
	}
	return out.String(), errs.String(), exit, err
}
