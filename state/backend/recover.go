package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
)

// JournalError says that an operation on a stack was cut off and left a journal that may not be applied. The stack can be
// read, but not changed until somebody has decided about the journal.
type JournalError struct {
	Stack string
	// Salvage is the file that lists what the journal contains; "" if that is not known.
	Salvage string
	Err     error // a *journal.StaleError, *journal.FormatError, *journal.DamagedError or *PairError; says what is wrong
}

func (e *JournalError) Error() string {
	var b strings.Builder
	var pair *PairError
	if errors.As(e.Err, &pair) {
		return fmt.Sprintf("stack %s needs a decision: %v%s", e.Stack, pair, pair.advice())
	}
	fmt.Fprintf(&b, "stack %s has a journal that needs a decision: %v", e.Stack, e.Err)
	var newer *journal.FormatError
	if errors.As(e.Err, &newer) {
		return b.String()
	}
	var stale *journal.StaleError
	if errors.As(e.Err, &stale) && stale.Report != nil {
		contents(&b, stale.Report)
	}
	if e.Salvage != "" {
		fmt.Fprintf(&b, "\nAll that it contains is listed in %s", e.Salvage)
	}
	b.WriteString("\nCompare that with the stack (`sluice stack export`, `sluice refresh --preview-only`), and then put the journal " +
		"aside with `sluice recover --discard`")
	return b.String()
}

func (e *JournalError) Unwrap() error { return e.Err }

// shown is how many resources an error message lists.
const shown = 10

func contents(b *strings.Builder, r *journal.Report) {
	n := 0
	line := func(what string, res *state.Resource) {
		if n++; n > shown {
			return
		}
		fmt.Fprintf(b, "\n  %s %s", what, res.URN)
		if res.ID != "" {
			fmt.Fprintf(b, " (ID %s)", res.ID)
		}
	}
	for _, c := range r.Done {
		line(c.What, c.Resource)
	}
	for _, op := range r.Open {
		line("had begun "+string(op.Type), op.Resource)
	}
	if n > shown {
		fmt.Fprintf(b, "\n  and %d more", n-shown)
	}
}

// recover completes or brings up to date what was cut off. The lock is held. It returns a [*JournalError] if that may not be
// done.
func (s *fileStack) recover(ctx context.Context) error {
	if err := s.recoverPairs(ctx); err != nil {
		return err
	}
	return s.recoverJournal(ctx)
}

// recoverJournal brings the stack file up to date if an operation on this stack was cut off. The lock is held. It returns a
// [*JournalError] for a journal that may not be applied.
func (s *fileStack) recoverJournal(ctx context.Context) error {
	jnl := s.journal()
	if there, err := jnl.Exists(ctx); err != nil || !there {
		return err
	}
	content, err := s.content(ctx)
	if err != nil {
		return err
	}
	if content == nil { // somebody has removed the stack by hand
		where, err := s.discard(ctx)
		if err == nil {
			s.backend.note(fmt.Sprintf("there was a journal of stack %s, which does not exist any more; it is kept in %s", s.ref.Name, where))
		}
		return err
	}
	w, err := s.writer(ctx)
	if err != nil {
		return err
	}
	// After the first checkpoint of the run the .bak file is what was there before the run.
	w.begun = !jnl.begins(ctx, state.Digest(content))
	o := s.backend.options
	report, err := journal.Recover(ctx, journal.Recovery{
		Stack: s.ref.String(), Store: jnl, Content: content,
		Decode: state.DecodeOptions{Name: jnl.Name()},
		Encoder: func(_ context.Context, p *state.SecretsProvider) *state.Encoder {
			// Everything in a journal is encrypted already, so nobody's passphrase is needed.
			return state.NewEncoder(state.EncoderOptions{
				Crypter: p.Identity(), Encrypter: unusable{errors.New("a journal holds a secret that is not encrypted")},
			})
		},
		Ledger: state.LedgerOptions{Version: o.Version, Now: o.Now},
		Checkpoint: state.CheckpointOptions{
			SetAside: s.setAside, SkipIntegrity: o.SkipIntegrity, Save: w.save,
		},
		History: func(r *journal.Report) error { return s.recordCutOff(ctx, r) },
	})
	if err != nil {
		return s.explainUndecided(ctx, err)
	}
	if report != nil {
		s.backend.note(recoveredNote(s.ref, report))
	}
	return nil
}

// note tells the user something, if there is one who listens.
func (f *File) note(text string) {
	if f.options.Note != nil {
		f.options.Note(text)
	}
}

// undecided tells the user of a decision that is needed.
func (f *File) undecided(err *JournalError) {
	if f.options.Undecided == nil {
		f.note(err.Error())
		return
	}
	f.options.Undecided(err)
}

// shownChanges are those that are counted: nobody has asked for default providers (steps.md 1.6).
func shownChanges(done []journal.Completed) []journal.Completed {
	return slices.DeleteFunc(slices.Clone(done), func(c journal.Completed) bool { return c.Resource.URN.IsDefaultProvider() })
}

// recoveredNote says in one line what was found.
func recoveredNote(ref Ref, r *journal.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the last operation on stack %s, begun at %s, was cut off; ", ref.Name, r.Start.Format(time.RFC3339))
	switch n := len(shownChanges(r.Done)); {
	case !r.Written:
		b.WriteString("the state had everything that it completed")
	case n == 0:
		b.WriteString("it had completed no change")
	case n == 1:
		b.WriteString("the change that it completed has been recovered from its journal")
	default:
		fmt.Fprintf(&b, "the %d changes that it completed have been recovered from its journal", n)
	}
	switch n := len(r.Open); n {
	case 0:
	case 1:
		fmt.Fprintf(&b, ". Nobody knows how one more ended (%s %s): `sluice recover` finds out", r.Open[0].Type, r.Open[0].Resource.URN)
	default:
		fmt.Fprintf(&b, ". Nobody knows how %d more ended (%s %s and others): `sluice recover` finds out", n, r.Open[0].Type, r.Open[0].Resource.URN)
	}
	return b.String()
}

