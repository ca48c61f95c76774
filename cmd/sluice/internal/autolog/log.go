package autolog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
)

// maxSize limits a log, in bytes: beyond it only failures and warnings are written, up to twice as much.
const maxSize = 16 << 20

// Options describe the operation of a log.
type Options struct {
	Home      string // Pulumi's
	Stack     string // "organization/project/stack"
	Operation string // as in the history
	Known     *redact.Set
	Now       time.Time
	Limits    Limits
}

// Log is the log of an operation that runs. It is safe for concurrent use.
type Log struct {
	known   *redact.Set
	file    *os.File
	events  *display.EventLog
	mu      sync.Mutex // guards the fields below
	size    int64
	omitted int
}

// Open begins a log, and removes old ones.
func Open(o Options) (*Log, error) {
	directory := filepath.Join(folder(o.Home), escape(o.Stack))
	if err := private.MkdirAll(directory, private.Folder); err != nil {
		return nil, err
	}
	name := o.Now.UTC().Format(timeFormat) + "-" + o.Operation + "-" + strconv.Itoa(os.Getpid()) + extension
	file, err := private.Truncate(filepath.Join(directory, name))
	if err != nil {
		return nil, err
	}
	l := &Log{known: o.Known, file: file}
	l.events = display.StreamEvents(counter{l}, true)
	return l, prune(o.Home, o.Limits, o.Now)
}

// counter counts what is written to a log. The holder of the log's mutex writes.
type counter struct{ log *Log }

func (c counter) Write(p []byte) (int, error) {
	n, err := c.log.file.Write(p)
	c.log.size += int64(n)
	return n, err
}

// Observe writes an event.
func (l *Log) Observe(e stages.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, matters := l.bare(e)
	switch {
	case e == nil:
		return
	case l.size > maxSize && !matters, l.size > 2*maxSize && !ends(e):
		l.omitted++
		return
	case ends(e) && l.omitted > 0:
		l.events.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{
			Severity: stages.Warning, Message: fmt.Sprintf("%d events were left out, because the log was larger than %d MiB", l.omitted, maxSize>>20),
		}})
		l.omitted = 0
	}
	l.events.Observe(e)
}

func ends(e stages.Event) bool {
	switch e.(type) {
	case stages.Summary, stages.Ended:
		return true
	}
	return false
}

// bare returns an event without properties, and reports whether it matters in a log that is full. It returns nil for events without news.
func (l *Log) bare(e stages.Event) (bare stages.Event, matters bool) {
	switch e := e.(type) {
	case stages.Prelude:
		return stages.Prelude{Operation: e.Operation, IsPreview: e.IsPreview}, true
	case stages.StepStarted:
		return stages.StepStarted{Step: step(e.Step), At: e.At}, false
	case stages.StepDone:
		return stages.StepDone{Step: step(e.Step), At: e.At}, false
	case stages.StepFailed:
		return stages.StepFailed{Step: step(e.Step), Status: e.Status, At: e.At}, true
	case stages.Diagnostic:
		if e.Ephemeral {
			return nil, false
		}
		e.Message = l.known.Mask(e.Message)
		return e, e.Severity >= stages.Warning
	case stages.Stdout:
		return stages.Stdout{Message: l.known.Mask(e.Message)}, false
	case stages.PolicyViolation:
		e.Message = l.known.Mask(e.Message)
		return e, true
	case stages.PolicyRemediation:
		return stages.PolicyRemediation{Policy: e.Policy, URN: e.URN}, false
	case stages.Summary:
		return stages.Summary{
			IsPreview: e.IsPreview, MaybeCorrupt: e.MaybeCorrupt, Lost: e.Lost, Kept: e.Kept, Duration: e.Duration, Changes: e.Changes,
			Possible: e.Possible, Result: e.Result, Policies: e.Policies,
		}, true
	case stages.Ended:
		return e, true
	}
	return nil, false
}

func step(s stages.StepInfo) stages.StepInfo {
	return stages.StepInfo{Op: s.Op, URN: s.URN, Type: s.Type, Provider: s.Provider, Internal: s.Internal}
}

// Close ends the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.events.Close(), l.file.Close())
}
