package modelcheck

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// setTo returns an engine that gives every recorded object a value, as an update does.
func setTo(value int) func(*process) {
	return func(p *process) {
		p.operate(func(p *process, ctx context.Context, r state.Recorder, base *state.Snapshot) (err error) {
			for _, res := range base.Resources {
				if err == nil {
					err = p.give(ctx, r, res, value)
				}
			}
			return err
		})
	}
}

// removeAll is an engine that deletes every recorded object.
func removeAll(p *process) {
	p.operate(func(p *process, ctx context.Context, r state.Recorder, base *state.Snapshot) (err error) {
		for _, res := range base.Resources {
			if err == nil {
				err = p.delete(ctx, r, res)
			}
		}
		return err
	})
}

// readPending is a recovery: it reads the objects with pending operations.
func readPending(p *process) {
	p.operate(func(p *process, ctx context.Context, r state.Recorder, base *state.Snapshot) (err error) {
		for _, op := range base.Pending {
			if res := op.StateIn(base.Resources); err == nil && res != nil {
				err = p.read(ctx, r, res)
			}
		}
		return err
	})
}

// give updates an object, unless its recorded value is the same.
func (p *process) give(ctx context.Context, r state.Recorder, res *state.Resource, value int) error {
	now := withValue(res, value)
	if valueOf(res) == value {
		return r.End(ctx, state.Change{Remove: []*state.Resource{res}, Add: now, Elide: true})
	}
	begun := now.Clone()
	begun.ID = "" // as an engine records it
	if err := r.Begin(ctx, state.Pending{Type: state.Updating, Resource: begun}); err != nil {
		return err
	}
	there := false
	if err := p.do(ctx, fmt.Sprintf("update %s to %d", res.ID, value), operate, func() string {
		o := p.object(res.ID)
		if there = !o.gone; there {
			o.value = value
		}
		return fmt.Sprint(there)
	}); err != nil {
		return err
	}
	if !there { // the provider reports that
		return r.End(ctx, state.Change{Begun: begun})
	}
	return p.end(ctx, r, state.Change{Begun: begun, Remove: []*state.Resource{res}, Add: now}, res.URN.Name())
}

func (p *process) delete(ctx context.Context, r state.Recorder, res *state.Resource) error {
	if err := r.Begin(ctx, state.Pending{Type: state.Deleting, Resource: res}); err != nil {
		return err
	}
	if err := p.do(ctx, "delete "+res.ID, operate, func() string { p.object(res.ID).gone = true; return "" }); err != nil {
		return err
	}
	err := r.End(ctx, state.Change{Begun: res, Remove: []*state.Resource{res}})
	if err == nil {
		p.acked = append(p.acked, object{name: res.URN.Name(), id: res.ID, by: p, gone: true})
	}
	return err
}

// read records the present state of an object.
func (p *process) read(ctx context.Context, r state.Recorder, res *state.Resource) error {
	var is object
	if err := p.do(ctx, "read "+res.ID, look, func() string { is = *p.object(res.ID); return fmt.Sprint(is.value, is.gone) }); err != nil {
		return err
	}
	if is.gone {
		return r.End(ctx, state.Change{Refresh: true, Remove: []*state.Resource{res}})
	}
	return r.End(ctx, state.Change{Refresh: true, Replace: []state.Replacement{{Old: res, New: withValue(res, is.value)}}})
}

// object returns the object that has an ID.
func (w *world) object(id string) *object {
	for i := range w.objects {
		if w.objects[i].id == id {
			return &w.objects[i]
		}
	}
	panic("no object " + id)
}

func withValue(res *state.Resource, value int) *state.Resource {
	now := res.Clone()
	now.Inputs = property.NewMap(map[string]property.Value{"value": property.Number(float64(value))})
	return now
}

func valueOf(res *state.Resource) int {
	if v := res.Inputs.At("value"); v.IsNumber() {
		return int(v.AsNumber())
	}
	return 0
}

// existing returns the initial objects.
func (s setting) existing() (all []object) {
	for i, name := range s.exist {
		all = append(all, object{name: name, id: fmt.Sprintf("%s-%d", name, i), by: &process{name: "init"}})
	}
	return all
}

// init creates the stack.
func (s setting) init(b backend.Backend) error {
	ctx := context.Background()
	stack, err := b.Init(ctx, stackRef, nil)
	if err != nil || len(s.exist) == 0 {
		return err
	}
	l, err := stack.Lock(ctx, backend.LockOptions{})
	if err != nil {
		return err
	}
	base, err := stack.Load(ctx)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	r, err := stack.Record(ctx, base)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	for _, o := range s.existing() {
		res := &state.Resource{URN: urnOf(o.name), Type: "a:b:C", Custom: true, ID: o.id}
		err = errors.Join(err, r.End(ctx, state.Change{Add: res}))
	}
	return errors.Join(err, r.Close(ctx), l.Close())
}
