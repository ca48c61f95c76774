package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/live"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirmPreviewed asks whether to do what a preview shows. As long as the user chooses other resources, it previews again and asks again. It
// returns the confirmed preview.
func confirmPreviewed(ctx context.Context, o *operation, previewed *sluice.Result) (*sluice.Result, error) {
	for {
		narrowed, err := confirm(ctx, o, previewed)
		if err != nil || narrowed == nil {
			return previewed, err
		}
		if previewed, err = previewAgain(ctx, o, previewed, *narrowed); err != nil {
			return nil, err
		}
	}
}

// previewAgain previews the operation on other resources. If that fails, the former choice and its preview stay.
func previewAgain(ctx context.Context, o *operation, previewed *sluice.Result, narrowed flags.Targeting) (*sluice.Result, error) {
	former, report, planned := o.job.Flags.Targeting, o.previewed, o.planned
	o.job.Flags.Targeting = narrowed
	tellChoice(o, previewed)
	again, err := preview(ctx, o)
	if o.interrupts.Stopped() {
		return nil, errors.Join(err, errCancelled())
	}
	var failed *sluice.FailedError
	if errors.As(err, &failed) && !failed.Canceled {
		o.job.Flags.Targeting, o.previewed, o.planned = former, report, planned
		fmt.Fprintf(o.job.Terminal.Err, "The preview of this choice failed, so the former one stays. Nothing was changed.\n\n")
		return previewed, nil
	}
	return again, err
}

// mostFlags is how many flags are written for what the user has chosen. Nobody types more.
const mostFlags = 8

// tellChoice says which flags make the same choice.
func tellChoice(o *operation, previewed *sluice.Result) {
	s := selectionOf(o, previewed)
	words := o.job.Flags.Targeting.Choosing(s.name)
	if o.isNarrowed() && len(words) <= mostFlags {
		fmt.Fprintf(o.job.Terminal.Out, "The same with flags: %s %s\n", o.job.Terminal.Named(o.job.Kind.Command), strings.Join(words, " "))
	}
	fmt.Fprintln(o.job.Terminal.Out)
}

// confirm asks whether to continue. plan is nil when there was no preview. If the user has chosen other resources, confirm returns these, and the
// operation needs another preview.
func confirm(ctx context.Context, o *operation, plan *sluice.Result) (narrowed *flags.Targeting, err error) {
	if o.interrupts.Stopped() {
		return nil, errCancelled()
	}
	q := &confirmation{question: fmt.Sprintf("Do you want to perform this %s?", o.job.Kind.Noun), operation: o, plan: plan}
	if plan == nil {
		q.question = fmt.Sprintf("Do you want to perform this %s without a preview?", o.job.Kind.Noun)
	}
	defer o.foreground.ask()()
	for answers := q.answers(); ; {
		at, err := q.ask(ctx, answers)
		if err != nil {
			return nil, cancelled(o, err)
		}
		end, err := answers[at].do(ctx)
		if err != nil {
			return nil, cancelled(o, err)
		}
		if end {
			return q.narrowed, q.refused
		}
	}
}

// confirmation is the question whether to perform an operation.
type confirmation struct {
	operation *operation
	question  string
	plan      *sluice.Result // nil if there was no preview
	narrowed  *flags.Targeting
	refused   error
}

// answer is a possible answer to the confirmation.
type answer struct {
	word string // in a line of text; "" if there is no such answer
	text string // in a list
	// do does what the answer says, and reports whether it ends the question.
	do func(context.Context) (end bool, err error)
}

// usual is the index of the answer no.
const usual = 1

// answers returns the possible answers.
func (q *confirmation) answers() []answer {
	o := q.operation
	list := []answer{
		{"yes", "yes", func(context.Context) (bool, error) { return true, nil }},
		{"no", "no", func(context.Context) (bool, error) {
			q.refused = fmt.Errorf("confirmation declined, not proceeding with the %s", o.job.Kind.Noun)
			return true, nil
		}},
	}
	if q.plan == nil {
		return list
	}
	list = append(list,
		answer{"details", "details", func(context.Context) (bool, error) { return false, showDetails(o, q.plan) }},
		answer{"", "browse the changes", func(ctx context.Context) (bool, error) { return false, live.Browse(ctx, o.previewed, o.job.Terminal) }},
	)
	if o.job.Kind.Command != "" && o.job.plan == nil && !o.job.Flags.Display.JSON() {
		list = append(list, q.choices()...)
	}
	if q.plan.Plan != nil {
		list = append(list, answer{"", "save the plan", func(ctx context.Context) (bool, error) {
			return false, savePlan(ctx, o.job, q.plan, o.job.Stack.Ref.Name+".plan.json")
		}})
	}
	return list
}

