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
	if err := s.prepareWrite(ctx); err != nil {
		return err
	}
	var after [2][]byte
	for i, stack := range [2]*fileStack{to, s} {
		side := [2]*state.Snapshot{destState, snapshot}[i]
		err := stack.verify(side)
		if err == nil {
			after[i], err = stack.encode(ctx, side)
		}
		if err != nil {
			return nothingDone(moving, err)
		}
	}
	p := &intent{stacks: [2]stackFiles{to.stackFiles, s.stackFiles}}
	return p.run(ctx, moving, after)
}
