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
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/internal/process"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sourcegraph/conc"
	"go.temporal.io/sdk/activity"
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
	*Worker
	stack stack
	pulse *pulse
	log   *os.File
	files string // the folder for files of this attempt

	performed int // the number of commands so far
}

// pulse sends heartbeats until it is stopped.
type pulse struct {
	mu   sync.Mutex // guards now
	now  run.Progress
	stop context.CancelFunc
	wg   conc.WaitGroup
}

// beat begins to send heartbeats.
func beat(ctx context.Context, worker string) *pulse {
	beating, stop := context.WithCancel(ctx)
	p := &pulse{stop: stop, now: run.Progress{Worker: worker}}
	p.wg.Go(func() {
		for {
			activity.RecordHeartbeat(ctx, p.progress())
			if await.For(beating, time.Second) != nil {
				return
			}
		}
	})
	return p
}

func (p *pulse) progress() run.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *pulse) set(now run.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now.Worker = p.now.Worker
	p.now = now
}

func (p *pulse) end() {
	p.stop()
	p.wg.Wait()
}

// ended is the result of a process of sluice.
type ended struct {
	status  int // -1 if it was ended by a signal
	printed string
	events  *follower
	stopped bool // it was interrupted, because it was canceled or because this worker ends
}

// perform runs an operation of sluice. Its output goes to the log.
func (a *attempt) perform(ctx context.Context, args ...string) (ended, error) {
	a.performed++
	events := filepath.Join(a.files, fmt.Sprintf("events-%d.jsonl", a.performed))
	defer func() { _ = os.Remove(events) }() // the folder is removed, too
	f := &follower{path: events}
	c := a.command(a.stack, slices.Concat(args, []string{"--event-log", events})...)
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

// mustStop reports whether the operation was canceled or this worker ends.
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
	if a.Client == nil {
		return false
	}
	is := activity.GetInfo(ctx).WorkflowExecution
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	answer, err := a.Client.QueryWorkflow(asking, is.ID, is.RunID, run.AbortQuery)
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
	if now.settings, err = a.settings(a.stack); err != nil { // a preview may write them
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

// planned has the compared parts of a planned resource.
type planned struct {
	Goal *struct {
		Protect    bool
		Parent     string
		Provider   string
		ID         string
		InputDiff  difference
		OutputDiff difference
	}
	Steps []string
}

type difference struct {
	Adds, Updates map[string]any
	Deletes       []string
}

// planDigest returns a digest of the effect of a plan. It is equal for two plans with the same effect: it leaves out times, seeds and ciphertexts,
// which differ, and names that sluice generates for new resources.
func planDigest(dec *json.Decoder, custom bool) (string, error) {
	sums := map[string]string{}
	err := members(dec, func(name string) error {
		if name != "resourcePlans" {
			return skip(dec)
		}
		return members(dec, func(urn string) error {
			var p planned
			if err := dec.Decode(&p); err != nil {
				return err
			}
			if p.Goal != nil {
				isNew := slices.ContainsFunc(p.Steps, func(op string) bool { return strings.HasPrefix(op, "create") })
				for _, part := range []map[string]any{p.Goal.InputDiff.Adds, p.Goal.InputDiff.Updates} {
					for key, value := range part {
						part[key] = compared(value, isNew, urn[strings.LastIndex(urn, "::")+1:], custom)
					}
				}
				p.Goal.OutputDiff = difference{} // it is a prediction
			}
			text, err := json.Marshal(p) // keys of maps are sorted
			sums[urn] = digest(text)
			return err
		})
	})
	var all bytes.Buffer
	for _, urn := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&all, "%q %s\n", urn, sums[urn])
	}
	return digest(all.Bytes()), err
}

// ending matches the suffix that sluice adds to the name of a resource.
var ending = regexp.MustCompile(`^[-_.]?[0-9a-zA-Z]{4,}$`)

// compared returns the compared part of a top-level input.
func compared(value any, isNew bool, resource string, custom bool) any {
	if text, is := value.(string); is && isNew {
		rest, begins := strings.CutPrefix(text, strings.TrimPrefix(resource, ":"))
		if custom || begins && ending.MatchString(rest) {
			return "a name"
		}
	}
	return withoutSecrets(value)
}

// withoutSecrets replaces encrypted values. Changes of them show in the settings and the state from which they come.
func withoutSecrets(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v[secretSignature] == secretMark {
			return "a secret"
		}
		for key, member := range v {
			v[key] = withoutSecrets(member)
		}
	case []any:
		for i, element := range v {
			v[i] = withoutSecrets(element)
		}
	}
	return value
}

// The marks of a secret in a plan.
const (
	secretSignature = "4dabf18193072939515e22adb298388d"
	secretMark      = "1b47061264138c4ac30d75fd1eb44270"
)

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
