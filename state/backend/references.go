package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// Referenced finds the stack that a reference names, without bringing it up to date. The error is a [*NotFoundError] if there is
// none.
type Referenced func(ctx context.Context, name string) (Stack, error)

func (find Referenced) stack(ctx context.Context, name string) (Stack, error) {
	s, err := find(ctx, name)
	if missing := new(NotFoundError); errors.As(err, &missing) {
		return nil, fmt.Errorf("unknown stack %q: %w", name, missing)
	}
	return s, err
}

// Outputs implements StackOutputs of [Backend].
func (find Referenced) Outputs(ctx context.Context, name string) (property.Map, error) {
	s, err := find.stack(ctx, name)
	if err != nil {
		return property.Map{}, err
	}
	outputs, err := s.Readable().Outputs(ctx, false)
	if err != nil {
		return property.Map{}, err
	}
	return explainOutputs(s.Ref(), outputs), nil
}

// explainOutputs adds to each output that cannot be decrypted its name and stack.
func explainOutputs(ref Ref, outputs property.Map) property.Map {
	if !outputs.HasUnavailable() {
		return outputs
	}
	all := outputs.Mutable()
	for name, v := range all {
		all[name] = property.Of(property.NewMap(map[string]property.Value{name: v}).ReplaceUnavailable(func(_ property.Value, why string) property.Value {
			return property.Unavailable(fmt.Sprintf("the output %q of the stack %s cannot be decrypted: %s", name, ref, why))
		})).AsMap().At(name)
	}
	return property.NewMap(all)
}

// Resources implements StackResources of [Backend].
func (find Referenced) Resources(ctx context.Context, name string) ([]*state.Resource, error) {
	s, err := find.stack(ctx, name)
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Readable().Load(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	var live []*state.Resource
	for _, r := range snapshot.Resources {
		if r.Delete {
			continue
		}
		if r.Outputs.HasUnavailable() {
			r = r.Clone()
			r.Outputs = r.Outputs.ReplaceUnavailable(func(_ property.Value, why string) property.Value {
				return property.Unavailable(fmt.Sprintf("an output of %s in the stack %s cannot be decrypted: %s", r.URN, s.Ref(), why))
			})
		}
		live = append(live, r)
	}
	return live, nil
}
