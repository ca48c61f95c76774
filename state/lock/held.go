package lock

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state/store"
)

// Held is a lock that a process holds.
type Held struct {
	Path  string // of the lock file, for people
	URL   string // for messages
	Owner Owner
	// Unknown is true if the file cannot be read, so that its owner is not known.
	Unknown bool
	// Life is whether the process is alive.
	Life Life
	// Renewed is true if the holder has renewed its lease lately, by the clocks of its machine and of this one. It is true for a
	// working holder. If the clocks differ it may be false.
	Renewed bool
	// Session is the process's connection to the store, nil if there is none. A process has one before it has written its
	// lock file; Path is then the folder of the file.
	Session *store.Session

	info   store.Info // of the lock file; zero if there is none
	folder string
}

// IsOurs reports whether this process holds the lock.
func (l Held) IsOurs() bool {
	o, self := l.Owner, Self()
	return !l.Unknown && o.Tool == self.Tool && o.PID == self.PID && o.Hostname == self.Hostname &&
		o.Boot == self.Boot && o.Start == self.Start && o.Namespace == self.Namespace
}

// HasEnded reports whether the holder certainly does nothing more under the lock: its process is dead, or it has given the lock up.
func (l Held) HasEnded() bool { return l.Life == Dead || !l.Unknown && l.Owner.Lease.GivenUp }

// Life is the state of another process, as far as this one can find out.
type Life uint8

// The states of the holder of a lock.
const (
	LifeUnknown Life = iota // it is on another machine, or its lock has too little information
	Alive                   // it runs on this machine
	Dead                    // it has certainly ended
)

// HeldError lists the holders of the lock. Its first line, and the beginning of the following ones, are part of the
// contract with scripts ([state.md 4.6]).
//
// [state.md 4.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#46-locks
type HeldError struct{ Locks []Held }

func (e *HeldError) Error() string {
	if len(e.Locks) == 0 {
		return "the stack is currently locked by a process that has just given the lock back. Try again."
	}
	var b strings.Builder
	locks, processes, files := "1 lock", "process", "lock file"
	if n := len(e.Locks); n > 1 {
		locks, processes, files = fmt.Sprintf("%d locks", n), "processes", "lock files"
	}
	fmt.Fprintf(&b, "the stack is currently locked by %s. ", locks)
	if slices.ContainsFunc(e.Locks, func(l Held) bool { return l.Life != Alive }) {
		fmt.Fprintf(&b, "Either wait for the other %s to end or delete the %s with `sluice cancel`.", processes, files)
	} else if !slices.ContainsFunc(e.Locks, func(l Held) bool { return !l.IsOurs() }) {
		b.WriteString("It is this process itself that holds it. Wait for its other operation on the stack to end.")
	} else { // `sluice cancel` refuses
		fmt.Fprintf(&b, "Wait for the other %s to end.", processes)
	}
	for _, l := range e.Locks {
		fmt.Fprintf(&b, "\n  %s: created by %s", l.URL, l.Describe())
	}
	return b.String()
}

// Describe returns the owner of the lock, since when it holds it, and whether it is alive.
func (l Held) Describe() string {
	if l.Unknown && l.info.Key == "" {
		return fmt.Sprintf("an unknown owner: the session %s of the role %s, which is not sluice's", printable.Line(l.Session.ID), printable.Line(l.Session.Account))
	}
	if l.Unknown {
		return "an unknown owner: the lock file cannot be read"
	}
	o := l.Owner
	text := fmt.Sprintf("%s@%s (pid %d)", printable.Line(o.Username), printable.Line(o.Hostname), o.PID)
	if !o.Timestamp.IsZero() {
		text += " at " + o.Timestamp.Format(time.RFC3339)
	}
	if o.Lease.Operation != "" {
		text += " for " + o.Lease.Operation
	}
	switch {
	case l.info.Key == "":
		text += fmt.Sprintf("; it has not written its lock file yet, and its session is open (%s)", l.Session.ID)
	case o.Lease.GivenUp:
		text += "; it has ended and has left something that the next operation on the stack completes"
	case l.IsOurs():
		text += "; this is this process"
	case l.Life == Alive:
		text += "; the process is running"
	case l.Life == Dead:
		text += "; the process has ended, so removing the lock is safe"
	case !o.Lease.Renewed.IsZero():
		text += "; it was last known to be alive at " + o.Lease.Renewed.Format(time.RFC3339)
	}
	return text
}

// LostError reports that a lock that this process held is no longer certainly its own.
type LostError struct {
	Path   string
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the lock of the stack was lost (%s): %s; no further operation is started", e.Path, e.Reason)
}
