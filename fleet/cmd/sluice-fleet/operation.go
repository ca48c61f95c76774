package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/fleet/report"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/fleet/worker"
	"github.com/sluice-iac/sluice/internal/text/syntax"
)

// operation describes a command that runs an operation on each stack.
type operation struct {
	name        run.Operation
	short, long string
}

var operations = []operation{
	{run.Preview, "Show what `up` would do", "A stack that reads the outputs of others is previewed with the outputs that they will have."},
	{run.Up, "Update the stacks, in the order of their dependencies", "A stack whose program, settings and inputs from others have not changed since its last update is left as it is."},
	{run.Refresh, "Record how the resources of the stacks are now", ""},
	{run.Drift, "Say what is not as it is recorded, and change nothing", "The exit status is 10 if anything has moved."},
	{run.Destroy, "Destroy the stacks, dependents first", "The stacks themselves stay, with their settings and histories."},
}

// operationFlags are the flags of an operation.
type operationFlags struct {
	choice        []string
	concurrency   int
	since         time.Duration
	options       run.Options
	yes, json     bool
	noWorker      bool
	expectNothing bool
	reports       []string
}

func (o *operationFlags) add(f *pflag.FlagSet, op run.Operation) {
	f.StringArrayVar(&o.choice, "select", nil, "only this stack, entry or `group`; may be repeated")
	f.IntVar(&o.concurrency, "concurrency", 0, "how many stacks are worked on at once; that of fleet.yaml if not given")
	f.BoolVar(&o.options.FailFast, "fail-fast", false, "begin no other stack after a failure; otherwise all that do not depend on it go on")
	f.BoolVar(&o.json, "json", false, "write events as JSON, one on each line")
	f.BoolVar(&o.noWorker, "no-worker", false, "leave the work to workers on other machines")
	f.StringArrayVar(&o.reports, "report", nil, "write a report on all stacks to this `file`: .html, .md or .json; may be repeated")
	f.IntVar(&o.options.Each, "each", 0, "how many stacks one workflow works on before it goes on as a new one; 0 leaves that to the server")
	_ = f.MarkHidden("each") // fails only for flags that do not exist
	switch op {
	case run.Up, run.Destroy:
		f.BoolVar(&o.options.ContinueOnError, "continue-on-error", false, "within each stack, go on with what does not depend on a failed resource")
		f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
		fallthrough
	case run.Refresh:
		f.StringVarP(&o.options.Message, "message", "m", "", "a message for the histories of the stacks")
		f.BoolVar(&o.options.AssumeNotCreated, "assume-not-created", false, "interrupted creates of which nothing is found have made nothing")
	case run.Drift:
		f.DurationVar(&o.since, "since", 0, "read only what was not read within this time: 12h")
	}
	if op == run.Up || op == run.Preview {
		f.BoolVar(&o.options.Force, "force", false, "do it also where nothing has changed")
		f.BoolVar(&o.expectNothing, "expect-no-changes", false, "exit with status 7 if there are, or would be, changes")
	}
}

func newOperation(g *global, op operation) *cobra.Command {
	o := &operationFlags{}
	cmd := &cobra.Command{
		Use: string(op.name), Short: op.short, Args: arguments(0, 0),
		Long: strings.TrimSpace(op.short + ".\n\n" + op.long + "\n\nCtrl-C stops the run: no other stack begins, and running operations finish. A second Ctrl-C asks\n" +
			"the providers to abort. The same command continues a run that was interrupted."),
		RunE: func(cmd *cobra.Command, _ []string) error { return operate(cmd.Context(), g, op.name, o) },
	}
	o.add(cmd.Flags(), op.name)
	return cmd
}

// choose returns the selected stacks and the others.
func choose(f *spec.Fleet, names []string) (stacks, others []spec.Stack, err error) {
	stacks, unknown := f.Select(names)
	if len(unknown) > 0 {
		hint := syntax.Nearest(unknown[0], f.Names())
		if hint == "" {
			hint = "there are " + strings.Join(f.Names(), ", ")
		}
		return nil, nil, usagef("--select %s: there is no such stack, entry or group; %s", unknown[0], hint)
	}
	if len(stacks) == len(f.Stacks) {
		return stacks, nil, nil
	}
	chosen := map[string]bool{}
	for _, s := range stacks {
		chosen[s.Name] = true
	}
	for _, s := range f.Stacks {
		if !chosen[s.Name] {
			others = append(others, s)
		}
	}
	return stacks, others, nil
}

