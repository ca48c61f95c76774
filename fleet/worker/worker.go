package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Worker carries out operations. It is safe for concurrent use.
type Worker struct {
	Fleet  *spec.Fleet   // from the file on this machine
	Home   server.Home   // for checkouts and logs
	Sluice string        // the program
	Client client.Client // for requests of second interrupts; may be nil

	version string // of sluice
	name    string // of the machine
	works   *works // nil for a worker that only looks
}

// New returns a worker for a fleet.
func New(ctx context.Context, fleet *spec.Fleet, home server.Home, sluice string, c client.Client) (*Worker, error) {
	w := &Worker{Fleet: fleet, Home: home, Sluice: sluice, Client: c, works: newWorks()}
	w.name, _ = os.Hostname() // only for people
	out, err := exec.CommandContext(ctx, sluice, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be run: %w; build it, or name it with --sluice", sluice, err)
	}
	w.version = strings.TrimSpace(string(out))
	return w, nil
}

// FindSluice returns the path of sluice: the named one, or the one beside this executable, or the one on PATH.
func FindSluice(named string) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), "sluice")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("sluice")
	if err != nil {
		return "", fmt.Errorf("sluice is not on PATH and not beside sluice-fleet: install it, or name it with --sluice")
	}
	return path, nil
}

// stack is a stack in a folder of this machine.
type stack struct {
	spec.Stack
	directory string
}

// command returns a command of sluice in the folder of a stack.
func (w *Worker) command(s stack, args ...string) *exec.Cmd {
	c := exec.Command(w.Sluice, slices.Concat([]string{"-C", s.directory, "--non-interactive", "--color", "never"}, args)...)
	c.Env = w.environment(s.Name)
	return c
}

// run runs sluice in the folder of a stack and returns its standard output.
func (w *Worker) run(ctx context.Context, s stack, args ...string) (string, error) {
	c := w.command(s, args...)
	out := &limited{most: mostOutput}
	err := w.runTo(ctx, c, out)
	return out.text(), err
}

// runTo runs a command of sluice with the standard output out. The error has its error output.
func (w *Worker) runTo(ctx context.Context, c *exec.Cmd, out io.Writer) error {
	said := &limited{most: mostSaid}
	c.Stdout, c.Stderr, c.WaitDelay = out, said, lingering
	group, err := process.Start(c)
	if err != nil {
		return fmt.Errorf("start sluice: %w", err)
	}
	defer context.AfterFunc(ctx, group.Kill)()
	err = c.Wait()
	group.Release()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has succeeded, and left a process that holds its output
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		ended.Stderr = []byte(said.text())
	}
	return err
}

// environment returns the environment of child processes for a stack: without the key for Temporal's data, and without variables
// reserved for other stacks.
func (w *Worker) environment(name string) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(variable, "SLUICE_FLEET_") || w.Fleet.Withheld(name, variable) ||
			// package main has set it from the variable SLUICE_.
			strings.HasPrefix(variable, "PULUMI_") && w.Fleet.Withheld(name, "SLUICE_"+strings.TrimPrefix(variable, "PULUMI_"))
	})
}

// stale is the maximal age of a request, by the clock of this worker. It is far longer than differences of clocks and waiting times; it limits how
// long the operator of the server can replay sealed data.
const stale = 7 * 24 * time.Hour

// unbidden returns the error of an activity that is refused for good.
func unbidden(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), "unbidden", nil)
}

// checkBidden refuses an operation that was sealed for another workflow than the present one, or long ago.
func (w *Worker) checkBidden(attempt string, r run.StackRequest, now time.Time) error {
	switch age := now.Sub(r.Asked); {
	case !r.Bound || r.Attempt != attempt:
		return fmt.Errorf("the operation on %s was sealed for another run", r.Stack.Name)
	case age > stale || age < -stale:
		return fmt.Errorf("the operation on %s was sealed on %s, more than %d days from now: check the clocks of the machines, or give the command again",
			r.Stack.Name, r.Asked.UTC().Format(time.DateTime), stale/(24*time.Hour))
	}
	return w.checkSchedule(r.Schedule, r.Operation)
}

