package operate

import (
	"context"
	"strconv"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// Open checks the flags of an operation and opens its stack, with the settings of its project.
func Open(ctx context.Context, open *session.Opener, f *flags.Operation) (*session.Stack, error) {
	if _, err := session.FindProject(); err != nil {
		return nil, err // advice about flags is of no use without a project
	}
	open, err := prepared(open, f)
	if err != nil {
		return nil, err
	}
	return open.Stack(ctx, f.Stack.Name, f.Stack.ConfigFile)
}

// OpenAny is [Open] for operations that may do without the program. Unless the operation runs it, the stack may belong to a
// project in another place, and has the settings of its last operation.
func OpenAny(ctx context.Context, open *session.Opener, f *flags.Operation) (*session.Stack, error) {
	if f.Program.Run {
		return Open(ctx, open, f)
	}
	if f.Stack.Name == "" {
		if err := open.CheckProject(); err != nil {
			return nil, err
		}
	}
	open, err := prepared(open, f)
	if err != nil {
		return nil, err
	}
	s, err := open.AnyStack(ctx, f.Stack.Name, f.Stack.ConfigFile)
	if err != nil {
		return nil, err
	}
	return s, s.RecallSettings(ctx)
}

// prepared checks the flags of an operation and returns an opener for it.
func prepared(open *session.Opener, f *flags.Operation) (*session.Opener, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if _, err := analyzeLimit(open.Terminal); err != nil {
		return nil, err
	}
	if err := f.Incremental.Check(); err != nil {
		return nil, err
	}
	if err := f.Confirmation.Check(open.Terminal.Interactive() && !f.Display.JSON()); err != nil {
		return nil, err
	}
	checkpoints, err := f.Run.Checkpoints()
	if err != nil {
		return nil, err
	}
	return open.WithCheckpoints(checkpoints), nil
}

// analyzeLimit returns how many policy packs may run at the same time; 0 means all.
func analyzeLimit(t *terminal.Terminal) (int, error) {
	const name = "PULUMI_PARALLEL_ANALYZE"
	text := t.Env(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, exit.Usagef("the environment variable %s is %q: write how many policy packs may run at the same time, or 0 for all", name, text)
	}
	return n, nil
}
