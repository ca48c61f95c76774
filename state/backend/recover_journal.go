package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/sealing"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

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
			s.options.note(fmt.Sprintf("there was a journal of stack %s, which does not exist any more; it is kept in %s", s.ref.Name, where))
		}
		return err
	}
	// After the first checkpoint of the run the .bak file has the state before the run.
	if !j.begins(ctx, state.Digest(content)) {
		w.Continue()
	}
	o := j.recovery(content)
	o.Checkpoint.SetAside, o.Checkpoint.Save = s.file().SetAside, w.Save
	o.Aside = j.setTornAside
	o.History = func(r *journal.Report) error { return history{s}.recordInterrupted(ctx, r) }
	report, err := journal.Recover(ctx, o)
	if err != nil {
		return j.explain(ctx, err)
	}
	if report != nil {
		s.options.note(recoveredNote(s.ref, report), howToEnd(report)...)
	}
	return nil
}

// recovery defines how the journal is applied to the content of the stack file.
func (j *journalFile) recovery(content []byte) journal.Recovery {
	o := j.stack.options
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

// shownChanges leaves out default providers, which no program declares (steps.md 1.6).
func shownChanges(done []journal.Completed) []journal.Completed {
	return slices.DeleteFunc(slices.Clone(done), func(c journal.Completed) bool { return c.Resource.URN.IsDefaultProvider() })
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

// recordInterrupted writes the history of an interrupted operation. Its configuration is that of the latest record: no
// other is available, and later operations look for one there.
func (h history) recordInterrupted(ctx context.Context, r *journal.Report) error {
	u := Update{
		Kind: "update", StartTime: r.Start.Unix(), EndTime: h.options.Now().Unix(), Result: ResultFailed,
		Message: "interrupted, and recovered from its journal", ResourceChanges: map[string]int{},
	}
	for _, c := range shownChanges(r.Done) {
		u.ResourceChanges[c.Op()]++
	}
	if before, _, err := h.list(ctx); err == nil && len(before) > 0 {
		u.Config = before[0].Config
	}
	return h.write(ctx, u)
}

// explain explains a journal that may not be applied, and keeps a list of its contents.
func (j *journalFile) explain(ctx context.Context, err error) error {
	s := j.stack
	e := undecidable(s, err)
	var stale *journal.StaleError
	switch {
	case e == nil:
		return err
	case !errors.As(err, &stale) || stale.Report == nil:
		return e
	}
	text, fault := json.MarshalIndent(stale.Report.List(), "", "    ")
	if fault != nil {
		return errors.Join(e, fault)
	}
	key := s.keys().Salvage(fmt.Sprintf("%s.%d.json", s.ref.Name, stale.Report.Start.UnixNano()))
	if _, fault := s.store.Write(ctx, key, append(text, '\n'), store.Condition{}); fault != nil {
		return errors.Join(e, fault)
	}
	e.Salvage = s.store.Name(key)
	return e
}
