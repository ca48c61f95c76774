package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/live"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// confirm asks whether to continue. plan is nil when there was no preview.
func confirm(ctx context.Context, o *operation, plan *sluice.Result) error {
	if o.interrupts.Stopped() {
		return errCancelled()
	}
	question := fmt.Sprintf("Do you want to perform this %s?", o.Kind.Noun)
	if plan == nil {
		question = fmt.Sprintf("Do you want to perform this %s without a preview?", o.Kind.Noun)
	}
	ask := askLine
	if o.screens() {
		ask = askOnScreen
	}
	confirmed, err := ask(ctx, o, question, plan)
	if err == nil && !confirmed {
		err = fmt.Errorf("confirmation declined, not proceeding with the %s", o.Kind.Noun)
	}
	return err
}

// askLine asks for a line of text.
func askLine(ctx context.Context, o *operation, question string, plan *sluice.Result) (bool, error) {
	defer o.foreground.ask()()
	var details func() error
	if plan != nil {
		details = func() error { return showDetails(o, plan) }
	}
	return terminal.Confirm(ctx, o.Terminal, question, details)
}

// askOnScreen asks with a list of answers.
func askOnScreen(ctx context.Context, o *operation, question string, plan *sluice.Result) (bool, error) {
	defer o.foreground.ask()()
	return choose(ctx, o, question, plan)
}

func showDetails(o *operation, plan *sluice.Result) error {
	options := displayOptions(o.Job, true, 0, nil)
	options.Width = o.Terminal.Width // only a terminal gets here
	return display.WriteDetails(o.Terminal.Styled(), options, plan.Steps())
}

// The answers to the question whether to perform an operation.
const (
	answerYes     = "yes"
	answerNo      = "no"
	answerDetails = "details"
	answerBrowse  = "browse the changes"
	answerSave    = "save the plan"
)

// choose asks with a list of answers until the answer is yes or no.
func choose(ctx context.Context, o *operation, question string, plan *sluice.Result) (confirmed bool, err error) {
	answers := []string{answerYes, answerNo}
	if plan != nil {
		answers = append(answers, answerDetails, answerBrowse)
	}
	if plan != nil && plan.Plan != nil {
		answers = append(answers, answerSave)
	}
	for {
		at, err := terminal.Choose(ctx, o.Terminal, question, answers, 1)
		if err != nil {
			return false, cancelled(o, err)
		}
		switch answers[at] {
		case answerYes:
			return true, nil
		case answerNo:
			return false, nil
		case answerDetails:
			err = showDetails(o, plan)
		case answerBrowse:
			err = live.Browse(ctx, o.previewed, o.Terminal)
		case answerSave:
			err = savePlan(ctx, o.Job, plan, o.Stack.Ref.Name+".plan.json")
		}
		if err != nil {
			return false, cancelled(o, err)
		}
	}
}

// cancelled returns the error of a question that was not answered.
func cancelled(o *operation, err error) error {
	if !errors.Is(err, terminal.ErrInterrupted) || o.interrupts.Stopped() {
		return err
	}
	fmt.Fprintln(o.Terminal.Err, "^C received; cancelled. Nothing was changed.")
	return errCancelled()
}

func errCancelled() error { return exit.Cancelledf("the operation was cancelled") }
