package stateedit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state"
)

// mostChoices is the maximal number of resources in one list.
const mostChoices = 40

// Choose asks the user to choose one of the resources. An answer is a number in the list, or a part of a URN, which
// shortens the list.
func Choose(ctx context.Context, t *terminal.Terminal, question string, resources []*state.Resource) (*state.Resource, error) {
	if len(resources) == 0 {
		return nil, fmt.Errorf("the state has no resources")
	}
	shown := resources
	for {
		fmt.Fprintln(t.Out, question)
		for i, r := range shown[:min(mostChoices, len(shown))] {
			fmt.Fprintf(t.Out, "  %d  %s\n", i+1, choiceText(r, shown))
		}
		if len(shown) > mostChoices {
			fmt.Fprintf(t.Out, "  and %d more\n", len(shown)-mostChoices)
		}
		answer, err := t.Ask(ctx, "Write a number, or a part of the URN: ")
		if err != nil {
			return nil, err
		}
		if answer == "" {
			return nil, fmt.Errorf("no resource was chosen; the state is unchanged")
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= min(mostChoices, len(shown)) {
			return shown[n-1], nil
		}
		matching := containing(resources, answer)
		switch len(matching) {
		case 0:
			fmt.Fprintf(t.Out, "No resource has %q in its URN.\n", answer)
			shown = resources
		case 1:
			return matching[0], nil
		default:
			shown = matching
		}
	}
}

func containing(resources []*state.Resource, part string) []*state.Resource {
	var out []*state.Resource
	for _, r := range resources {
		if strings.Contains(strings.ToLower(string(r.URN)), strings.ToLower(part)) {
			out = append(out, r)
		}
	}
	return out
}

// choiceText returns the URN, with the difference between this copy and the others in the list.
func choiceText(r *state.Resource, among []*state.Resource) string {
	text := format.Printable(string(r.URN))
	for _, other := range among {
		if other != r && other.URN == r.URN {
			return text + " (" + state.DescribeCopy(r) + ")"
		}
	}
	return text
}

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
