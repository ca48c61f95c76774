package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/internal/private"
)

// Perform is the activity that carries out one operation on one stack. Its error determines whether and when it is retried; the details are the
// outcome.
func (w *Worker) Perform(ctx context.Context, r run.StackRequest) (run.Outcome, error) {
	info := activity.GetInfo(ctx)
	if err := w.checkBidden(info.WorkflowExecution.RunID, r, time.Now()); err != nil {
		return run.Outcome{}, unbidden(err)
	}
	pulse := beat(ctx, w.name)
	defer pulse.end()
	o, err := w.alone(ctx, r, pulse)
	if err != nil {
		o = run.Outcome{Status: run.Failed, Kind: run.Setup, Why: err.Error()}
	}
	o.Worker, o.Attempts, o.Attempt = w.name, int(info.Attempt), r.Attempt
	o.Why, o.Log = shortened(o.Why, mostText), shortened(o.Log, 2*tail)
	switch {
	case o.Status == run.Canceled && ctx.Err() != nil:
		return o, temporal.NewCanceledError(o)
	case o.Status == run.Canceled: // this worker ends, and another one continues
		return o, temporal.NewApplicationErrorWithOptions("the worker was stopped", string(run.Lost), temporal.ApplicationErrorOptions{NextRetryDelay: time.Second})
	case o.Status == run.Failed:
		pause, retry := again(o.Kind, info.Attempt)
		if retry {
			activity.GetMetricsHandler(ctx).WithTags(map[string]string{"kind": string(o.Kind)}).Counter(run.RetriesMetric).Inc(1)
		}
		return o, temporal.NewApplicationErrorWithOptions(o.Why, string(o.Kind), temporal.ApplicationErrorOptions{
			NonRetryable: !retry, NextRetryDelay: pause, Details: []any{o},
		})
	}
	return o, nil
}

// alone carries out an operation when no other attempt on the stack runs on this worker.
func (w *Worker) alone(ctx context.Context, r run.StackRequest, pulse *pulse) (run.Outcome, error) {
	end, err := w.works.begin(ctx, LogPath(w.Home, r.Run, r.Stack.Name))
	if err != nil { // the context has ended
		return run.Outcome{Status: run.Canceled, Why: "the run was canceled"}, nil
	}
	defer end()
	return w.perform(ctx, r, pulse)
}

func (w *Worker) perform(ctx context.Context, r run.StackRequest, pulse *pulse) (run.Outcome, error) {
	s, err := w.locate(ctx, r.Stack)
	if err != nil {
		return run.Outcome{}, err
	}
	is, err := w.recorded(ctx, s, s.Stack.Stack)
	if err != nil {
		return run.Outcome{}, err
	}
	if o, nothing := nothingThere(r.Operation, is); nothing {
		return o, nil
	}
	isNew := false
	if is.missing {
		if _, err := w.run(ctx, s, "stack", "init", "--no-select", s.Stack.Stack); err != nil && !strings.Contains(readable(err).Error(), "already exists") {
			return run.Outcome{}, readable(err)
		}
		if is, err = w.recorded(ctx, s, s.Stack.Stack); err != nil {
			return run.Outcome{}, err
		}
		isNew = true
	}
	now, err := w.now(ctx, s, is, r)
	if err != nil {
		return run.Outcome{}, err
	}
	why := ""
	if (r.Operation == run.Up || r.Operation == run.Preview) && !isNew {
		was, err := w.remembered(ctx, s)
		if err != nil {
			return run.Outcome{}, err
		}
		if why = was.since(now); why == "" && !r.Options.Force && is.pending == 0 {
			return run.Outcome{
				Status: run.Unchanged, Why: run.NothingNew,
				Reads: is.reads, Outputs: is.outputs,
			}, nil
		}
	}
	a, err := w.begin(r, s, pulse)
	if err != nil {
		return run.Outcome{}, err
	}
	defer a.end()
	return a.do(ctx, r, is, now, why)
}

// nothingThere returns the outcome of an operation on a missing stack.
func nothingThere(op run.Operation, is recorded) (run.Outcome, bool) {
	if op == run.Up || op == run.Preview || !is.missing && (is.resources > 0 || is.pending > 0) {
		return run.Outcome{}, false
	}
	return run.Outcome{Status: run.Unchanged, Why: "nothing is recorded of it", Outputs: is.outputs}, true
}

