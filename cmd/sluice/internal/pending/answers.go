package pending

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Answers define how interrupted creates are resolved.
type Answers struct {
	ByURN  map[string]stages.CreateResolution
	Others stages.CreateResolution // for those that ByURN does not name
}

// Resolve returns how to resolve an operation.
func (a Answers) Resolve(op state.Pending) stages.CreateResolution {
	if answer, ok := a.ByURN[string(op.Resource.URN)]; ok {
		return answer
	}
	return a.Others
}

// Named returns the URN of the interrupted create that a text names (see [urn.Called]), or the text itself if it names none. The error is an
// *[state.AmbiguousNameError].
func Named(ops []state.Pending, text string) (string, error) {
	var creates []urn.URN
	for _, op := range ops {
		if op.IsInterruptedCreate() && !slices.Contains(creates, op.Resource.URN) {
			creates = append(creates, op.Resource.URN)
		}
	}
	switch called := urn.Called(creates, text); len(called) {
	case 0:
		return text, nil
	case 1:
		return string(called[0]), nil
	default:
		return "", &state.AmbiguousNameError{Name: text, URNs: called}
	}
}

// imported returns the IDs that flags give for interrupted creates, by URN, and the resources in the given order. A name of no interrupted
// create stays unchanged.
func imported(f *flags.Creates, ops []state.Pending) (ids map[string]string, names []string, err error) {
	given, texts := f.Imported()
	ids = map[string]string{}
	for _, text := range texts {
		name, err := Named(ops, text)
		if err != nil {
			return nil, nil, exit.Usagef("--import-pending-creates %s: %w", text, err)
		}
		ids[name] = given[text]
		names = append(names, name)
	}
	return ids, names, nil
}

// HasCreate reports whether the operations include an interrupted create of a resource.
func HasCreate(ops []state.Pending, name string) bool {
	for _, op := range ops {
		if op.IsInterruptedCreate() && string(op.Resource.URN) == name {
			return true
		}
	}
	return false
}

// Ask asks the user how an interrupted create ended.
func Ask(ctx context.Context, t *terminal.Terminal, name string) (stages.CreateResolution, error) {
	for {
		answer, err := t.Ask(ctx, fmt.Sprintf("The create of %s was interrupted. It is not known whether the object exists.\n"+
			"  clear   it does not exist: forget the create\n"+
			"  import  it exists: read it by its ID and record it\n"+
			"  skip    leave it as it is\n"+
			"What is to be done? [clear/import/skip] (skip): ", name))
		if err != nil {
			return stages.CreateResolution{}, err
		}
		switch strings.ToLower(answer) {
		case "clear":
			return stages.CreateResolution{Clear: true}, nil
		case "", "skip":
			return stages.CreateResolution{}, nil
		case "import":
			id, err := t.Ask(ctx, "ID: ")
			if err != nil {
				return stages.CreateResolution{}, err
			}
			if id != "" {
				return stages.CreateResolution{ID: id}, nil
			}
			fmt.Fprintln(t.Out, "The import needs the ID of the object.")
			continue
		}
		fmt.Fprintln(t.Out, "Please answer clear, import or skip.")
	}
}
