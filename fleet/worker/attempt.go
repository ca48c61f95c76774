package worker

import (
	"bytes"
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

	"github.com/sourcegraph/conc"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/pipeline/await"
)

const (
	// glance is the interval between two reads of the events of an operation.
	glance = 200 * time.Millisecond
	// graceful is how long an operation may take to end after an interrupt before it gets the next one. A second request to cancel sends the
	// next one at once.
	graceful = 10 * time.Minute
	// tail is the number of bytes of sluice's output kept after a failure.
	tail = 4 << 10
)

// attempt is one running operation.
type attempt struct {
	sluice  *sluice
	records *recorder
	client  client.Client // may be nil
	stack   stack
	pulse   *pulse
	log     *os.File
	files   string // the folder for files of this attempt

	performed int // the number of commands so far
}

// perform runs an operation of sluice. Its output goes to the log.
func (a *attempt) perform(ctx context.Context, args ...string) (ended, error) {
	a.performed++
	events := filepath.Join(a.files, fmt.Sprintf("events-%d.jsonl", a.performed))
	defer func() { _ = os.Remove(events) }() // the folder is removed, too
	f := &follower{path: events}
	c := a.sluice.command(a.stack, slices.Concat(args, []string{"--event-log", events})...)
	fmt.Fprintf(a.log, "$ sluice %s\n", strings.Join(args, " "))
	out := newLogWriter(a.log)
	c.Stdout, c.Stderr = out, out // one pipe for both, since they are equal
	c.WaitDelay = lingering
	group, err := process.Start(c)
	if err != nil {
		return ended{}, fmt.Errorf("start sluice: %w", err)
	}
	over := await.NewEvent()
	var wg conc.WaitGroup
	wg.Go(func() {
		_ = c.Wait() // the state of the process has the result
		over.Fire()
	})
	stopped := a.attend(ctx, group, over, f)
	wg.Wait()
	group.Release()
	if c.ProcessState == nil {
		return ended{}, errors.New("it is not known how sluice has ended")
	}
	err = f.follow()
	return ended{status: c.ProcessState.ExitCode(), printed: out.end(), events: f, stopped: stopped}, err
}

// lingering is how long to wait for processes that an ended process has left and that hold its output.
const lingering = 5 * time.Second

// attend follows the events of a process until it has ended, and interrupts it when it has to stop. It reports whether it did.
func (a *attempt) attend(ctx context.Context, group *process.Group, over *await.Event, f *follower) bool {
	interrupts, last := 0, time.Time{}
	for !over.Fired() {
		if f.follow() == nil {
			a.pulse.set(f.progress)
		}
		if a.mustStop(ctx) {
			switch since := time.Since(last); {
			case interrupts == 0, interrupts == 1 && (since > graceful || a.isAborted(ctx)), interrupts == 2 && since > graceful:
				group.Interrupt()
				interrupts, last = interrupts+1, time.Now()
			case interrupts == 3 && since > graceful:
				group.Kill()
			}
		}
		waiting, cancel := context.WithTimeout(context.Background(), glance)
		_ = over.Wait(waiting)
		cancel()
	}
	return interrupts > 0
}

// mustStop reports whether the operation was cancelled or this worker ends.
func (a *attempt) mustStop(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

// isAborted reports whether the second interrupt was requested.
func (a *attempt) isAborted(ctx context.Context) bool {
	if a.client == nil {
		return false
	}
	is := activity.GetInfo(ctx).WorkflowExecution
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	answer, err := a.client.QueryWorkflow(asking, is.ID, is.RunID, run.AbortQuery)
	aborted := false
	return err == nil && answer.Get(&aborted) == nil && aborted
}

// planFile returns the path of the plan of a previewed update.
func (a *attempt) planFile() string { return filepath.Join(a.files, "plan.json") }

// look previews an operation. The plan in the outcome is a digest of the preview and of all its inputs: the program, the settings, the outputs that
// the stack reads, and the recorded state.
func (a *attempt) look(ctx context.Context, r run.StackRequest, is recorded, now record) (run.Outcome, error) {
	if r.Operation != run.Up {
		// The operation depends on the whole recorded state.
		o := run.Outcome{Status: run.Succeeded, Outputs: is.outputs, Plan: digest([]byte(r.Operation), []byte(is.fingerprint))}
		if r.Operation == run.Destroy {
			o.Changes = map[string]int{"delete": is.resources}
		}
		return o, nil
	}
	e, err := a.perform(ctx, slices.Concat([]string{string(run.Preview), "--stack", r.Stack.Stack, "--save-plan", a.planFile()}, ofStack(r))...)
	if err != nil {
		return run.Outcome{}, err
	}
	o := outcomeOf(e, r.Operation)
	if o.Status != run.Succeeded {
		return o, nil
	}
	if now.settings, err = a.records.settings(a.stack); err != nil { // a preview may write them
		return o, err
	}
	file, err := os.Open(a.planFile())
	if err != nil {
		return o, err
	}
	defer func() { _ = file.Close() }() // it is only read
	steps, err := planDigest(json.NewDecoder(file), a.namesThings())
	if err != nil {
		return o, fmt.Errorf("the plan is not understood: %w", err)
	}
	o.Plan = digest([]byte(r.Operation), []byte(now.String()), []byte(steps))
	return o, nil
}

// namesThings reports whether the project or the stack configures the names of new resources. Any text may then be a generated name.
func (a *attempt) namesThings() bool {
	files, _ := filepath.Glob(filepath.Join(a.stack.directory, "Pulumi*")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte("autonaming")) {
			return true
		}
	}
	return false
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
	left, err := a.sluice.recorded(ctx, a.stack, a.stack.Stack.Stack)
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
	if now.settings, err = a.records.settings(a.stack); err != nil {
		return o, err
	}
	now.inputs, now.state = a.records.inputs(ctx, a.stack, left, r), left.fingerprint
	return o, a.records.remember(ctx, a.stack, now)
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
	out, err := a.sluice.run(ctx, a.stack, args...)
	_, _ = newLogWriter(a.log).Write([]byte(out)) // it returns no error
	switch {
	case err == nil:
		return o, false, nil
	case ctx.Err() != nil:
		return run.Outcome{Status: run.Canceled, Why: "the run was cancelled"}, true, nil
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