// LogPath returns the path of the log of a stack in a run.
func LogPath(h server.Home, runID, stack string) string {
	return h.Path("runs", plain(runID), plain(stack)+".log")
}

func plain(name string) string { return strings.NewReplacer("/", "--", ":", "-").Replace(name) }

// begin opens the log of an attempt, and makes a folder for its files.
func (w *Worker) begin(r run.StackRequest, s stack, pulse *pulse) (*attempt, error) {
	path := LogPath(w.Home, r.Run, r.Stack.Name)
	if err := private.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// The folder is beside the log, so that a killed worker leaves its files in the folder of the fleet.
	files, err := os.MkdirTemp(filepath.Dir(path), plain(r.Stack.Name)+".")
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(files))
	}
	return &attempt{Worker: w, stack: s, pulse: pulse, log: log, files: files}, nil
}

func (a *attempt) end() {
	_ = a.log.Close()         // an attempt does not fail because of its log
	_ = os.RemoveAll(a.files) // they are temporary
}

// do carries out the operation.
func (a *attempt) do(ctx context.Context, r run.StackRequest, is recorded, now record, why string) (run.Outcome, error) {
	approved := r.Bound && r.Approval != nil
	if r.Look || approved {
		shown, err := a.look(ctx, r, is, now)
		if r.Look || err != nil || shown.Status != run.Succeeded {
			return shown, err
		}
		if shown.Plan != r.Approval.Plan {
			shown.Status, shown.Why = run.Approving, "the preview has changed since "+shortened(r.Approval.By, mostTitle)+" approved it"
			return shown, nil
		}
	}
	if is.pending > 0 && r.Operation != run.Preview && r.Operation != run.Drift {
		if o, over, err := a.recover(ctx, r); over || err != nil {
			return o, err
		}
	}
	args, err := a.arguments(r)
	if err != nil {
		return run.Outcome{}, err
	}
	if approved && r.Operation == run.Up {
		args = append(args, "--plan", a.planFile())
	}
	e, err := a.perform(ctx, args...)
	if err != nil {
		return run.Outcome{}, err
	}
	o := outcomeOf(e, r.Operation)
	if o.Status != run.Succeeded {
		return o, nil
	}
	o.Why = why
	return a.finish(ctx, r, o, now)
}

// outcomeOf returns the outcome of a command of sluice that has ended.
func outcomeOf(e ended, op run.Operation) run.Outcome {
	o := run.Outcome{Status: run.Succeeded, Changes: e.events.changes, Reads: e.events.reads}
	switch {
	case e.stopped && e.status != 0:
		o.Status, o.Why = run.Canceled, "it was interrupted; what was done is recorded"
	case e.status != 0 && (e.status != statusDrifted || op != run.Drift):
		o.Status, o.Kind, o.Why, o.Log = run.Failed, kindOf(e), whyFailed(e), e.printed
	}
	return o
}

// whyFailed returns the first error of an operation.
func whyFailed(e ended) string {
	for _, text := range e.events.errors {
		if text != "update failed" && text != "destroy failed" && text != "refresh failed" {
			return text
		}
	}
	for line := range strings.Lines(e.printed) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), "error: "); is {
			return text
		}
	}
	return fmt.Sprintf("sluice ended with status %d", e.status)
}

// finish reads the result of an operation, and records the inputs of an update.
func (a *attempt) finish(ctx context.Context, r run.StackRequest, o run.Outcome, before record) (run.Outcome, error) {
	switch r.Operation {
	case run.Preview:
		planned, err := readPlanned(filepath.Join(a.files, "planned.json"))
		o.Planned = planned
		return o, err
	case run.Drift:
		counted, err := readDrift(filepath.Join(a.files, "drift.json"))
		o.Drift, o.Changes = counted, nil
		return o, err
	}
	left, err := a.recorded(ctx, a.stack, a.stack.Stack.Stack)
	if err != nil {
		return o, err
	}
	o.Outputs = left.outputs
	for _, reference := range left.reads {
		if !slices.Contains(o.Reads, reference) {
			o.Reads = append(o.Reads, reference)
		}
	}
	if r.Operation != run.Up {
		return o, nil
	}
	// The program is the one at the beginning of the update; sluice may have written the settings.
	now := before
	if now.settings, err = a.settings(a.stack); err != nil {
		return o, err
	}
	now.inputs, now.state = a.inputs(ctx, a.stack, left, r), left.fingerprint
	return o, a.remember(ctx, a.stack, now)
}