// checkSchedule refuses schedules that are not in this worker's fleet.yaml. name is "" for a run without a schedule.
func (w *Worker) checkSchedule(name string, op run.Operation) error {
	if name == "" || slices.ContainsFunc(w.Fleet.Schedules, func(s spec.Schedule) bool { return s.Name == name && run.Operation(s.Operation) == op }) {
		return nil
	}
	return fmt.Errorf("fleet.yaml has no schedule %q with the operation %s", name, op)
}

// Ask is the activity that requests a place from a limit. It begins the limit's workflow unless that runs.
func (w *Worker) Ask(ctx context.Context, fleet string, c run.Claim) error {
	_, err := w.Client.SignalWithStartWorkflow(ctx, c.Limit, run.AskSignal, c, client.StartWorkflowOptions{
		ID: c.Limit, TaskQueue: run.WorkflowQueue(fleet), WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, run.LimitWorkflow, run.Claims{})
	return err
}

// Ended is the activity that returns the claims of workflows that have ended.
func (w *Worker) Ended(ctx context.Context, claims []run.Claim) ([]run.Claim, error) {
	var out []run.Claim
	for _, c := range claims {
		is, err := w.Client.DescribeWorkflowExecution(ctx, c.Workflow, c.Run)
		var missing *serviceerror.NotFound
		switch {
		case errors.As(err, &missing):
			out = append(out, c)
		case err != nil:
			return nil, err
		case is.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			out = append(out, c)
		}
	}
	return out, nil
}

// tag is the tag of a stack with the inputs of its last update by a fleet.
const tag = "sluice:fleet"

// record has digests of the inputs of an update, and of the resulting state.
type record struct{ program, settings, inputs, state string }

func (r record) String() string {
	return fmt.Sprintf("program=%s settings=%s inputs=%s state=%s", r.program, r.settings, r.inputs, r.state)
}

// readRecord parses the text of a tag. For an invalid text it returns the zero record, which equals no other.
func readRecord(text string) record {
	var r record
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "program":
			r.program = value
		case "settings":
			r.settings = value
		case "inputs":
			r.inputs = value
		case "state":
			r.state = value
		}
	}
	return r
}