// recordCutOff writes the history of an operation that did not live to do so. Its configuration is that of the latest record:
// nothing else is known, and later operations look for one there.
func (s *fileStack) recordCutOff(ctx context.Context, r *journal.Report) error {
	u := Update{
		Kind: "update", StartTime: r.Start.Unix(), EndTime: s.backend.options.Now().Unix(), Result: ResultFailed,
		Message: "cut off, and recovered from its journal", ResourceChanges: map[string]int{},
	}
	for _, c := range shownChanges(r.Done) {
		u.ResourceChanges[c.Op()]++
	}
	if before, _, err := s.History(ctx); err == nil && len(before) > 0 {
		u.Config = before[0].Config
	}
	return s.WriteHistory(ctx, u)
}

// explainUndecided explains a journal that may not be applied, and keeps a list of what it contains.
func (s *fileStack) explainUndecided(ctx context.Context, err error) error {
	var stale *journal.StaleError
	var newer *journal.FormatError
	var damaged *journal.DamagedError
	e := &JournalError{Stack: s.ref.Name, Err: err}
	switch {
	case errors.As(err, &stale):
		if stale.Report == nil {
			return e
		}
		text, fault := json.MarshalIndent(stale.Report.List(), "", "    ")
		if fault != nil {
			return errors.Join(e, fault)
		}
		key := s.salvage(fmt.Sprintf("%s.%d.json", s.ref.Name, stale.Report.Start.UnixNano()))
		if _, fault := s.backend.store.Write(ctx, key, append(text, '\n'), store.Condition{}); fault != nil {
			return errors.Join(e, fault)
		}
		e.Salvage = s.backend.store.Name(key)
		return e
	case errors.As(err, &newer), errors.As(err, &damaged):
		return e
	}
	return err
}

func (s *fileStack) salvage(name string) string {
	return s.backend.key("sluice", "salvage", s.ref.Project, name)
}

// cutOff tells whether an operation has left something to recover, or has not ended.
func (s *fileStack) cutOff(ctx context.Context) (bool, error) {
	paired, err := s.isPaired(ctx)
	if err != nil || paired {
		return paired, err
	}
	return s.journal().Exists(ctx)
}

// isPaired tells whether an operation on this stack and another one has not ended.
func (s *fileStack) isPaired(ctx context.Context) (bool, error) {
	pairs, err := s.pairs(ctx)
	return len(pairs) > 0, err
}

// recoverIfFree recovers the stack if left says that there is something to recover and nobody is working on it. What cannot be
// recovered now is only told of: reading does no harm, and whoever wants to write takes the lock, which is refused then.
func (s *fileStack) recoverIfFree(ctx context.Context, left func(context.Context) (bool, error)) {
	if _, tried := s.backend.unrecovered.Load(s.ref); s.backend.legacy || tried {
		return
	}
	there, err := left(ctx)
	if err == nil && !there {
		return
	}
	var l Lock
	if err == nil {
		l, err = s.Lock(ctx, LockOptions{Operation: "recovery"})
	}
	if err == nil {
		err = l.Close()
	}
	var held *lock.HeldError
	var undecided *JournalError
	switch {
	case err == nil || errors.As(err, &held):
		return
	case errors.As(err, &undecided):
		s.backend.undecided(undecided)
	default:
		s.backend.note(fmt.Sprintf("the last operation on stack %s was cut off, and what it completed could not be recovered from its journal now: %v. "+
			"What is read is the state before that; the next command tries again", s.ref.Name, err))
	}
	s.backend.unrecovered.Store(s.ref, true)
}

// recoverListed recovers the stacks of a project, of all projects if it is "", one after the other.
func (f *File) recoverListed(ctx context.Context, project string) error {
	if f.legacy {
		return nil
	}
	pairs, err := f.pairs(ctx)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		for _, s := range p.stacks {
			if project == "" || project == s.ref.Project {
				s.recoverIfFree(ctx, s.isPaired)
			}
		}
	}
	refs, err := f.refs(ctx, project)
	if err != nil {
		return err
	}
	exists := func(ref *Ref) bool {
		there, err := f.stack(*ref).journal().Exists(ctx)
		return there || err != nil // which is told of
	}
	for i, there := range (iter.Mapper[Ref, bool]{MaxGoroutines: parallelReads}).Map(refs, exists) {
		if there {
			s := f.stack(refs[i])
			s.recoverIfFree(ctx, s.journal().Exists)
		}
	}
	return nil
}

// DiscardJournal implements [Stack].
func (s *fileStack) DiscardJournal(ctx context.Context) (where string, err error) {
	l, err := s.lock(ctx, LockOptions{Operation: "recovery"})
	if err != nil {
		return "", err
	}
	aside, err := s.discardPairs(ctx)
	if err == nil {
		where, err = s.discard(ctx)
	}
	if where != "" {
		aside = append(aside, where)
	}
	return strings.Join(aside, " and "), errors.Join(err, l.Release())
}

func (s *fileStack) discard(ctx context.Context) (where string, err error) {
	jnl := s.journal()
	b, err := jnl.Read(ctx)
	if err != nil || b == nil {
		return "", err
	}
	key := s.salvage(fmt.Sprintf("%s.%d.jnl", s.ref.Name, s.backend.options.Now().UnixNano()))
	if _, err := s.backend.store.Write(ctx, key, b, store.Condition{}); err != nil {
		return "", err
	}
	return s.backend.store.Name(key), jnl.Remove(ctx)
}
