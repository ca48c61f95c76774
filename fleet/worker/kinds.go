package worker

import (
	"regexp"
	"time"

	"github.com/sluice-iac/sluice/fleet/run"
)

// The exit statuses of sluice with a specific meaning.
const (
	statusUsage   = 2
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
