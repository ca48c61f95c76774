package backend

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// Upgrade implements [Backend]. The store is marked first: an interrupted Upgrade is completed by the next one.
func (f *File) Upgrade(ctx context.Context, ask func(stack string) (project string, err error)) ([]Upgraded, error) {
	if err := f.completeUpgrade(ctx); err != nil {
		return nil, err
	}
	old, err := f.refsOf(ctx, true, "")
	if err != nil {
		return nil, err
	}
	all := make([]Upgraded, 0, len(old))
	for _, ref := range old {
		u := Upgraded{Name: ref.Name}
		if u.Project, u.Err = guessProject(ctx, f.files(ref)); u.Err == nil && u.Project == "" && ask != nil {
			if u.Project, err = ask(ref.Name); err != nil {
				return nil, err
			}
		}
		all = append(all, u)
	}
	if _, err := f.store.Write(ctx, layout.Meta(), []byte("version: 1\n"), store.Condition{}); err != nil {
		return nil, err
	}
	f.legacy = false
	for i, u := range all {
		if u.Err != nil || u.Project == "" {
			continue
		}
		to := Ref{Project: u.Project, Name: u.Name}
		if all[i].Err = to.check(false, !f.options.isTrue("PULUMI_DISABLE_VALIDATION")); all[i].Err == nil {
			_, all[i].Err = f.rename(ctx, f.stack(Ref{Name: u.Name}), f.stack(to), u.Project)
		}
	}
	return all, nil
}

// completeUpgrade completes an interrupted upgrade of a stack.
func (f *File) completeUpgrade(ctx context.Context) error {
	if f.legacy {
		return nil
	}
	intents, err := f.intents(ctx)
	for _, p := range intents {
		if s := p.stacks[1]; s.ref.Project == "" {
			f.recovery.ifFree(ctx, s, stackIntents{s}.exist)
		}
	}
	return err
}

// guessProject returns the project in the URNs of a state.
func guessProject(ctx context.Context, s stackFiles) (string, error) {
	b, name, err := s.read(ctx)
	if err != nil {
		return "", err
	}
	c, err := state.DecodeCheckpoint(ctx, b, state.DecodeOptions{Name: name})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if c.Latest != nil {
		for _, r := range c.Latest.Resources {
			return r.URN.Project(), nil
		}
	}
	return "", nil
}
