package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Worker carries out operations. It is safe for concurrent use.
type Worker struct {
	name     string        // of the machine
	home     server.Home   // for checkouts and logs
	client   client.Client // for requests of second interrupts; nil for a worker that only looks
	fleet    *spec.Fleet   // from the file on this machine
	sluice   *sluice
	folders  *folders
	records  *recorder
	surveyor *surveyor
	works    *works
}

// New returns a worker for a fleet, as the file on this machine describes it. It runs the program sluice at a path.
func New(ctx context.Context, fleet *spec.Fleet, home server.Home, path string, c client.Client) (*Worker, error) {
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w; build it, or name it with --sluice", path, err)
	}
	w := newWorker(fleet, home, path, c)
	w.records.version = strings.TrimSpace(string(out))
	return w, nil
}

func newWorker(fleet *spec.Fleet, home server.Home, path string, c client.Client) *Worker {
	s := &sluice{path, fleet}
	w := &Worker{
		home: home, client: c, fleet: fleet, sluice: s, folders: &folders{fleet.Root, home, s}, records: &recorder{sluice: s, root: fleet.Root},
		works: newWorks(),
	}
	w.surveyor = &surveyor{fleet, s, w.folders, w.records}
	w.name, _ = os.Hostname() // only for people
	return w
}

// Survey is the activity that reads the recorded properties of stacks. Heartbeats have the results so far, so that another worker can continue it.
func (w *Worker) Survey(ctx context.Context, r run.Survey) (map[string]run.Surveyed, error) {
	return w.surveyor.survey(ctx, r)
}

// Look reads the recorded properties of stacks, and calls take with each, one after another.
func (w *Worker) Look(ctx context.Context, stacks []spec.Stack, take func(name string, is run.Surveyed)) error {
	return w.surveyor.lookAll(ctx, stacks, take)
}

// Perform is the activity that carries out one operation on one stack. Its error determines whether and when it is retried; the details are the
// outcome.
func (w *Worker) Perform(ctx context.Context, r run.StackRequest) (run.Outcome, error) {
	info := activity.GetInfo(ctx)
	if err := checkBidden(w.fleet, info.WorkflowExecution.RunID, r, time.Now()); err != nil {
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
	end, err := w.works.begin(ctx, LogPath(w.home, r.Run, r.Stack.Name))
	if err != nil { // the context has ended
		return run.Outcome{Status: run.Canceled, Why: "the run was cancelled"}, nil
	}
	defer end()
	return w.perform(ctx, r, pulse)
}

func (w *Worker) perform(ctx context.Context, r run.StackRequest, pulse *pulse) (run.Outcome, error) {
	s, err := w.folders.locate(ctx, r.Stack)
	if err != nil {
		return run.Outcome{}, err
	}
	is, err := w.sluice.recorded(ctx, s, s.Stack.Stack)
	if err != nil {
		return run.Outcome{}, err
	}
	if o, nothing := nothingThere(r.Operation, is); nothing {
		return o, nil
	}
	isNew := false
	if is.missing {
		if _, err := w.sluice.run(ctx, s, "stack", "init", "--no-select", s.Stack.Stack); err != nil && !strings.Contains(readable(err).Error(), "already exists") {
			return run.Outcome{}, readable(err)
		}
		if is, err = w.sluice.recorded(ctx, s, s.Stack.Stack); err != nil {
			return run.Outcome{}, err
		}
		isNew = true
	}
	now, err := w.records.now(ctx, s, is, r)
	if err != nil {
		return run.Outcome{}, err
	}
	why := ""
	if (r.Operation == run.Up || r.Operation == run.Preview) && !isNew {
		was, err := w.records.remembered(ctx, s)
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

// begin opens the log of an attempt, and makes a folder for its files.
func (w *Worker) begin(r run.StackRequest, s stack, pulse *pulse) (*attempt, error) {
	path := LogPath(w.home, r.Run, r.Stack.Name)
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
	return &attempt{sluice: w.sluice, records: w.records, client: w.client, stack: s, pulse: pulse, log: log, files: files}, nil
}

// works are the stacks with a running attempt on this worker. An attempt that the server has given up for lack of heartbeats may still run here; the
// next one waits for it.
type works struct {
	mu  sync.Mutex // guards now
	now map[string]*await.Event
}

func newWorks() *works { return &works{now: map[string]*await.Event{}} }

// begin waits until no other attempt runs on a stack, and registers this one until end is called.
func (w *works) begin(ctx context.Context, stack string) (end func(), err error) {
	for {
		w.mu.Lock()
		before := w.now[stack]
		if before == nil {
			over := await.NewEvent()
			w.now[stack] = over
			w.mu.Unlock()
			return func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				delete(w.now, stack)
				over.Fire()
			}, nil
		}
		w.mu.Unlock()
		if err := before.Wait(ctx); err != nil {
			return nil, err
		}
	}
}
