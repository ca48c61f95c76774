package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/state/lock"
)

// recovery brings stacks up to date for callers that only read.
//
// Invariant: it changes a stack only while it holds its lock, and never waits for another holder.
type recovery struct {
	storage *storage
	reader  *reader
	// unrecovered are the stacks, by [Ref], whose journals this process could not recover when it opened them. Only taking
	// the lock tries again: there may be many readers.
	unrecovered sync.Map
}

// opened recovers a stack that is opened. It returns a [*NotFoundError] if there is none.
func (r *recovery) opened(ctx context.Context, s stackFiles) error {
	r.ifFree(ctx, s, stackIntents{s}.exist) // which may make the stack, or remove it
	if err := s.exists(ctx); err != nil {
		return err
	}
	r.ifFree(ctx, s, s.journal().Exists)
	return nil
}

// ifFree recovers the stack if left reports that there is something to recover and its lock is free. A failure is only noted,
// for a journal by the reader of the stack: reading does no harm, and writing needs the lock, which is then refused.
func (r *recovery) ifFree(ctx context.Context, s stackFiles, left func(context.Context) (bool, error)) {
	if _, tried := r.unrecovered.Load(s.ref); tried {
		return
	}
	there, err := left(ctx)
	if err == nil && !there {
		return
	}
	var l Lock
	if err == nil {
		l, err = remains{s}.acquire(ctx, LockOptions{Operation: "recovery"})
	}
	if err == nil {
		err = l.Close()
	}
	var held *lock.HeldError
	var undecided *JournalError
	switch {
	case err == nil || errors.As(err, &held):
		return
	case errors.As(err, new(*IntentError)) && errors.As(err, &undecided):
		r.storage.options.undecided(undecided)
	case errors.As(err, &undecided):
		r.reader.undecided(s, undecided)
	default:
		r.failed(ctx, s, err)
	}
	r.unrecovered.Store(s.ref, true)
}

// failed reports that a stack could not be recovered.
func (r *recovery) failed(ctx context.Context, s stackFiles, err error) {
	if there, fault := s.journal().Exists(ctx); there || fault != nil {
		r.reader.failed.Store(s.ref, err)
		return
	}
	r.storage.options.note(fmt.Sprintf("the last operation on stack %s was interrupted, and could not be completed now: %v. "+
		"What is read is the state before that; the next command tries again", s.ref.Name, err))
}

// listed recovers the stacks of a project, of all projects if it is "", one after the other.
func (r *recovery) listed(ctx context.Context, project string) error {
	intents, err := r.storage.intents(ctx)
	if err != nil {
		return err
	}
	for _, p := range intents {
		for _, s := range p.stacks {
			if project == "" || project == s.ref.Project {
				r.ifFree(ctx, s, stackIntents{s}.exist)
			}
		}
	}
	refs, err := r.storage.refs(ctx, project)
	if err != nil {
		return err
	}
	exists := func(ref *Ref) bool {
		there, err := r.storage.files(*ref).journal().Exists(ctx)
		return there || err != nil // the error is reported
	}
	for i, there := range (iter.Mapper[Ref, bool]{MaxGoroutines: parallelReads}).Map(refs, exists) {
		if there {
			s := r.storage.files(refs[i])
			r.ifFree(ctx, s, s.journal().Exists)
		}
	}
	return nil
}
