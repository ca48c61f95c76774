package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// recoverFlags are the flags of recover.
type recoverFlags struct {
	flags.Stack
	json, yes        bool
	assumeNotCreated bool
	adopt            []string
	discard          bool
}

func newRecoverCommand(open *session.Opener) *cobra.Command {
	f := &recoverFlags{}
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Find out what became of interrupted operations",
		Long: "Find out what became of interrupted operations: because sluice or the machine died, or a plugin did.\n\n" +
			"What such an operation had completed needs nothing: every command recovers that from the journal, and says so. This\n" +
			"command resolves what was under way. Reads are dropped. Updates and deletes are resolved by reading the object. For\n" +
			"creates the provider is asked for an object with the name that was generated for it; where it cannot say, you are asked\n" +
			"at a terminal. --adopt and --assume-not-created answer that without one. No object is changed, the program does not\n" +
			"run, and nothing else is touched.\n\n" +
			"If somebody else has changed the state since, the journal is not applied, and everything that it contains is listed.\n" +
			"--discard puts it aside, so that the stack can be used again. The same goes for a rename of the stack or a move of\n" +
			"resources that was interrupted between its two files.\n\n" +
			"The status is 1 if something is left that nobody knows.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return recoverStack(cmd.Context(), open, f) },
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddJSON(p, &f.json, "write what was resolved as JSON, and ask nothing")
	flags.AddYes(p, &f.yes, "ask nothing")
	p.BoolVar(&f.assumeNotCreated, "assume-not-created", false, "creates of which nothing is found have made nothing: forget them")
	p.StringArrayVar(&f.adopt, "adopt", nil, "the create of this URN has made the object with this ID, as `URN=ID`; may be repeated")
	p.BoolVar(&f.discard, "discard", false, "put aside what cannot be applied")
	cmd.MarkFlagsMutuallyExclusive("discard", "adopt")
	cmd.MarkFlagsMutuallyExclusive("discard", "assume-not-created")
	return cmd
}

// recoverStack runs the command recover.
func recoverStack(ctx context.Context, open *session.Opener, f *recoverFlags) error {
	answers, err := f.answers()
	if err != nil {
		return err
	}
	if f.discard {
		return discardJournal(ctx, open.Deciding(), f)
	}
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	lock, err := s.State.Lock(ctx, backend.LockOptions{Operation: "recovery"}) // refuses a journal that cannot be applied
	if err == nil {
		err = lock.Close()
	}
	if err != nil {
		return err
	}
	before, err := s.Pending(ctx)
	if err != nil {
		return err
	}
	for name := range answers {
		if !pending.HasCreate(before, name) {
			return exit.Usagef("--adopt %s: no create of that resource was interrupted", name)
		}
	}
	left := before
	if len(before) > 0 {
		if left, err = resolve(ctx, s, f, answers); err != nil {
			return err
		}
	}
	if !f.yes && !f.json && s.Terminal.Interactive() && len(left) > 0 {
		if left, err = askAndResolve(ctx, s, f, left); err != nil {
			return err
		}
	}
	return reportRecovery(ctx, s, f, before, left)
}

// answers returns the answers of --adopt, by URN.
func (f *recoverFlags) answers() (map[string]stages.CreateResolution, error) {
	answers := map[string]stages.CreateResolution{}
	for _, text := range f.adopt {
		// Both the name in a URN and an ID may contain an equals sign. The first one after the last "::" separates
		// them.
		at := strings.LastIndex(text, "::")
		name, id, ok := strings.Cut(text[at+1:], "=")
		if at < 0 || !ok || id == "" {
			return nil, exit.Usagef("--adopt %s: write the URN of the resource, an equals sign and the ID of the object", text)
		}
		answers[text[:at+1]+name] = stages.CreateResolution{ID: id}
	}
	return answers, nil
}

// resolve runs the engine, and returns the operations that are still pending. An operation that it cannot resolve is
// among these and is not an error.
func resolve(
	ctx context.Context, s *session.Stack, f *recoverFlags, answers map[string]stages.CreateResolution,
) ([]state.Pending, error) {
	job, err := operate.Prepare(ctx, s, operate.Recovery(), &flags.Operation{
		Stack: f.Stack, Run: flags.DefaultRun(), Confirmation: flags.Confirmation{Yes: true, SkipPreview: true},
	})
	if err != nil {
		return nil, err
	}
	job.Creates = pending.Answers{ByURN: answers, Others: stages.CreateResolution{Clear: f.assumeNotCreated}}
	if f.json {
		job.Terminal = s.Terminal.Muted()
	}
	err = operate.Run(ctx, job)
	var failed *sluice.FailedError
	if err != nil && (!errors.As(err, &failed) || failed.Canceled) {
		return nil, err
	}
	return s.Pending(ctx)
}

// askAndResolve asks about every pending create, resolves those that are answered, and returns what is pending then.
func askAndResolve(
	ctx context.Context, s *session.Stack, f *recoverFlags, left []state.Pending,
) ([]state.Pending, error) {
	answers := map[string]stages.CreateResolution{}
	for _, op := range left {
		name := string(op.Resource.URN)
		if _, again := answers[name]; again || op.Type != state.Creating {
			continue
		}
		answer, err := pending.Ask(s.Terminal, name)
		if err != nil {
			return nil, err
		}
		if answer != (stages.CreateResolution{}) {
			answers[name] = answer
		}
	}
	if len(answers) == 0 {
		return left, nil
	}
	return resolve(ctx, s, f, answers)
}

func discardJournal(ctx context.Context, open *session.Opener, f *recoverFlags) error {
	s, err := open.State(ctx, f.Name)
	if err != nil {
		return err
	}
	where, err := s.State.DiscardJournal(ctx)
	if err != nil {
		return err
	}
	out := s.Terminal.Out
	switch {
	case f.json:
		report := pending.NewReport(s.Ref.Name)
		report.Discarded = where
		return format.JSON(out, report)
	case where == "":
		_, err = fmt.Fprintf(out, "There is no journal of stack '%s'.\n", s.Ref.Name)
	default:
		_, err = fmt.Fprintf(out, "What was left of an operation on stack '%s' was not applied. It is kept in %s.\n", s.Ref.Name, where)
	}
	return err
}

// reportRecovery reports what became of each operation.
func reportRecovery(ctx context.Context, s *session.Stack, f *recoverFlags, before, left []state.Pending) error {
	after, err := s.State.LoadSealed(ctx)
	if err != nil {
		return err
	}
	report := pending.Compare(s.Name(), before, left, after)
	if f.json {
		err = format.JSON(s.Terminal.Out, report)
	} else {
		_, err = fmt.Fprint(s.Terminal.Out, report.Text())
	}
	if err == nil && len(left) > 0 {
		err = &exit.Error{Status: exit.Failure, Quiet: f.json, Err: pending.LeftError(left)}
	}
	return err
}
