package inprocess

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// channels is the baseline of the engine in process: the same program and calls, passed through as many steps as in the engine, and nothing else. It
// has no order, failures, events, secrets, unknowns, aliases or replacements, and no state in files. An engine of this form can do little less. It stores
// the objects that it has created.
type channels struct {
	stages.Monitor // nil: the programs of this package make no other calls

	provider providers.Provider
	objects  map[urn.URN]*object
	dryRun   bool
	emit     pipeline.Emit[*asked]
}

func newChannels(c *providertest.Cloud) *channels {
	return &channels{provider: c.Provider(providertest.DefaultPackage), objects: map[urn.URN]*object{}}
}

// object is a created resource.
type object struct {
	id              string
	inputs, outputs property.Map
}

// asked is a registration in progress.
type asked struct {
	request  *stages.RegisterRequest
	urn      urn.URN
	old      *object
	made     object
	isEqual  bool
	answered *await.Promise[*stages.RegisterReply]
}

// Reject answers a registration that ends early.
func (a *asked) Reject(err error) { a.answered.Fail(err) }

// Register implements [stages.Monitor].
func (c *channels) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	a := &asked{request: req, answered: await.NewPromise[*stages.RegisterReply]()}
	if err := c.emit(a); err != nil {
		return nil, err
	}
	return a.answered.Wait(ctx)
}

// RegisterOutputs implements [stages.Monitor].
func (c *channels) RegisterOutputs(context.Context, urn.URN, property.Map) error { return nil }

func (c *channels) preview(ctx context.Context, p *program) error { return c.run(ctx, p, true) }

func (c *channels) update(ctx context.Context, p *program) error { return c.run(ctx, p, false) }

// run runs a program through the steps: register, look up, check, analyze, diff, build a step, execute.
func (c *channels) run(ctx context.Context, p *program, dryRun bool) error {
	c.dryRun = dryRun
	known, made := map[urn.URN]bool{}, map[urn.URN]*object{}
	flow := pipeline.From("program", 0, func(ctx context.Context, emit pipeline.Emit[*asked]) error {
		c.emit = emit
		return p.source().Run(ctx, source.Host{Monitor: c})
	})
	flow = pipeline.Via(flow, step("register", 1, func(_ context.Context, a *asked) error {
		a.urn = urn.New(stackName, project, a.request.Parent.QualifiedType(), a.request.Type, a.request.Name)
		if known[a.urn] {
			return errors.New("it is registered twice")
		}
		known[a.urn] = true
		return nil
	}))
	flow = pipeline.Via(flow, step("look up", 1, func(_ context.Context, a *asked) error {
		a.old = c.objects[a.urn]
		return nil
	}))
	flow = pipeline.Via(flow, step("check", concurrency, c.check))
	flow = pipeline.Via(flow, step("analyze", 1, func(context.Context, *asked) error { return nil }))
	flow = pipeline.Via(flow, step("diff", concurrency, c.diff))
	flow = pipeline.Via(flow, step("build a step", 1, func(context.Context, *asked) error { return nil }))
	flow = pipeline.Via(flow, step("execute", parallel, c.execute))
	err := pipeline.Run(ctx, flow, func(_ context.Context, a *asked) error {
		made[a.urn] = &a.made
		a.answered.Resolve(&stages.RegisterReply{URN: a.urn, ID: a.made.id, Outputs: a.made.outputs})
		return nil
	})
	if !dryRun {
		c.objects = made
	}
	return err
}

// step is a stage that emits each item after calling do.
func step(name string, workers int, do func(ctx context.Context, a *asked) error) pipeline.Stage[*asked, *asked] {
	return pipeline.Stage[*asked, *asked]{
		Name: name, Workers: workers,
		Run: func(ctx context.Context, a *asked, emit pipeline.Emit[*asked]) error {
			if err := do(ctx, a); err != nil {
				return err
			}
			return emit(a)
		},
	}
}

func (c *channels) check(ctx context.Context, a *asked) error {
	if !a.request.Custom {
		return nil
	}
	q := providers.CheckRequest{URN: a.urn, Name: a.request.Name, Type: a.request.Type, News: a.request.Inputs, AllowUnknowns: c.dryRun}
	if a.old != nil {
		q.Olds = a.old.inputs
	}
	r, err := c.provider.Check(ctx, q)
	a.made.inputs = r.Inputs
	return err
}

