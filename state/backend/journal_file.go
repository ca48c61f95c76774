package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/sealing"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
)

// journalFile keeps the journal of a stack beside the stacks, and with it the stack file that the journal starts from
// (state.md 9.5).
//
// Invariant: a journal, or a part of one, that was not applied is set aside before it is removed.
type journalFile struct {
	store.Log
	stack stackFiles
}

var _ journal.Store = (*journalFile)(nil)

func (j *journalFile) base() string { return j.stack.keys().JournalBase() }

// Name implements [journal.Store].
func (j *journalFile) Name() string { return j.stack.storage.store.Name(j.stack.keys().Journal()) }

// Base implements [journal.Store].
func (j *journalFile) Base(ctx context.Context) ([]byte, error) {
	b, _, err := j.stack.storage.store.Read(ctx, j.base())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// Create implements [journal.Store]. A process that finds another log leaves it and its base as they are. The base comes
// first: a process that recovers a log replaces the stack file, and if it is killed, only the base is left. It is a copy, not a
// second name of the stack file: a user may edit that file in place, and then the previous content is needed.
func (j *journalFile) Create(ctx context.Context, first, base []byte) error {
	if len(base) > 0 {
		another, err := j.Log.Exists(ctx)
		if err == nil && !another {
			_, err = j.stack.storage.store.Write(ctx, j.base(), base, store.Condition{})
		}
		if err != nil {
			return err
		}
	}
	return j.Log.Create(ctx, first) // it refuses if there is another log
}

// Remove implements [journal.Store]. The base of another journal stays.
func (j *journalFile) Remove(ctx context.Context) error {
	if err := j.Log.Remove(ctx); err != nil {
		return err
	}
	if another, err := j.Exists(ctx); err != nil || another {
		return err
	}
	return j.stack.storage.store.Remove(ctx, j.base())
}

// sweep removes the remains of a journal whose process was killed while it made or removed the journal. No complete
// journal exists.
func (j *journalFile) sweep(ctx context.Context) error {
	if err := j.Log.Sweep(ctx); err != nil {
		return err
	}
	return j.stack.storage.store.Remove(ctx, j.base())
}

// begins reports whether the journal starts from this state.
func (j *journalFile) begins(ctx context.Context, digest string) bool {
	base, err := j.Base(ctx)
	return err != nil || base == nil || state.Digest(base) == digest
}

// setAllAside sets all journals aside.
func (j *journalFile) setAllAside(ctx context.Context) (where string, err error) {
	var all []string
	for {
		where, err := j.setAside(ctx)
		if err != nil || where == "" {
			return strings.Join(all, " and "), err
		}
		all = append(all, where)
	}
}

// setAside moves a journal to a place that no command uses. It returns the place, "" if there is no journal.
func (j *journalFile) setAside(ctx context.Context) (where string, err error) {
	b, err := j.Read(ctx)
	if err != nil || b == nil {
		return "", err
	}
	if where, err = j.salvage(ctx, "jnl", b); err != nil {
		return "", err
	}
	return where, j.Remove(ctx)
}

// setTornAside sets aside the bytes at the end of the journal that are from an incomplete write, and notifies the user. The caller
// cuts them off next.
func (j *journalFile) setTornAside(ctx context.Context, torn []byte) error {
	where, err := j.salvage(ctx, "torn", torn)
	if err != nil {
		return fmt.Errorf("keep the end of the journal of stack %s: %w", j.stack.ref.Name, err)
	}
	j.stack.storage.options.note(fmt.Sprintf("the journal of stack %s ends with %d bytes of a write that never finished. "+
		"They are not applied, as nothing has relied on them, and are kept in %s", j.stack.ref.Name, len(torn), where))
	return nil
}

// salvage writes a part of the journal to a place that no command uses, and returns the place.
func (j *journalFile) salvage(ctx context.Context, kind string, content []byte) (where string, err error) {
	s := j.stack
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.%s", s.ref.Name, s.storage.options.Now().UnixNano(), kind))
	_, err = s.storage.store.Write(ctx, key, content, store.Condition{})
	return s.storage.store.Name(key), err
}

// recoverAll brings the stack file up to date if an operation on this stack was interrupted. The lock is held. It returns a
// [*JournalError] for a journal that may not be applied. There may be a second journal, which no longer fits once the first one
// has been applied: from a run that had lost the lock, or from a request that arrived after its process had died.
func (j *journalFile) recoverAll(ctx context.Context) error {
	for {
		there, err := j.Exists(ctx)
		if err != nil {
			return err
		}
		if !there {
			return j.sweep(ctx)
		}
		if err := j.recover(ctx); err != nil {
			return err
		}
	}
}

// noteMissing notifies the user if a process died during an operation, as its lock shows, and there is no journal of it. Either
// the operation had not begun, or its journal was removed.
func (j *journalFile) noteMissing(ctx context.Context, dead []lock.Held) {
	for _, l := range dead {
		if !slices.Contains([]string{"update", "destroy", "refresh", "import"}, l.Owner.Lease.Operation) {
			continue // others keep no journal
		}
		if there, err := j.Exists(ctx); err == nil && !there {
			j.stack.storage.options.note(fmt.Sprintf("the process that had the lock of stack %s died and left no journal (%s). Either it had changed nothing "+
				"that the stack file does not record, or %s has been removed, and what it made is not recorded", j.stack.ref.Name, l.Describe(), j.Name()))
		}
		return
	}
}

// recover applies a journal and removes it.
func (j *journalFile) recover(ctx context.Context) error {
	s := j.stack
	w, err := s.file().Writer(ctx) // before the content is read: see fileStack.writer
	if err != nil {
		return err
	}
	content, err := s.content(ctx)
	if err != nil {
		return err
	}
	if content == nil { // the stack was removed by hand
		where, err := j.setAside(ctx)
		if err == nil {
			s.storage.options.note(fmt.Sprintf("there was a journal of stack %s, which does not exist any more; it is kept in %s", s.ref.Name, where))
		}
		return err
	}
	// After the first checkpoint of the run the .bak file has the state before the run.
	if !j.begins(ctx, state.Digest(content)) {
		w.Continue()
	}
	o := j.recovery(content)
	o.Checkpoint.SetAside, o.Checkpoint.Save = s.file().SetAside, w.Save
	torn := false
	o.Aside = func(ctx context.Context, b []byte) error { torn = true; return j.setTornAside(ctx, b) }
	o.History = func(r *journal.Report) error { return history{s}.recordInterrupted(ctx, r) }
	report, err := journal.Recover(ctx, o)
	if err != nil {
		return j.explain(ctx, err)
	}
	switch {
	case report != nil:
		s.storage.options.note(recoveredNote(s.ref, report), howToEnd(report)...)
	case !torn: // a journal gets its name when its first record is durable
		s.storage.options.note(fmt.Sprintf("the journal of stack %s, %s, was empty, and no operation leaves it like that: something has emptied it. "+
			"What the last operation made after it wrote the stack file is not recorded", s.ref.Name, j.Name()))
	}
	return nil
}

// recovery defines how the journal is applied to the content of the stack file.
func (j *journalFile) recovery(content []byte) journal.Recovery {
	o := j.stack.storage.options
	return journal.Recovery{
		Stack: j.stack.ref.String(), Store: j, Content: content,
		Decode: state.DecodeOptions{Name: j.Name()},
		Encoder: func(_ context.Context, p *state.SecretsProvider) *state.Encoder {
			// Everything in a journal is encrypted already, so no passphrase is needed.
			return sealing.CiphertextEncoder(p, errors.New("a journal holds a secret that is not encrypted"))
		},
		Ledger:     state.LedgerOptions{Version: o.Version, Now: o.Now},
		Checkpoint: state.CheckpointOptions{SkipIntegrity: o.SkipIntegrity},
	}
}

// recoveredNote describes the recovery in one line.
func recoveredNote(ref Ref, r *journal.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the last operation on stack %s, begun at %s, was interrupted; ", ref.Name, r.Start.Format(time.RFC3339))
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
		fmt.Fprintf(&b, ". The outcome of one more is not known (%s %s)", r.Open[0].Type, r.Open[0].Resource.URN)
	default:
		fmt.Fprintf(&b, ". The outcome of %d more is not known (%s %s and others)", n, r.Open[0].Type, r.Open[0].Resource.URN)
	}
	return b.String()
}

// howToEnd is the advice about operations with an unknown end.
func howToEnd(r *journal.Report) []advice.Advice {
	if len(r.Open) == 0 {
		return nil
	}
	return []advice.Advice{advice.On(advice.Recover)}
}

// explain explains a journal that may not be applied, and keeps a list of its contents.
func (j *journalFile) explain(ctx context.Context, err error) error {
	s := j.stack
	e := undecidable(s, err)
	if e == nil {
		return err
	}
	report, _ := e.report()
	if report == nil {
		return e
	}
	text, fault := json.MarshalIndent(report.List(), "", "    ")
	if fault != nil {
		return errors.Join(e, fault)
	}
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.json", s.ref.Name, report.Start.UnixNano()))
	if _, fault := s.storage.store.Write(ctx, key, append(text, '\n'), store.Condition{}); fault != nil {
		return errors.Join(e, fault)
	}
	e.Salvage = s.storage.store.Name(key)
	return e
}