// choices returns the answers that choose resources. There are none if there is nothing to choose.
func (q *confirmation) choices() (list []answer) {
	o := q.operation
	now := &o.job.Flags.Targeting
	s := selectionOf(o, q.plan)
	narrow := func(t flags.Targeting) (bool, error) {
		q.narrowed = &t
		return true, nil
	}
	if s.changes() > 1 {
		list = append(list, answer{"include", "include only some resources", func(ctx context.Context) (bool, error) {
			marked, err := terminal.ChooseSeveral(ctx, o.job.Terminal, terminal.Several{Question: "Which resources only?", Items: s.items(), Along: s.included})
			if err != nil || len(marked) == 0 {
				return false, err
			}
			return narrow(now.Only(s.urns(s.included(marked))))
		}}, answer{"exclude", "exclude some resources", func(ctx context.Context) (bool, error) {
			marked, err := terminal.ChooseSeveral(ctx, o.job.Terminal, terminal.Several{Question: "Which resources not?", Items: s.items(), Along: s.excluded})
			if err != nil || len(marked) == 0 {
				return false, err
			}
			out := s.excluded(marked)
			rest := s.urns(s.without(out))
			if len(rest) == 0 {
				fmt.Fprintln(o.job.Terminal.Out, "Nothing would be left to do. To do nothing, answer no.")
				return false, nil
			}
			return narrow(now.Without(s.urns(out), rest))
		}})
	}
	if fresh := s.newOnes(); len(fresh) > 0 && len(fresh) < s.changes() {
		list = append(list, answer{"new", fmt.Sprintf("only new resources (%d)", len(fresh)), func(context.Context) (bool, error) {
			return narrow(now.Only(s.urns(s.included(fresh))))
		}})
	}
	if o.isNarrowed() {
		list = append(list, answer{"all", "all resources again", func(context.Context) (bool, error) { return narrow(o.given) }})
	}
	return list
}

// selectionOf returns what can be chosen from a preview.
func selectionOf(o *operation, previewed *sluice.Result) *selection {
	refresh := o.job.Kind.History == Refresh().History
	early := !refresh && !o.job.Flags.Program.Run && o.job.Flags.Program.Refreshes(o.job.Stack.Session.Project.RefreshAlways)
	return newSelection(previewed.Steps(), refresh, early)
}

// ask asks with a list of answers, or for a line of text, and returns the index of the answer.
func (q *confirmation) ask(ctx context.Context, answers []answer) (int, error) {
	var texts, words []string
	var at []int
	for i, a := range answers {
		texts = append(texts, a.text)
		if a.word != "" {
			words, at = append(words, a.word), append(at, i)
		}
	}
	if q.operation.screens() {
		return terminal.Choose(ctx, q.operation.job.Terminal, q.question, texts, usual)
	}
	word, err := terminal.AskWord(ctx, q.operation.job.Terminal, q.question, words, words[usual])
	for i, w := range words {
		if w == word {
			return at[i], err
		}
	}
	return usual, err
}

func showDetails(o *operation, plan *sluice.Result) error {
	options := displayOptions(o.job, true, 0, nil)
	options.Width = o.job.Terminal.Width // only a terminal gets here
	return display.WriteDetails(o.job.Terminal.Styled(), options, plan.Steps())
}

// cancelled returns the error of a question that was not answered.
func cancelled(o *operation, err error) error {
	if !errors.Is(err, terminal.ErrInterrupted) || o.interrupts.Stopped() {
		return err
	}
	fmt.Fprintln(o.job.Terminal.Err, "Cancelled. Nothing was changed.")
	return errCancelled()
}

func errCancelled() error { return exit.Cancelledf("the operation was cancelled") }