func operate(ctx context.Context, g *global, op run.Operation, o *operationFlags) error {
	f, err := g.read()
	if err != nil {
		return err
	}
	stacks, others, err := choose(f, o.choice)
	if err != nil {
		return err
	}
	if o.concurrency < 0 {
		return usagef("--concurrency %d: write a whole number from 1 on", o.concurrency)
	}
	if o.since > 0 {
		o.options.Since = o.since.String()
	}
	if err := report.Check(o.reports); err != nil {
		return usagef("%v", err)
	}
	if err := confirm(op, o, len(stacks)); err != nil {
		return err
	}
	if g.metrics, err = startMetrics(ctx); err != nil {
		return err
	}
	defer g.metrics.end()
	s, err := g.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := worker.Prune(s.home, time.Now().Add(-server.Kept)); err != nil {
		return err
	}
	if o.concurrency > 0 {
		f.Concurrency = o.concurrency
	}
	if !o.noWorker {
		stop, err := s.startWorkers(ctx, f.Queues(), f.Concurrency)
		if err != nil {
			return err
		}
		defer stop()
	}
	request := run.Request{
		Fleet: f.Name, Operation: op, Stacks: stacks, Others: others, Concurrency: f.Concurrency, Limits: f.Limits, Options: o.options, By: who(),
	}
	id, joined, err := s.client.Begin(ctx, request)
	if err != nil {
		return err
	}
	show := newShow(o.json, isDrawable())
	show.begin(id, op, joined)
	end, err := s.follow(ctx, id, show)
	if err != nil {
		return err
	}
	show.end(end)
	if err := report.Write(o.reports, id, end.View); err != nil {
		return err
	}
	return statusOf(end.View, op, o.expectNothing)
}

// confirm requests a confirmation before stacks are changed.
func confirm(op run.Operation, o *operationFlags, count int) error {
	if op != run.Up && op != run.Destroy || o.yes {
		return nil
	}
	if !isAttended() || o.json {
		return usagef("without a terminal, give --yes to confirm")
	}
	answer := ask(fmt.Sprintf("%s %s? (y/N) ", op, numbered(count, "stack"))) // an empty line means no
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return &statusError{status: statusFailure, err: errors.New("nothing was done")}
	}
	return nil
}

// newSignals returns a function that waits for the next interrupt. It reports whether there was one before the context ended.
func newSignals() (next func(context.Context) bool, stop func()) {
	var mu sync.Mutex // guards the rest
	interrupted, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	next = func(ctx context.Context) bool {
		mu.Lock()
		now := interrupted
		mu.Unlock()
		select {
		case <-ctx.Done():
			return false
		case <-now.Done():
		}
		mu.Lock()
		defer mu.Unlock()
		// The next context is created before the former one stops listening.
		after, more := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		release()
		interrupted, release = after, more
		return true
	}
	return next, func() {
		mu.Lock()
		defer mu.Unlock()
		release()
	}
}

// statusOf returns the error with the exit status of a run.
func statusOf(v run.View, op run.Operation, expectNothing bool) error {
	failed, canceled, changed := 0, 0, 0
	for _, s := range v.Stacks {
		switch {
		case s.Status == run.Canceled:
			canceled++
		case !s.OK():
			failed++
		case s.HasChanges():
			changed++
		}
	}
	quiet := func(status int, text string) error { return &statusError{status, errors.New(text), true} }
	switch {
	case failed > 0:
		return quiet(statusFailure, "stacks have failed")
	case canceled > 0:
		return quiet(statusCancelled, "the run was cancelled")
	case changed > 0 && op == run.Drift:
		return quiet(statusDrifted, "something has moved")
	case changed > 0 && expectNothing:
		return quiet(statusHasChanges, "there are changes")
	}
	return nil
}
