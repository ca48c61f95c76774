package sluice

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/state"
)

// MoveResources works out a move of entries of source to dest, which is nil for a stack that was never deployed. Both
// must have been loaded with [backend.Stack.Load]. [backend.Stack.SaveMove] carries it out.
func MoveResources(ctx context.Context, source, dest *state.Snapshot, resources []*state.Resource, o state.MoveOptions) (*state.Movement, error) {
	if dest == nil {
		dest = &state.Snapshot{Manifest: state.Manifest{
			Time: time.Now().UTC(), Version: manifestVersion, Magic: state.Magic(manifestVersion),
		}}
	}
	return state.Move(ctx, source, dest, resources, o)
}
