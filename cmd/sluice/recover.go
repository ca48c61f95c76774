package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// recoverFlags are the flags of recover.
type recoverFlags struct {
	flags.Stack
	json, yes        bool
	assumeNotCreated bool
	adopt            []string
	discard          bool
}

func newRecoverCommand(c *cli) *cobra.Command {
	f := &recoverFlags{}
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Find out what became of operations that were cut off",
		Long: "Find out what became of operations that were cut off: because sluice or the machine died, or a plugin did.\n\n" +
			"What such an operation had completed needs nothing: every command recovers that from the journal, and says so. This\n" +
			"command settles what was under way. Reads are dropped. Updates and deletes are settled by reading the object. For\n" +
			"creates the provider is asked for an object with the name that was made up for it; where it cannot say, you are asked\n" +
			"at a terminal. --adopt and --assume-not-created answer that without one. No object is changed, the program does not\n" +
			"run, and nothing else is touched.\n\n" +
			"If somebody else has changed the state since, the journal is not applied, and everything that it contains is listed.\n" +
			"--discard puts it aside, so that the stack can be used again. The same goes for a rename of the stack or a move of\n" +
			"resources that was cut off between its two files.\n\n" +
			"The status is 1 if something is left that nobody knows.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.recover(cmd.Context(), f) },
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddJSON(p, &f.json, "write what was settled as JSON, and ask nothing")
	flags.AddYes(p, &f.yes, "ask nothing")
	p.BoolVar(&f.assumeNotCreated, "assume-not-created", false, "creates of which nothing is found have made nothing: forget them")
	p.StringArrayVar(&f.adopt, "adopt", nil, "the create of this URN has made the object with this ID, as `URN=ID`; may be repeated")
	p.BoolVar(&f.discard, "discard", false, "put aside what cannot be applied")
	cmd.MarkFlagsMutuallyExclusive("discard", "adopt")
	cmd.MarkFlagsMutuallyExclusive("discard", "assume-not-created")
	return cmd
}

// recover runs the command.
func (c *cli) recover(ctx context.Context, f *recoverFlags) error {
	answers, err := f.answers()
	if err != nil {
		return err
	}
	c.deciding = f.discard
	s, err := c.openState(ctx, f.Name)
	if err != nil {
		return err
	}
	if f.discard {
		return s.discardJournal(ctx, f)
	}
	if err := s.readFile(f.ConfigFile); err != nil {
		return err
	}
	lock, err := s.stack.Lock(ctx, sluice.StackLockOptions{Operation: "recovery"}) // a journal that cannot be applied is refused here
	if err == nil {
		err = lock.Close()
	}
	if err != nil {
		return err
	}
	before, err := s.pending(ctx)
	if err != nil {
		return err
	}
	for name := range answers {
		if !hasCreate(before, name) {
			return exit.Usagef("--adopt %s: no create of that resource was cut off", name)
		}
	}
	ask := !f.yes && !f.json && c.Interactive()
	if err := s.settle(ctx, f, answers, len(before)); err != nil {
		return err
	}
	left, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if ask && len(left) > 0 {
		if left, err = s.askAndSettle(ctx, f, left); err != nil {
			return err
		}
	}
	return s.reportRecovery(ctx, f, before, left)
}

// answers are what --adopt says, by URN.
func (f *recoverFlags) answers() (map[string]sluice.CreateResolution, error) {
	answers := map[string]sluice.CreateResolution{}
	for _, text := range f.adopt {
		// A URN may contain an equals sign in its name, and so may an ID; the first one after the last "::" separates them.
		at := strings.LastIndex(text, "::")
		name, id, ok := strings.Cut(text[at+1:], "=")
		if at < 0 || !ok || id == "" {
			return nil, exit.Usagef("--adopt %s: write the URN of the resource, an equals sign and the ID of the object", text)
		}
		answers[text[:at+1]+name] = sluice.CreateResolution{ID: id}
	}
	return answers, nil
}

