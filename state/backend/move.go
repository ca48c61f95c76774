package backend

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// SaveMove implements [Stack]. Both files are made up before either is written.
func (s *fileStack) SaveMove(ctx context.Context, snapshot *state.Snapshot, dest Stack, destState *state.Snapshot) error {
	to, ok := dest.(*fileStack)
	if !ok || to.backend != s.backend {
		return fmt.Errorf("nothing was moved: the stacks %s and %s are not of the same backend", s.ref, dest.Ref())
	}
	if err := s.backend.prepareWrite(ctx); err != nil {
		return err
	}
	p := &pair{stacks: [2]*fileStack{to, s}}
	var after [2][]byte
	for i, side := range [2]*state.Snapshot{destState, snapshot} {
		stack := p.stacks[i]
		err := stack.verify(side)
		if err == nil {
			after[i], err = stack.encode(ctx, side)
		}
		if err != nil {
			return nothingDone(moving, err)
		}
	}
	return p.run(ctx, moving, after)
}
