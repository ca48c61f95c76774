package backend

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/urn"
)

// reader reads the states of stacks. A journal that exists because an operation is running or could not be recovered is
// applied in memory, and a note is given to the user. The user also gets a note about other processes that work on the stack
// meanwhile.
//
// Invariant: it writes nothing, and gives one note for each stack.
type reader struct {
	storage *storage
	failed  sync.Map // by Ref: the error of recovering it in this process, unless it was about its lock
	noted   sync.Map // by Ref: the note was given
}

// attempts is the number of times a stack is read whose parts do not seem to belong together: the operation that writes them
// may have ended, or another one begun, between two reads.
const attempts = 3

// reading is the result of reading a stack.
type reading struct {
	content []byte          // of the stack file as if its journal were recovered now
	name    string          // of the stack file
	report  *journal.Report // on the journal; nil if there is none, or it is not part of the content
	holder  holder          // who works on the stack
}

// read reads a stack and finds out who works on it.
func (r *reader) read(ctx context.Context, s stackFiles) (reading, error) {
	in, err := r.glance(ctx, s)
	if err == nil && in.report == nil {
		in.holder = r.look(ctx, s)
	}
	return in, err
}

// glance reads a stack without looking for processes that work on it and keep no journal.
func (r *reader) glance(ctx context.Context, s stackFiles) (in reading, err error) {
	j := s.journal()
	there, err := j.Exists(ctx)
	if err == nil && !there {
		in.content, in.name, err = s.read(ctx)
		return in, err
	}
	fault := err
	var before []byte
	for left := attempts - 1; left >= 0; left-- {
		if in.content, in.name, err = s.read(ctx); err != nil || !there {
			break
		}
		var present []byte
		var report *journal.Report
		if present, report, fault = journal.Peek(ctx, j.recovery(in.content)); fault != nil {
			continue
		}
		if report == nil { // it has ended
			in.content, in.name, err = s.read(ctx)
			return in, err
		}
		locks, unlisted := lock.List(ctx, s.lockOptions())
		if in.holder = whose(locks); unlisted != nil {
			in.holder = holderUnknown
		}
		if in.holder == holderGone && left > 0 && !bytes.Equal(before, present) {
			before = present // the process that wrote it may have ended since; a journal that is still there afterwards was left behind
			continue
		}
		in.content, in.report = present, report
		r.explain(s, in, locks, unlisted)
		return in, nil
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return reading{}, err
	}
	r.unreadable(s, fault)
	return in, nil
}

// snapshot reads a state, unchecked, and finds out which of its pending operations are under way. Without a decrypter its secrets
// are left sealed.
func (r *reader) snapshot(ctx context.Context, s stackFiles, decrypter decrypters) (*state.Snapshot, error) {
	var before []byte
	for left := attempts - 1; ; left-- {
		in, err := r.read(ctx, s)
		if err != nil {
			return nil, err
		}
		snapshot, err := s.decode(ctx, in.content, in.name, decrypter)
		if err != nil || snapshot == nil {
			return nil, err
		}
		if in.holder == holderGone && in.report == nil && len(snapshot.Pending) > 0 && left > 0 && !bytes.Equal(before, in.content) {
			before = in.content // as in glance
			continue
		}
		in.mark(snapshot.Pending)
		return snapshot, nil
	}
}

// mark marks the operations that the process working on the stack has begun. Without a journal they cannot be told apart from those
// that were pending before.
func (in reading) mark(ops []state.Pending) {
	switch {
	case in.holder == holderGone, in.holder == holderForeign && in.report != nil:
		return
	}
	type operation struct {
		state.PendingType
		urn.URN
	}
	earlier := map[operation]int{}
	if in.report != nil {
		for _, op := range in.report.Earlier {
			earlier[operation{op.Type, op.Resource.URN}]++
		}
	}
	for i, op := range ops {
		key := operation{op.Type, op.Resource.URN}
		ops[i].UnderWay = earlier[key] == 0
		earlier[key] = max(earlier[key]-1, 0)
	}
}

