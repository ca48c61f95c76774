package backend

import (
	"context"

	"github.com/sluice-iac/sluice/state"
)

// change is the change of the file of one of two stacks.
type change struct {
	stack *fileStack
	state *state.Snapshot // the state to write, or the one that it was made from; nil if there is no stack yet
	after []byte          // nil if the file is removed
}

// changeBoth carries out an operation on two stacks, if both are locked and unchanged since their states were loaded.
func changeBoth(ctx context.Context, operation string, changes [2]change) (err error) {
	p := &intent{}
	var before, after [2][]byte
	for i, c := range changes {
		l, err := c.stack.claim()
		if err != nil {
			return nothingDone(operation, err)
		}
		defer c.stack.hold.end(&err)
		if err := l.Confirm(ctx); err != nil {
			return nothingDone(operation, err)
		}
		if before[i], err = c.stack.unchanged(ctx, c.state); err != nil {
			return nothingDone(operation, err)
		}
		p.stacks[i], after[i] = c.stack.files, c.after
	}
	return p.run(ctx, operation, before, after)
}