// since describes the changes since the update of r, "" if there are none.
func (r record) since(now record) string {
	if r.program == "" {
		return "the fleet had not updated it before"
	}
	var changed []string
	for _, c := range []struct{ what, was, is string }{
		{"the program", r.program, now.program}, {"the settings", r.settings, now.settings},
		{"the outputs that it reads", r.inputs, now.inputs}, {"what is recorded", r.state, now.state},
	} {
		if c.was != c.is || c.is == "" {
			changed = append(changed, c.what)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return strings.Join(changed, " and ") + " changed since its last update"
}

// remembered returns the record in the tag of a stack.
func (w *Worker) remembered(ctx context.Context, s stack) (record, error) {
	text, err := w.run(ctx, s, "stack", "tag", "ls", "--json", "--stack", s.Stack.Stack)
	if err != nil {
		return record{}, readable(err)
	}
	tags := map[string]string{}
	if err := json.Unmarshal([]byte(text), &tags); err != nil {
		return record{}, fmt.Errorf("the tags of the stack: %w", err)
	}
	return readRecord(tags[tag]), nil
}

// remember writes the tag of a stack.
func (w *Worker) remember(ctx context.Context, s stack, r record) error {
	_, err := w.run(ctx, s, "stack", "tag", "set", "--stack", s.Stack.Stack, tag, r.String())
	return readable(err)
}

// now returns the record for an update. It lacks the digests of unknown inputs.
func (w *Worker) now(ctx context.Context, s stack, is recorded, r run.StackRequest) (record, error) {
	program, err := programDigest(s.directory, w.Fleet.Root, w.version)
	if err != nil {
		return record{}, err
	}
	settings, err := w.settings(s)
	if err != nil {
		return record{}, err
	}
	return record{program: program, settings: settings, inputs: w.inputs(ctx, s, is, r), state: is.fingerprint}, nil
}

// settings returns the digest of the settings file and of the settings in fleet.yaml.
func (w *Worker) settings(s stack) (string, error) {
	short := s.Stack.Stack[strings.LastIndexByte(s.Stack.Stack, '/')+1:]
	var parts [][]byte
	for _, end := range []string{".yaml", ".yml", ".json"} {
		text, err := os.ReadFile(filepath.Join(s.directory, "Pulumi."+short+end))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		parts = append(parts, text)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		parts = append(parts, []byte(key), []byte(s.Config[key]))
	}
	return digest(parts...), nil
}

// inputs returns the digest of the outputs that the stack reads, "" if one is unknown or a preview predicts its change.
func (w *Worker) inputs(ctx context.Context, s stack, is recorded, r run.StackRequest) string {
	return run.InputsDigest(is.reads, func(reference string) string {
		if !r.Planned[reference].IsEmpty() {
			return ""
		}
		if outputs := r.Inputs[reference]; outputs != "" {
			return outputs
		}
		// The stack is not in the fleet.
		other, err := w.recorded(ctx, s, reference)
		if err != nil || other.missing {
			return ""
		}
		return other.outputs
	})
}

// same returns the digest of a stack's inputs at its last update, if nothing else has changed since.
func (w *Worker) same(ctx context.Context, s stack, is recorded) (inputs string, same bool) {
	if is.missing || is.pending > 0 {
		return "", false
	}
	was, err := w.remembered(ctx, s)
	if err != nil || was.program == "" || was.state != is.fingerprint {
		return "", false
	}
	program, err := programDigest(s.directory, w.Fleet.Root, w.version)
	if err != nil || was.program != program {
		return "", false
	}
	settings, err := w.settings(s)
	return was.inputs, err == nil && was.settings == settings
}

// Survey is the activity that reads the recorded properties of stacks. Heartbeats have the results so far, so that another worker can continue it.
func (w *Worker) Survey(ctx context.Context, r run.Survey) (map[string]run.Surveyed, error) {
	attempt := activity.GetInfo(ctx).WorkflowExecution.RunID
	if r.Attempt != attempt {
		return nil, unbidden(errors.New("the survey was sealed for another run"))
	}
	if err := w.checkSchedule(r.Schedule, r.Does); err != nil {
		return nil, unbidden(err)
	}
	found := map[string]run.Surveyed{}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, &found); err != nil {
			found = map[string]run.Surveyed{} // of another version: start again
		}
	}
	maps.DeleteFunc(found, func(_ string, is run.Surveyed) bool { return is.Attempt != attempt })
	rest := slices.DeleteFunc(slices.Clone(r.Stacks), func(s spec.Stack) bool { _, done := found[s.Name]; return done })
	var mu sync.Mutex // guards found
	beating, stop := context.WithCancel(ctx)
	var beats conc.WaitGroup
	beats.Go(func() {
		for next := error(nil); next == nil; next = await.For(beating, time.Second) {
			mu.Lock()
			activity.RecordHeartbeat(ctx, found)
			mu.Unlock()
		}
	})
	err := w.Look(ctx, rest, func(name string, is run.Surveyed) {
		mu.Lock()
		defer mu.Unlock()
		is.Attempt = attempt
		found[name] = is
	})
	stop()
	beats.Wait()
	return found, err
}