// look finds out who works on a stack without a journal, and gives the user a note. The holder of the lock of the other stack of an
// operation on two stacks counts as well.
func (r *reader) look(ctx context.Context, s stackFiles) holder {
	locks, err := lock.List(ctx, s.lockOptions())
	pairs := stackIntents{s}
	if err == nil {
		var others []lock.Held
		others, err = pairs.locks(ctx)
		locks = append(locks, others...)
	}
	if err != nil {
		r.once(s, fmt.Sprintf("whether another command is working on stack %s cannot be found out: %v", s.ref.Name, err))
		return holderUnknown
	}
	is := whose(locks)
	switch is {
	case holderRuns:
		r.once(s, fmt.Sprintf("another command is working on stack %s (%s). What is read is a moment of it%s",
			s.ref.Name, describe(locks), pairs.unended(ctx)))
	case holderUnknown, holderForeign:
		r.once(s, fmt.Sprintf("stack %s is locked, and whether the command that has the lock still runs cannot be found out from here (%s). "+
			"What is read may be a moment of it%s", s.ref.Name, describe(locks), pairs.unended(ctx)), advice.On(advice.CancelDead))
	}
	return is
}

// once gives the user a note about a stack, unless one was given before.
func (r *reader) once(s stackFiles, text string, as ...advice.Advice) {
	if _, noted := r.noted.LoadOrStore(s.ref, true); !noted {
		r.storage.options.note(text, as...)
	}
}

// unreadable notes that the journal is not part of the reading, and why.
func (r *reader) unreadable(s stackFiles, err error) {
	if e := undecidable(s, err); e != nil {
		r.undecided(s, e)
		return
	}
	r.once(s, fmt.Sprintf("the journal of stack %s cannot be read: %v. What is read is the state of its last checkpoint", s.ref.Name, err))
}

// undecided notes that the journal needs a decision, unless that was noted before.
func (r *reader) undecided(s stackFiles, err *JournalError) {
	if _, noted := r.noted.LoadOrStore(s.ref, true); !noted {
		r.storage.options.undecided(err)
	}
}

// explain notes which part of the journal is in the reading, and why the journal was not recovered. unlisted is why the locks could
// not be listed.
func (r *reader) explain(s stackFiles, in reading, locks []lock.Held, unlisted error) {
	begun := fmt.Sprintf("operation on stack %s, begun at %s,", s.ref.Name, in.report.Start.Format(time.RFC3339))
	included := included(in.report) + " from its journal; nothing was written"
	switch in.holder {
	case holderOurs: // this process made it
	case holderRuns:
		r.once(s, fmt.Sprintf("an %s is running (%s). What is read is a moment of it, with %s", begun, describe(locks), included))
	case holderUnknown:
		why := describe(locks)
		if unlisted != nil {
			why = unlisted.Error()
		}
		r.once(s, fmt.Sprintf("an %s has not ended, and whether it still runs cannot be found out from here (%s). What is read includes %s",
			begun, why, included), advice.On(advice.CancelDead))
	case holderForeign:
		r.once(s, fmt.Sprintf("the last %s was interrupted, and is not recovered while another tool has the lock (%s). What is read includes %s",
			begun, describe(locks), included))
	default:
		why := "and what it completed has not been recovered from its journal yet"
		if err, failed := r.failed.Load(s.ref); failed {
			why = fmt.Sprintf("and what it completed could not be recovered from its journal now: %v", err)
		}
		r.once(s, fmt.Sprintf("the last %s was interrupted, %s. What is read includes %s; the next command on the stack recovers it", begun, why, included))
	}
}

// holder classifies who works on a stack, by its locks.
type holder uint8

const (
	holderGone    holder = iota // there is no lock, or only that of a holder that has ended
	holderOurs                  // it is this process
	holderRuns                  // it runs on this machine, or was alive a moment ago on another one
	holderUnknown               // it may run on another machine, or nobody can read the lock
	holderForeign               // it is another tool
)

// whose judges the locks. A lock of sluice belongs to the operation that keeps the journal, since a later holder would first
// recover the journal. A lock of another tool does not.
func whose(locks []lock.Held) holder {
	locks = slices.DeleteFunc(slices.Clone(locks), lock.Held.HasEnded)
	if slices.ContainsFunc(locks, lock.Held.IsOurs) {
		return holderOurs
	}
	judged := holderGone
	for _, l := range locks {
		switch {
		case !l.Unknown && l.Owner.Tool != lock.Tool:
			judged = max(judged, holderForeign)
		case l.Life == lock.Alive, l.Life == lock.LifeUnknown && l.Renewed:
			return holderRuns
		default:
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

// included counts the changes that the journal adds.
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
