package backend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
)

// reader reads the states of stacks. What is only in a journal, because an operation is running or could not be recovered, is
// applied in memory, and the user is told so.
//
// Invariant: it writes nothing, and says once for each stack what is read of it.
type reader struct {
	*storage
	failed sync.Map // by Ref: why recovering it failed in this process, if not because of its lock
	told   sync.Map // by Ref: the user knows what is read
}

// attempts is how often a journal is read that seems not to belong to the stack file: the operation that writes both may have
// ended, or another one begun, between the two reads.
const attempts = 3

// read returns the content that the stack file would have if its journal were recovered now, and the name of the file.
func (r *reader) read(ctx context.Context, s stackFiles) (content []byte, name string, err error) {
	j := s.journal()
	there := false
	if !r.legacy {
		there, err = j.Exists(ctx)
	}
	if err == nil && !there {
		return s.read(ctx)
	}
	fault := err
	for range attempts {
		if content, name, err = s.read(ctx); err != nil || !there {
			break
		}
		var present []byte
		var report *journal.Report
		if present, report, fault = journal.Peek(ctx, j.recovery(content)); fault != nil {
			continue
		}
		if report == nil { // it has ended
			return s.read(ctx)
		}
		r.tell(ctx, s, report)
		return present, name, nil
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, "", err
	}
	r.unreadable(s, fault)
	return content, name, nil
}

// unreadable says that the journal is not part of what is read, and why.
func (r *reader) unreadable(s stackFiles, err error) {
	if e := undecidable(s, err); e != nil {
		r.undecided(s, e)
		return
	}
	if _, told := r.told.LoadOrStore(s.ref, true); told {
		return
	}
	r.options.note(fmt.Sprintf("the journal of stack %s cannot be read: %v. What is read is the state of its last checkpoint", s.ref.Name, err))
}

// undecided says that the journal needs a decision, unless the user knows.
func (r *reader) undecided(s stackFiles, err *JournalError) {
	if _, told := r.told.LoadOrStore(s.ref, true); !told {
		r.options.undecided(err)
	}
}

// tell says what of the journal is part of what is read, and why it was not recovered.
func (r *reader) tell(ctx context.Context, s stackFiles, report *journal.Report) {
	if _, told := r.told.Load(s.ref); told {
		return
	}
	locks, err := lock.List(ctx, s.lockOptions())
	if slices.ContainsFunc(locks, lock.Held.IsOurs) {
		return // it is of what this process does
	}
	if _, told := r.told.LoadOrStore(s.ref, true); told {
		return
	}
	failed, _ := r.failed.Load(s.ref)
	if err == nil {
		err, _ = failed.(error)
	}
	begun := fmt.Sprintf("operation on stack %s, begun at %s,", s.ref.Name, report.Start.Format(time.RFC3339))
	included := "What is read includes " + included(report) + " from its journal; nothing was written"
	switch whose(locks) {
	case holderRuns:
		r.options.note(fmt.Sprintf("an %s is running (%s). %s", begun, describe(locks), included))
	case holderUnknown:
		r.options.note(fmt.Sprintf("an %s has not ended, and whether it still runs cannot be found out from here (%s). %s", begun, describe(locks), included),
			advice.On(advice.CancelDead))
	case holderForeign:
		r.options.note(fmt.Sprintf("the last %s was interrupted, and is not recovered while another tool has the lock (%s). %s", begun, describe(locks), included))
	default:
		why := "and what it completed has not been recovered from its journal yet"
		if err != nil {
			why = fmt.Sprintf("and what it completed could not be recovered from its journal now: %v", err)
		}
		r.options.note(fmt.Sprintf("the last %s was interrupted, %s. %s; the next command on the stack recovers it", begun, why, included))
	}
}

// holder is what is known of the operation that a journal is from, by the locks of the stack.
type holder uint8

const (
	holderGone    holder = iota // it has ended: there is no lock, or a dead one
	holderRuns                  // it runs on this machine
	holderUnknown               // it may run on another machine, or nobody can read the lock
	holderForeign               // it has ended, and another tool has the lock
)

// whose judges the locks. A lock of sluice is that of the operation: whoever takes one later recovers the journal.
func whose(locks []lock.Held) holder {
	judged := holderGone
	for _, l := range locks {
		switch {
		case !l.Unknown && l.Owner.Tool != lock.Tool:
			judged = max(judged, holderForeign)
		case l.Life == lock.Alive:
			return holderRuns
		case l.Life != lock.Dead:
			return holderUnknown
		}
	}
	return judged
}

func describe(locks []lock.Held) string {
	texts := make([]string, len(locks))
	for i, l := range locks {
		if texts[i] = l.Describe(); l.Unknown {
			texts[i] += ": " + l.Path
		}
	}
	return strings.Join(texts, ", and ")
}

// included counts what the journal adds.
func included(r *journal.Report) string {
	changes, open := "no change", ""
	switch n := len(shownChanges(r.Done)); n {
	case 0:
	case 1:
		changes = "the change that it completed"
	default:
		changes = fmt.Sprintf("the %d changes that it completed", n)
	}
	switch n := len(r.Open); n {
	case 0:
	case 1:
		open = fmt.Sprintf(" and one operation that has not ended (%s %s)", r.Open[0].Type, r.Open[0].Resource.URN)
	default:
		open = fmt.Sprintf(" and %d operations that have not ended (%s %s and others)", n, r.Open[0].Type, r.Open[0].Resource.URN)
	}
	return changes + open
}