// pending are the operations of the recorded state that have not ended.
func (s *session) pending(ctx context.Context) ([]sluice.PendingOperation, error) {
	snapshot, err := s.stack.LoadSealed(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	return snapshot.Pending, nil
}

func hasCreate(ops []sluice.PendingOperation, name string) bool {
	for _, op := range ops {
		if op.Type == sluice.PendingCreate && string(op.Resource.URN) == name {
			return true
		}
	}
	return false
}

// settle runs the engine. What it cannot settle is an error of the operation and is reported as what is left.
func (s *session) settle(ctx context.Context, f *recoverFlags, answers map[string]sluice.CreateResolution, pending int) error {
	if pending == 0 {
		return nil
	}
	settling := &flags.Operation{Stack: f.Stack, Run: flags.DefaultRun(), Confirmation: flags.Confirmation{Yes: true, SkipPreview: true}}
	kind := operationKind{history: refreshKind.history, noun: "recovery", doing: "Recovering", perform: sluice.Recover}
	kind.prepare = func(o *operation) error {
		o.creates = map[string]sluice.CreateResolution{}
		o.otherCreates.Clear = f.assumeNotCreated
		for name, answer := range answers {
			o.creates[name] = answer
		}
		return nil
	}
	if f.json {
		defer func(out io.Writer) { s.cli.Out = out }(s.cli.Out)
		s.cli.Out = io.Discard
	}
	err := s.operate(ctx, kind, settling)
	var failed *sluice.FailedError
	if errors.As(err, &failed) && !failed.Canceled {
		return nil
	}
	return err
}

// askAndSettle asks about every create that is left, and returns what is left then.
func (s *session) askAndSettle(
	ctx context.Context, f *recoverFlags, left []sluice.PendingOperation,
) ([]sluice.PendingOperation, error) {
	answers := map[string]sluice.CreateResolution{}
	for _, op := range left {
		name := string(op.Resource.URN)
		if _, again := answers[name]; again || op.Type != sluice.PendingCreate {
			continue
		}
		answer, err := s.cli.askAboutCreate(name)
		if err != nil {
			return nil, err
		}
		if answer != (sluice.CreateResolution{}) {
			answers[name] = answer
		}
	}
	if len(answers) == 0 {
		return left, nil
	}
	if err := s.settle(ctx, f, answers, len(left)); err != nil {
		return nil, err
	}
	return s.pending(ctx)
}

func (s *session) discardJournal(ctx context.Context, f *recoverFlags) error {
	where, err := s.stack.DiscardJournal(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return format.JSON(s.cli.Out, recoveryReport{Stack: s.ref.Name, Discarded: where, Settled: []settledInJSON{}, Left: []settledInJSON{}})
	}
	if where == "" {
		_, err = fmt.Fprintf(s.cli.Out, "There is no journal of stack '%s'.\n", s.ref.Name)
	} else {
		_, err = fmt.Fprintf(s.cli.Out, "What was left of an operation on stack '%s' was not applied. It is kept in %s.\n", s.ref.Name, where)
	}
	return err
}

// recoveryReport is what recover writes for scripts.
type recoveryReport struct {
	Stack     string          `json:"stack"`
	Settled   []settledInJSON `json:"settled"`
	Left      []settledInJSON `json:"left"`
	Discarded string          `json:"discardedJournal,omitempty"`
}

// settledInJSON is one operation that was cut off.
type settledInJSON struct {
	Type    string `json:"type"`
	URN     string `json:"urn"`
	Outcome string `json:"outcome"` // "adopted", "notCreated", "exists", "gone", "dropped" or "unknown"
	ID      string `json:"id,omitempty"`
}

// reportRecovery says what became of each operation, by comparing the state before and after.
func (s *session) reportRecovery(ctx context.Context, f *recoverFlags, before, left []sluice.PendingOperation) error {
	after, err := s.stack.LoadSealed(ctx)
	if err != nil {
		return err
	}
	ids := map[string]string{}
	exists := map[string]bool{}
	if after != nil {
		for _, r := range sluice.LiveResources(after) {
			ids[string(r.URN)], exists[string(r.URN)] = r.ID, true
		}
	}
	open := map[string]bool{}
	for _, op := range left {
		open[string(op.Type)+string(op.Resource.URN)] = true
	}
	report := recoveryReport{Stack: s.name(), Settled: []settledInJSON{}, Left: []settledInJSON{}}
	for _, op := range before {
		line := settledInJSON{Type: string(op.Type), URN: string(op.Resource.URN)}
		if open[line.Type+line.URN] {
			line.Outcome = "unknown"
			report.Left = append(report.Left, line)
			continue
		}
		line.Outcome = outcomeOf(op, exists[line.URN])
		if line.Outcome == "adopted" || line.Outcome == "exists" {
			line.ID = ids[line.URN]
		}
		report.Settled = append(report.Settled, line)
	}
	if f.json {
		err = format.JSON(s.cli.Out, report)
	} else {
		_, err = fmt.Fprint(s.cli.Out, report.text())
	}
	if err == nil && len(left) > 0 {
		err = &exit.Error{Status: exit.Failure, Quiet: f.json, Err: leftError(left)}
	}
	return err
}

func outcomeOf(op sluice.PendingOperation, exists bool) string {
	switch {
	case op.Type == sluice.PendingCreate && exists:
		return "adopted"
	case op.Type == sluice.PendingCreate:
		return "notCreated"
	case op.Type == sluice.PendingRead || op.Type == sluice.PendingImport:
		return "dropped"
	case exists:
		return "exists"
	}
	return "gone"
}

func (r recoveryReport) text() string {
	var b strings.Builder
	if len(r.Settled)+len(r.Left) == 0 {
		fmt.Fprintf(&b, "Nothing is left to recover on stack '%s'.\n", r.Stack)
		return b.String()
	}
	words := map[string]string{
		"adopted": "it had created", "notCreated": "it had created nothing", "exists": "is recorded as it is now", "gone": "does not exist any more",
		"dropped": "had changed nothing",
	}
	for _, l := range r.Settled {
		fmt.Fprintf(&b, "%s %s: %s", l.Type, format.Printable(l.URN), words[l.Outcome])
		if l.ID != "" && l.Outcome == "adopted" {
			fmt.Fprintf(&b, " %s", format.Printable(l.ID))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// leftError says what nobody knows, and how to answer.
func leftError(left []sluice.PendingOperation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "nobody knows what became of %d:", len(left))
	for _, op := range left {
		fmt.Fprintf(&b, "\n  %s %s", op.Type, format.Printable(string(op.Resource.URN)))
	}
	b.WriteString("\nLook for the objects with the provider's own tools. Then `sluice recover --adopt URN=ID` records one that exists, and " +
		"`sluice recover --assume-not-created` forgets the creates of the others.")
	return errors.New(b.String())
}