// arguments returns the command line of an operation.
func (a *attempt) arguments(r run.StackRequest) ([]string, error) {
	args := []string{string(r.Operation), "--stack", r.Stack.Stack}
	switch r.Operation {
	case run.Preview:
		args = append(args, "--save-outputs", filepath.Join(a.files, "planned.json"))
		if len(r.Planned) > 0 {
			path := filepath.Join(a.files, "outputs.json")
			text, err := json.Marshal(r.Planned)
			if err != nil {
				return nil, err
			}
			if err := private.Write(path, text); err != nil {
				return nil, err
			}
			args = append(args, "--stack-outputs", path)
		}
	case run.Drift:
		args = append(args, "--save", filepath.Join(a.files, "drift.json"))
		if r.Options.Since != "" {
			args = append(args, "--since", r.Options.Since)
		}
	default:
		args = append(args, "--yes", "--skip-preview", "--message", message(r))
	}
	if r.Options.ContinueOnError && (r.Operation == run.Up || r.Operation == run.Destroy) {
		args = append(args, "--continue-on-error")
	}
	return append(args, ofStack(r)...), nil
}

// ofStack returns the flags that fleet.yaml sets for operations on a stack.
func ofStack(r run.StackRequest) []string {
	var args []string
	if r.Stack.Parallel > 0 {
		args = append(args, "--parallel", strconv.Itoa(r.Stack.Parallel))
	}
	if r.Operation == run.Up || r.Operation == run.Preview {
		for _, key := range slices.Sorted(maps.Keys(r.Stack.Config)) {
			args = append(args, "--config", key+"="+r.Stack.Config[key])
		}
	}
	return args
}

func message(r run.StackRequest) string {
	if r.Options.Message != "" {
		return r.Options.Message
	}
	return "sluice fleet " + string(r.Operation)
}

// recover resolves interrupted operations. over reports whether the operation ends because it could not.
func (a *attempt) recover(ctx context.Context, r run.StackRequest) (o run.Outcome, over bool, err error) {
	args := []string{"recover", "--yes", "--stack", r.Stack.Stack}
	if r.Options.AssumeNotCreated {
		args = append(args, "--assume-not-created")
	}
	fmt.Fprintf(a.log, "$ sluice %s\n", strings.Join(args, " "))
	out, err := a.run(ctx, a.stack, args...)
	_, _ = newLogWriter(a.log).Write([]byte(out)) // it returns no error
	switch {
	case err == nil:
		return o, false, nil
	case ctx.Err() != nil:
		return run.Outcome{Status: run.Canceled, Why: "the run was canceled"}, true, nil
	case statusOf(err) == statusLocked:
		return run.Outcome{Status: run.Failed, Kind: run.Locked, Why: readable(err).Error()}, true, nil
	case statusOf(err) == 0:
		return o, true, err
	}
	return run.Outcome{
		Status: run.Failed, Kind: run.Interrupted, Log: out,
		Why: fmt.Sprintf("an operation was interrupted, and how it ended is not known: run `sluice recover` in %s: %v", r.Stack.Stack, readable(err)),
	}, true, nil
}

const (
	mostPlanned = 32 << 10 // of the predicted outputs in an outcome
	unknown     = `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`
)

// readPlanned reads the outputs of a stack that a preview predicts. A value that is too large for an outcome becomes unknown.
func readPlanned(path string) (run.Planned, error) {
	var p run.Planned
	file, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = file.Close() }() // it is only read
	dec := json.NewDecoder(file)
	room := mostPlanned
	err = members(dec, func(name string) error {
		switch name {
		case "set":
			p.Set = map[string]json.RawMessage{}
			return members(dec, func(name string) error {
				var value json.RawMessage
				if err := dec.Decode(&value); err != nil {
					return err
				}
				if len(value) > room {
					value = json.RawMessage(unknown)
				}
				room -= len(value)
				p.Set[name] = value
				return nil
			})
		case "removed":
			return dec.Decode(&p.Removed)
		}
		return skip(dec)
	})
	return p, err
}

// readDrift counts the drift that `sluice drift` has found.
func readDrift(path string) (*run.DriftCount, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	var d run.DriftCount
	dec := json.NewDecoder(file)
	return &d, members(dec, func(name string) error {
		switch name {
		case "moved":
			return dec.Decode(&d.Moved)
		case "read":
			return dec.Decode(&d.Read)
		}
		return skip(dec)
	})
}
