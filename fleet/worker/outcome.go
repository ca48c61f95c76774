package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/fleet/run"
)

// The exit statuses of sluice with a specific meaning.
const (
	statusUsage   = 2
	statusNoStack = 6
	statusLocked  = 9
	statusDrifted = 10
)

// throttled matches errors of throttling providers. Sluice passes on their texts and no code.
var throttled = regexp.MustCompile(`(?i)\bthrottl|rate.?exceeded|rate.?limit|too ?many ?requests|request ?limit ?exceeded|\b(status(code)?:? ?)429\b|resource_?exhausted|slow ?down`)

// kindOf returns the kind of a failure.
func kindOf(e ended) run.Kind {
	switch e.status {
	case statusLocked:
		return run.Locked
	case statusUsage:
		return run.Program
	case -1:
		return run.Lost
	}
	for _, text := range e.events.errors {
		if throttled.MatchString(text) {
			return run.Throttled
		}
	}
	return run.Program
}

// again returns how long to wait before the next attempt after a failure, and whether there is one. attempt counts from 1. It uses no clock, because
// those of the server and of workers may differ.
func again(kind run.Kind, attempt int32) (time.Duration, bool) {
	const (
		patience = 124 // for a lock: about an hour
		attempts = 8   // while a provider is throttled: about ten minutes
	)
	switch kind {
	case run.Locked:
		return min(time.Second<<min(attempt-1, 5), 30*time.Second), attempt < patience
	case run.Throttled:
		return min(5*time.Second<<min(attempt-1, 6), 5*time.Minute), attempt < attempts
	case run.Lost:
		return time.Second, attempt < attempts
	case run.Setup: // another worker may be complete
		return time.Second << attempt, attempt < 4
	}
	return 0, false
}

// ended is the result of a process of sluice.
type ended struct {
	status  int // -1 if it was ended by a signal
	printed string
	events  *follower
	stopped bool // it was interrupted, because it was cancelled or because this worker ends
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
