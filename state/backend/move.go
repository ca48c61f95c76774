package backend

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// SaveMove implements [Stack]. Both contents are computed before either file is written.
func (s *fileStack) SaveMove(ctx context.Context, snapshot *state.Snapshot, dest Stack, destState *state.Snapshot) error {
	to, ok := dest.(*fileStack)
	if !ok || to.storage != s.storage {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.ref, dest.Ref())
	}
	if to.ref == s.ref {
		return fmt.Errorf("nothing was moved: source and destination are the same stack, %s", s.ref)
	}
	changes := [2]change{{stack: to, state: destState}, {stack: s, state: snapshot}}
	for i, c := range changes {
		err := c.stack.verify(c.state)
		if err == nil {
			changes[i].after, err = c.stack.encode(ctx, c.state)
		}
		if err != nil {
			return nothingDone(moving, err)
		}
	}
	return changeBoth(ctx, moving, changes)
}

// change is the change of the file of one of two stacks.
type change struct {
	stack *fileStack
	state *state.Snapshot // the state to write, or the one that it was made from; nil if there is no stack yet
	after []byte          // nil if the file is removed
}

// changeBoth carries out an operation on two stacks, if both are locked and unchanged since their states were loaded.
func changeBoth(ctx context.Context, operation string, changes [2]change) error {
	p := &intent{}
	var before, after [2][]byte
	for i, c := range changes {
		l, err := c.stack.claim()
		if err != nil {
			return nothingDone(operation, err)
		}
		defer c.stack.hold.end()
		if err := l.Confirm(ctx); err != nil {
			return nothingDone(operation, err)
		}
		if before[i], err = c.stack.unchanged(ctx, c.state); err != nil {
			return nothingDone(operation, err)
		}
		p.stacks[i], after[i] = c.stack.stackFiles, c.after
	}
	return p.run(ctx, operation, before, after)
}
