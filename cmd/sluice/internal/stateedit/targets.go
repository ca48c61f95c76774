package stateedit

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state"
)

// CheckTargets refuses contradictory arguments before anything is opened.
func CheckTargets(t *terminal.Terminal, args []string, all bool) error {
	switch {
	case all && len(args) > 0:
		return exit.Usagef("--all cannot be used with the names of resources")
	case !all && len(args) == 0 && !t.Interactive():
		return exit.Usagef("missing resources: without a terminal, write their URNs")
	}
	return nil
}

// Targets returns the live resources that the arguments name, all live resources, or the one that the user chooses.
func Targets(ctx context.Context, e *Edit, args []string, all bool, verb string) ([]*state.Resource, error) {
	live := state.Live(e.Snapshot)
	if all {
		return live, nil
	}
	if len(args) == 0 {
		r, err := Choose(ctx, e.Terminal, "Which resource do you want to "+verb+"?", live)
		return []*state.Resource{r}, err
	}
	var found []*state.Resource
	var faults []error
	for _, text := range args {
		r, err := state.FindLive(e.Snapshot, text)
		switch {
		case err != nil:
			faults = append(faults, err)
		case !slices.Contains(found, r):
			found = append(found, r)
		}
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	return found, nil
}