func (c *channels) diff(ctx context.Context, a *asked) error {
	if a.old == nil || !a.request.Custom {
		return nil
	}
	r, err := c.provider.Diff(ctx, providers.DiffRequest{
		URN: a.urn, Name: a.request.Name, Type: a.request.Type, ID: a.old.id, OldInputs: a.old.inputs, OldOutputs: a.old.outputs, NewInputs: a.made.inputs,
		AllowUnknowns: c.dryRun,
	})
	a.isEqual = r.Changes == providers.DiffNone
	return err
}

func (c *channels) execute(ctx context.Context, a *asked) error {
	switch {
	case !a.request.Custom:
		return nil
	case a.isEqual:
		a.made.id, a.made.outputs = a.old.id, a.old.outputs
		return nil
	case a.old != nil:
		r, err := c.provider.Update(ctx, providers.UpdateRequest{
			URN: a.urn, Name: a.request.Name, Type: a.request.Type, ID: a.old.id, OldInputs: a.old.inputs, OldOutputs: a.old.outputs, NewInputs: a.made.inputs,
			Preview: c.dryRun,
		})
		a.made.id, a.made.outputs = a.old.id, r.Properties
		return err
	}
	r, err := c.provider.Create(ctx, providers.CreateRequest{
		URN: a.urn, Name: a.request.Name, Type: a.request.Type, Properties: a.made.inputs, Preview: c.dryRun,
	})
	a.made.id, a.made.outputs = r.ID, r.Properties
	return err
}

// replace deletes everything that was created, and creates it again.
func (c *channels) replace(ctx context.Context, p *program) error {
	if err := c.destroy(ctx, p); err != nil {
		return err
	}
	return c.update(ctx, p)
}

// kept is an object with its name.
type kept struct {
	urn.URN
	*object
}

// each calls do for everything that was created, for up to so many at once.
func (c *channels) each(ctx context.Context, atOnce int, do func(ctx context.Context, k kept) error) error {
	flow := pipeline.From("state", 0, func(_ context.Context, emit pipeline.Emit[kept]) error {
		for u, o := range c.objects {
			if err := emit(kept{u, o}); err != nil {
				return err
			}
		}
		return nil
	})
	flow = pipeline.Via(flow, pipeline.Stage[kept, kept]{
		Name: "execute", Workers: atOnce,
		Run: func(ctx context.Context, k kept, emit pipeline.Emit[kept]) error {
			if err := do(ctx, k); err != nil {
				return err
			}
			return emit(k)
		},
	})
	left := len(c.objects)
	err := pipeline.Run(ctx, flow, func(context.Context, kept) error { left--; return nil })
	if err == nil && left > 0 {
		err = errors.New("not everything was reached")
	}
	return err
}

// destroy deletes everything that was created.
func (c *channels) destroy(ctx context.Context, _ *program) error {
	err := c.each(ctx, parallel, func(ctx context.Context, k kept) error {
		return c.provider.Delete(ctx, providers.DeleteRequest{
			URN: k.URN, Name: k.URN.Name(), Type: k.URN.Type(), ID: k.id, Inputs: k.inputs, Outputs: k.outputs,
		})
	})
	c.objects = map[urn.URN]*object{}
	return err
}

// refresh reads everything that was created, and asks what is different.
func (c *channels) refresh(ctx context.Context, _ *program) error {
	return c.each(ctx, concurrency, func(ctx context.Context, k kept) error {
		read, err := c.provider.Read(ctx, providers.ReadRequest{
			URN: k.URN, Name: k.URN.Name(), Type: k.URN.Type(), ID: k.id, Inputs: k.inputs, State: k.outputs, Known: true,
		})
		if err != nil {
			return err
		}
		_, err = c.provider.Diff(ctx, providers.DiffRequest{
			URN: k.URN, Name: k.URN.Name(), Type: k.URN.Type(), ID: k.id, OldInputs: k.inputs, OldOutputs: read.Properties, NewInputs: k.inputs,
		})
		return err
	})
}

// take reads objects that it knows by their identities only, and checks their inputs.
func (c *channels) take(ctx context.Context, _ *program) error {
	return c.each(ctx, concurrency, func(ctx context.Context, k kept) error {
		read, err := c.provider.Read(ctx, providers.ReadRequest{URN: k.URN, Name: k.URN.Name(), Type: k.URN.Type(), ID: k.id})
		if err != nil {
			return err
		}
		_, err = c.provider.Check(ctx, providers.CheckRequest{URN: k.URN, Name: k.URN.Name(), Type: k.URN.Type(), News: read.Inputs})
		return err
	})
}
