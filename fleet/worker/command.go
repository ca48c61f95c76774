package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"go.temporal.io/sdk/activity"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/internal/process"
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
