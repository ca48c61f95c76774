package pending

import (
	"context"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
)

// ForUpdate returns the answers in the flags of an update about interrupted creates. It asks no questions.
func ForUpdate(ctx context.Context, s *session.Stack, f *flags.Creates) (Answers, error) {
	answers := Answers{Others: f.Others()}
	if given, _ := f.Imported(); len(given) == 0 {
		return answers, nil
	}
	pending, err := s.Pending(ctx)
	if err != nil {
		return answers, err
	}
	imports, names, err := imported(f, pending)
	if err != nil {
		return answers, err
	}
	answers.ByURN = map[string]stages.CreateResolution{}
	for name, id := range imports {
		answers.ByURN[name] = stages.CreateResolution{ID: id}
	}
	warnOfUnused(s.Session.Terminal, names, func(name string) bool { return !HasCreate(pending, name) })
	return answers, nil
}

// ForRefresh returns the answers in the flags of a refresh about interrupted creates. For the others it asks a user
// at a terminal.
func ForRefresh(ctx context.Context, s *session.Stack, f *flags.Creates, mayAsk bool) (Answers, error) {
	answers := Answers{}
	snapshot, err := s.State.Load(ctx)
	if err != nil || snapshot == nil {
		return answers, err
	}
	imports, names, err := imported(f, snapshot.Pending)
	if err != nil {
		return answers, err
	}
	answers.ByURN = map[string]stages.CreateResolution{}
	var left []string // without a question
	for _, op := range snapshot.Pending {
		if !op.IsInterruptedCreate() {
			continue
		}
		name := string(op.Resource.URN)
		if _, again := answers.ByURN[name]; again {
			continue // interrupted more than once: there is one answer for each resource
		}
		id, given := imports[name]
		delete(imports, name)
		switch {
		case given:
			answers.ByURN[name] = stages.CreateResolution{ID: id}
		case f.Clear:
			answers.ByURN[name] = stages.CreateResolution{Clear: true}
		case f.Skip:
		case !mayAsk:
			answers.ByURN[name] = stages.CreateResolution{}
			left = append(left, format.Printable(name))
		default:
			if answers.ByURN[name], err = Ask(ctx, s.Session.Terminal, name); err != nil {
				return answers, err
			}
		}
	}
	if len(left) > 0 {
		s.Session.Terminal.Warn("it is not known whether these interrupted creates succeeded; they stay pending:\n    %s\n"+
			"Answer with --import-pending-creates or --clear-pending-creates, or at a terminal without --yes.", strings.Join(left, "\n    "))
	}
	warnOfUnused(s.Session.Terminal, names, func(name string) bool { _, unused := imports[name]; return unused })
	return answers, nil
}

// warnOfUnused warns about resources in --import-pending-creates without an interrupted create.
func warnOfUnused(t *terminal.Terminal, names []string, unused func(name string) bool) {
	for _, name := range names {
		if unused(name) {
			t.Warn("%q did not correspond to a pending create", name)
		}
	}
}
