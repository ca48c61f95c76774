package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStateCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Edit the recorded state of a stack",
		Long: "Edit the recorded state of a stack: what sluice knows of it, never what is in the cloud.\n\n" +
			"A resource is named by its URN, or by its name if no other resource has it. `sluice stack --show-urns` lists\n" +
			"the URNs. Put them in single quotes: the shell would replace what follows a $.\n\n" +
			"The previous state stays beside the stack file, in a file that ends in .bak. An edit that is refused changes\n" +
			"nothing.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newStateDeleteCommand(c), newStateProtectCommand(c), newStateUnprotectCommand(c), newStateTaintCommand(c),
		newStateUntaintCommand(c), newStateRenameCommand(c), newStateMoveCommand(c), newStateRepairCommand(c),
		newStateEditCommand(c), newStateUpgradeCommand(c),
	)
	return cmd
}

// stateFlags are the flags that most state commands have.
type stateFlags struct {
	stack       string
	yes, asJSON bool
}

func (f *stateFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.stack, "stack", "s", "", "the stack; the selected one if not given")
	f.defineAnswers(cmd)
}

func (f *stateFlags) defineAnswers(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVarP(&f.asJSON, "json", "j", false, "write what has changed as JSON, and ask nothing")
}

// stateEdit is one edit of the state of one stack while it goes on. The stack is locked.
type stateEdit struct {
	*session
	*holder
	flags    *stateFlags
	snapshot *sluice.Snapshot // without resources for a stack that was never deployed
}

// editState locks a stack and runs edit on its state. Secrets stay sealed: no passphrase is needed. anyState also opens
// states that fail the integrity check.
func (c *cli) editState(ctx context.Context, f *stateFlags, anyState bool, edit func(context.Context, *stateEdit) error) error {
	s, err := c.openState(ctx, f.stack)
	if err != nil {
		return err
	}
	return c.holding(ctx, []sluice.Stack{s.stack}, func(h *holder) error {
		snapshot, err := s.stack.LoadSealed(ctx)
		if err == nil && !anyState {
			err = s.stack.Check(ctx, snapshot)
		}
		if err != nil {
			return err
		}
		if snapshot == nil {
			snapshot = &sluice.Snapshot{}
		}
		return edit(ctx, &stateEdit{session: s, holder: h, flags: f, snapshot: snapshot})
	})
}

// save asks whether to make a change and writes it. plan is what it will do, as shown to who is asked.
func (e *stateEdit) save(ctx context.Context, now *sluice.Snapshot, plan string) error {
	if err := e.cli.confirmEdit(e.flags, plan); err != nil {
		return err
	}
	return e.busy(func() error { return e.stack.Save(ctx, now) })
}

// confirmEdit asks somebody at a terminal. Where nobody sits there is nobody to ask, as with Pulumi: scripts say nothing.
func (c *cli) confirmEdit(f *stateFlags, plan string) error {
	if f.yes || f.asJSON || !c.Interactive() {
		return nil
	}
	return c.confirmPlan(plan)
}

// confirmPlan shows what is going to be done and asks whether to do it.
func (c *cli) confirmPlan(plan string) error {
	fmt.Fprint(c.Out, plan)
	for {
		answer, err := c.Ask("Do you want to change the state like this? [yes/no] (no): ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "yes", "y":
			return nil
		case "", "no", "n":
			return fmt.Errorf("confirmation declined; the state is unchanged")
		}
		fmt.Fprintln(c.Out, "Please answer yes or no.")
	}
}

// stateReport is what a state command has done, for scripts.
type stateReport struct {
	Stack    string          `json:"stack"`
	Dest     string          `json:"dest,omitempty"`
	Changed  []changedInJSON `json:"changed"`
	Warnings []string        `json:"warnings,omitempty"`
}

// changedInJSON is one resource that an edit has changed.
type changedInJSON struct {
	URN    string `json:"urn"`
	ID     string `json:"id,omitempty"`
	NewURN string `json:"newUrn,omitempty"`
}

// report says what was done: lines for people, the resources for scripts.
func (e *stateEdit) report(title string, changed []*sluice.Resource) error {
	if e.flags.asJSON {
		r := stateReport{Stack: e.name(), Changed: []changedInJSON{}}
		for _, c := range changed {
			r.Changed = append(r.Changed, changedInJSON{URN: string(c.URN), ID: c.ID})
		}
		return format.JSON(e.cli.Out, r)
	}
	_, err := fmt.Fprint(e.cli.Out, listed(title, changed))
	return err
}

// listed is a title and a line for each resource.
func listed(title string, resources []*sluice.Resource) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, r := range resources {
		b.WriteString("  " + format.Printable(string(r.URN)))
		if r.Delete {
			b.WriteString(" (" + sluice.DescribeCopy(r) + ")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// targets are the live resources that the arguments name, all of them, or the one that somebody chooses.
func (e *stateEdit) targets(args []string, all bool, verb string) ([]*sluice.Resource, error) {
	live := sluice.LiveResources(e.snapshot)
	if all {
		return live, nil
	}
	if len(args) == 0 {
		r, err := e.cli.chooseResource("Which resource do you want to "+verb+"?", live)
		return []*sluice.Resource{r}, err
	}
	var found []*sluice.Resource
	var faults []string
	for _, text := range args {
		r, err := sluice.FindLiveResource(e.snapshot, text)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case !slices.Contains(found, r):
			found = append(found, r)
		}
	}
	if faults != nil {
		return nil, fmt.Errorf("%s", strings.Join(faults, "\n"))
	}
	return found, nil
}

// checkTargets refuses arguments that do not fit together before anything is opened.
func (c *cli) checkTargets(args []string, all bool) error {
	switch {
	case all && len(args) > 0:
		return exit.Usagef("--all means every resource; do not name any beside it")
	case !all && len(args) == 0 && !c.Interactive():
		return exit.Usagef("name the resources by their URNs; without a terminal nobody can be asked")
	}
	return nil
}
