package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
		Short: "Resolve operations that were interrupted",
		Long: "Find out what became of interrupted operations, after sluice, the machine or a plugin has crashed.\n\n" +
			"Steps that had completed are recovered from the journal by any command. This command resolves the steps that were\n" +
			"running. It drops reads. For updates and deletes it reads the object. For creates it asks the provider for an object\n" +
			"with the name that was generated for it; if the provider cannot tell, it asks you at a terminal. --adopt and\n" +
			"--assume-not-created answer without a terminal. No object is changed, and the program does not run.\n\n" +
			"If somebody else has changed the state since, the journal is not applied, and the command lists its content.\n" +
			"--discard puts the journal aside, so that you can use the stack again. The same applies to a rename of the stack or a\n" +
			"move of resources that was interrupted between its two files.\n\n" +
			"The exit status is 1 if an outcome is still unknown.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return recoverStack(cmd.Context(), open, f) },
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddJSON(p, &f.json, "write what was resolved as JSON, and ask nothing")
	flags.AddYes(p, &f.yes, "ask nothing")
	p.BoolVar(&f.assumeNotCreated, "assume-not-created", false, "drop creates whose object is not found: nothing was created")
	p.StringArrayVar(&f.adopt, "adopt", nil, "record the object with this ID for the interrupted create of this resource, as `URN=ID` with a URN or a name; may be repeated")
	p.BoolVar(&f.discard, "discard", false, "put aside a journal that cannot be applied")
	excludes(cmd, "discard", "adopt")
	excludes(cmd, "discard", "assume-not-created")
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
	s, err := open.AnyStack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	lock, err := s.State.Lock(ctx, backend.LockOptions{Operation: "recovery"}) // it returns an error for a journal that cannot be applied
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
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		full, err := pending.Named(before, name)
		if err != nil {
			return exit.Usagef("--adopt %s: %w", name, err)
		}
		if !pending.HasCreate(before, full) {
			return exit.Usagef("--adopt %s: no create of that resource was interrupted", name)
		}
		if full != name {
			answers[full] = answers[name]
			delete(answers, name)
		}
	}
	r := &recovery{stack: s, flags: f, left: before, answers: map[string]stages.CreateResolution{}}
	if len(before) > 0 {
		if err := r.resolve(ctx, answers); err != nil {
			return err
		}
	}
	if !f.yes && !f.json && s.Session.Terminal.Interactive() && len(r.left) > 0 {
		if err := r.askAndResolve(ctx); err != nil {
			return err
		}
	}
	return r.report(before)
}

// recovery is one run of the command recover.
type recovery struct {
	stack   *session.Stack
	flags   *recoverFlags
	answers map[string]stages.CreateResolution // so far, by URN
	left    []state.Pending                    // what is still pending
	found   []stages.Resolution
}

// answers returns the answers of --adopt, by the given name of the resource.
func (f *recoverFlags) answers() (map[string]stages.CreateResolution, error) {
	answers := map[string]stages.CreateResolution{}
	for _, text := range f.adopt {
		// Both the name in a URN and an ID may contain an equals sign. The first one after the last "::" separates
		// them.
		at := strings.LastIndex(text, "::")
		name, id, ok := strings.Cut(text[at+1:], "=")
		if !ok || name == "" || id == "" {
			return nil, exit.Usagef("--adopt %s: write the URN of the resource, an equals sign and the ID of the object", text)
		}
		answers[text[:at+1]+name] = stages.CreateResolution{ID: id}
	}
	return answers, nil
}

// resolve runs the engine. An operation that it cannot resolve is left, and is not an error.
func (r *recovery) resolve(ctx context.Context, answers map[string]stages.CreateResolution) error {
	s, f := r.stack, r.flags
	kind, found := operate.Recovery(), []stages.Resolution{}
	perform := kind.Perform
	kind.Perform = func(e *sluice.Engine, ctx context.Context) (*sluice.Result, error) {
		result, err := perform(e, ctx)
		if result != nil {
			found = result.Resolved
		}
		return result, err
	}
	job, err := operate.Prepare(ctx, s, kind, &flags.Operation{
		Stack: f.Stack, Run: flags.DefaultRun(), Confirmation: flags.Confirmation{Yes: true, SkipPreview: true},
	})
	if err != nil {
		return err
	}
	job.Creates = pending.Answers{ByURN: answers, Others: stages.CreateResolution{Clear: f.assumeNotCreated}}
	if f.json {
		job.Terminal = s.Session.Terminal.Muted()
	}
	err = operate.Run(ctx, job)
	var failed *sluice.FailedError
	if err != nil && (!errors.As(err, &failed) || failed.Canceled) {
		return err
	}
	maps.Copy(r.answers, answers)
	r.found = pending.Merge(r.found, found)
	r.left, err = s.Pending(ctx)
	return err
}

// askAndResolve asks the user about every pending create, and resolves those with an answer.
func (r *recovery) askAndResolve(ctx context.Context) error {
	answers := map[string]stages.CreateResolution{}
	for _, op := range r.left {
		name := string(op.Resource.URN)
		if _, again := answers[name]; again || op.Type != state.Creating {
			continue
		}
		answer, err := pending.Ask(ctx, r.stack.Session.Terminal, name)
		if err != nil {
			return err
		}
		if answer != (stages.CreateResolution{}) {
			answers[name] = answer
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return r.resolve(ctx, answers)
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
	out := s.Session.Terminal.Out
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

// report reports how each operation was resolved.
func (r *recovery) report(before []state.Pending) (err error) {
	report := pending.Compare(r.stack.Name(), before, r.left, r.found)
	if r.flags.json {
		err = format.JSON(r.stack.Session.Terminal.Data(), report)
	} else {
		_, err = fmt.Fprint(r.stack.Session.Terminal.Out, report.Text())
	}
	if err == nil && len(report.Left) > 0 {
		refused := func(urn string) bool { return r.answers[urn].ID != "" }
		err = &exit.Error{Status: exit.Failure, Quiet: r.flags.json, Err: report.LeftError(refused)}
	}
	return err
}
