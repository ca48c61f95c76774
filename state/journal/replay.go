package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/state"
)

// replay is a ledger to which records are applied again.
type replay struct {
	ledger    *state.Ledger
	decoder   *state.ResourceDecoder
	resources []*state.Resource     // by number
	open      map[int]state.Pending // operations that have begun and not ended
	done      []Completed
}

// Completed is a change that a run had completed.
type Completed struct {
	What string // "created", "updated" or "deleted"
	// Resource has the state after the change, or before it if it was deleted.
	Resource *state.Resource
}

// Op is the name of the change in the history of a stack.
func (c Completed) Op() string {
	switch c.What {
	case "created":
		return "create"
	case "updated":
		return "update"
	}
	return "delete"
}

// newReplay begins with the base of a journal.
func newReplay(ctx context.Context, h Header, base *state.Snapshot, ledger *state.Ledger, o state.DecodeOptions) (*replay, error) {
	decoder, err := state.NewResourceDecoder(ctx, h.Secrets.provider(), o)
	if err != nil {
		return nil, err
	}
	p := &replay{ledger: ledger, decoder: decoder, open: map[int]state.Pending{}}
	if !h.Base.Numbered {
		return p, nil
	}
	p.resources = everything(base)
	if len(p.resources) != h.Base.Resources+h.Base.Pending {
		return nil, fmt.Errorf("the base has %d entries, and the journal counts %d", len(p.resources), h.Base.Resources+h.Base.Pending)
	}
	return p, nil
}

// apply applies a record. An error means that the records do not belong to the base.
func (p *replay) apply(ctx context.Context, e *entry) error {
	if len(e.New) > 0 && e.At != len(p.resources) {
		return fmt.Errorf("record %d introduces resource %d, and there are %d", e.Number, e.At, len(p.resources))
	}
	for _, text := range e.New {
		r, err := p.decoder.Decode(ctx, text)
		if err != nil {
			return fmt.Errorf("record %d: %w", e.Number, err)
		}
		p.resources = append(p.resources, r)
	}
	var err error
	switch e.Kind {
	case kindBegin:
		err = p.begin(e)
	case kindEnd:
		err = p.end(e)
	case kindRebase:
		err = p.rebase(e)
	case kindCheckpoint:
	default:
		err = fmt.Errorf("unknown kind of record %q", e.Kind)
	}
	if err != nil {
		return fmt.Errorf("record %d: %w", e.Number, err)
	}
	return nil
}

func (p *replay) of(n int) (*state.Resource, error) {
	if n < 0 || n >= len(p.resources) {
		return nil, fmt.Errorf("there is no resource %d", n)
	}
	return p.resources[n], nil
}

func (p *replay) begin(e *entry) error {
	if e.Of == nil {
		return errors.New("a begin without a resource")
	}
	r, err := p.of(*e.Of)
	if err != nil {
		return err
	}
	op := state.Pending{Type: e.Operation, Resource: r}
	p.open[*e.Of] = op
	return p.ledger.Begin(op)
}

func (p *replay) end(e *entry) error {
	c := state.Change{Refresh: e.Refresh, Extension: e.Extension, DropSnippets: e.DropSnippets}
	var faults [4]error
	if e.Of != nil {
		c.Begun, faults[0] = p.of(*e.Of)
	}
	for _, n := range e.Remove {
		r, err := p.of(n)
		c.Remove, faults[1] = append(c.Remove, r), errors.Join(faults[1], err)
	}
	for _, pair := range e.Replace {
		old, err := p.of(pair[0])
		now, err2 := p.of(pair[1])
		c.Replace, faults[2] = append(c.Replace, state.Replacement{Old: old, New: now}), errors.Join(faults[2], err, err2)
	}
	if e.Add != nil {
		c.Add, faults[3] = p.of(*e.Add)
	}
	if err := errors.Join(faults[:]...); err != nil {
		return err
	}
	if err := p.ledger.End(c); err != nil {
		return err
	}
	p.note(e, c)
	return nil
}

// note adds a completed operation to the list.
func (p *replay) note(e *entry, c state.Change) {
	if e.Of == nil {
		return
	}
	op, begun := p.open[*e.Of]
	delete(p.open, *e.Of)
	switch {
	case !begun:
	case op.Type == state.Deleting && len(c.Remove)+len(c.Replace) > 0:
		p.done = append(p.done, Completed{"deleted", op.Resource})
	case c.Add == nil || op.Type == state.Deleting:
	case op.Type == state.Updating:
		p.done = append(p.done, Completed{"updated", c.Add})
	case op.Type == state.Creating:
		p.done = append(p.done, Completed{"created", c.Add})
	}
}

// notBegun returns the operations that no record begins.
func (p *replay) notBegun(ops []state.Pending) (earlier []state.Pending) {
	begun := map[*state.Resource]bool{}
	for _, op := range p.open {
		begun[op.Resource] = true
	}
	for _, op := range ops {
		if !begun[op.Resource] {
			earlier = append(earlier, op)
		}
	}
	return earlier
}

func (p *replay) rebase(e *entry) error {
	if e.Base == nil || len(e.Base.Pending) != len(e.Base.Types) {
		return errors.New("a rebase without a base")
	}
	s := &state.Snapshot{Metadata: e.Base.Metadata, Snippets: e.Base.Snippets, Extensions: e.Base.Extensions}
	for _, n := range e.Base.Resources {
		r, err := p.of(n)
		if err != nil {
			return err
		}
		s.Resources = append(s.Resources, r)
	}
	for i, n := range e.Base.Pending {
		r, err := p.of(n)
		if err != nil {
			return err
		}
		s.Pending = append(s.Pending, state.Pending{Type: e.Base.Types[i], Resource: r})
	}
	p.ledger.Rebase(s)
	return nil
}
