package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// Referenced finds the stack that a reference names, without bringing it up to date. If there is none, that is a [*NotFoundError].
type Referenced func(ctx context.Context, name string) (Stack, error)

func (find Referenced) stack(ctx context.Context, name string) (Stack, error) {
	s, err := find(ctx, name)
	if missing := new(NotFoundError); errors.As(err, &missing) {
		return nil, fmt.Errorf("unknown stack %q: %w", name, missing)
	}
	return s, err
}

// Outputs is what [Backend] promises of StackOutputs.
func (find Referenced) Outputs(ctx context.Context, name string) (property.Map, error) {
	s, err := find.stack(ctx, name)
	if err != nil {
		return property.Map{}, err
	}
	return s.Outputs(ctx, false)
}

// Resources is what [Backend] promises of StackResources.
func (find Referenced) Resources(ctx context.Context, name string) ([]*state.Resource, error) {
	s, err := find.stack(ctx, name)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Load(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(snapshot.Resources), func(r *state.Resource) bool { return r.Delete }), nil
}