// Look reads the recorded properties of stacks, and calls take with each, one after another.
func (w *Worker) Look(ctx context.Context, stacks []spec.Stack, take func(name string, is run.Surveyed)) error {
	const atOnce = 4
	var mu sync.Mutex // held during take
	p := pool.New().WithMaxGoroutines(atOnce)
	for _, s := range stacks {
		p.Go(func() {
			found := w.look(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil { // otherwise it was cut off
				take(s.Name, found)
			}
		})
	}
	p.Wait()
	return context.Cause(ctx)
}

func (w *Worker) look(ctx context.Context, s spec.Stack) run.Surveyed {
	problem := func(err error) run.Surveyed { return run.Surveyed{Problem: shortened(err.Error(), mostText)} }
	here, err := w.locate(ctx, s)
	if err != nil {
		return problem(err)
	}
	project, err := projectOf(here.directory)
	if err != nil {
		return problem(err)
	}
	is, err := w.recorded(ctx, here, s.Stack)
	if err != nil {
		return problem(err)
	}
	found := run.Surveyed{Known: order.Known{Project: project, Reads: is.reads}, Outputs: is.outputs}
	found.Inputs, found.Same = w.same(ctx, here, is)
	return found
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
		return run.Outcome{Status: run.Canceled, Why: "the run was cancelled"}, nil
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

// locate returns a stack with its folder on this machine, which is below the folder of the fleet, or below a checkout, even if links are followed.
func (w *Worker) locate(ctx context.Context, s spec.Stack) (stack, error) {
	root := w.Fleet.Root
	if s.Git != "" {
		checkout, err := w.checkOut(ctx, s)
		if err != nil {
			return stack{}, err
		}
		root = checkout
	}
	directory, err := below(root, s.Directory)
	if err != nil {
		return stack{}, err
	}
	if !spec.HasProject(directory) {
		return stack{}, fmt.Errorf("%s has no Pulumi.yaml", directory)
	}
	return stack{s, directory}, nil
}

// checkOut returns a folder with a revision of a repository. The workers of this machine share it.
func (w *Worker) checkOut(ctx context.Context, s spec.Stack) (string, error) {
	git := func(folder string, args ...string) (string, error) {
		return git(ctx, w.environment(s.Name), folder, args...)
	}
	sum := sha256.Sum256([]byte(s.Git + "\n" + s.Ref))
	folder := w.Home.Path("git", hex.EncodeToString(sum[:8]))
	if err := private.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	lock := flock.New(folder + ".lock")
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }() // the system releases it too
	if _, err := os.Stat(filepath.Join(folder, ".git")); errors.Is(err, os.ErrNotExist) {
		if _, err := git(folder, "init", "--quiet"); err != nil {
			return "", err
		}
	}
	if _, err := git(folder, "fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--", s.Git, s.Ref); err != nil {
		return "", err
	}
	wanted, err := git(folder, "rev-parse", "FETCH_HEAD")
	if err != nil {
		return "", err
	}
	if is, err := git(folder, "rev-parse", "--verify", "--quiet", "HEAD"); err == nil && is == wanted {
		return folder, nil
	}
	_, err = git(folder, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
	return folder, err
}

// git runs git without hooks, prompts and transports that run programs.
func git(ctx context.Context, environment []string, folder string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{
		"-C", folder, "-c", "core.hooksPath=" + os.DevNull, "-c", "protocol.allow=never", "-c", "protocol.https.allow=always",
		"-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always", "-c", "core.symlinks=true",
	}, args...)...)
	// Variables set by a git hook, or by another git command that has called, are about another repository.
	environment = slices.DeleteFunc(environment, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{
			"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
		}, name)
	})
	c.Env = append(environment, "GIT_TERMINAL_PROMPT=0", "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	out, said := &limited{most: mostSaid}, &limited{most: mostSaid}
	c.Stdout, c.Stderr = out, said
	if err := c.Run(); err != nil {
		text := err.Error()
		if s := strings.TrimSpace(said.text()); s != "" {
			text = s
		}
		return "", fmt.Errorf("git %s: %s", args[0], text)
	}
	return strings.TrimSpace(out.text()), nil
}

// recorded returns the recorded properties of a stack, by its name for sluice.
func (w *Worker) recorded(ctx context.Context, s stack, name string) (recorded, error) {
	reading, write := io.Pipe()
	var r recorded
	var misread error
	var wg conc.WaitGroup
	wg.Go(func() {
		r, misread = parse(reading)
		_, _ = io.Copy(io.Discard, reading) // the process ends only when its output has been read
	})
	err := w.runTo(ctx, w.command(s, "stack", "export", "--stack", name), write)
	_ = write.Close() // never fails
	wg.Wait()
	if statusOf(err) == noStack {
		return recorded{missing: true}, nil
	}
	if err != nil {
		return recorded{}, readable(err)
	}
	return r, misread
}
