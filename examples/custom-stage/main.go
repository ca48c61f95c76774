// Command custom-stage deploys a small program with stages of its own in the pipeline: they make a freeze window, in which nothing may be replaced or
// deleted. Updates in place are allowed.
//
// Everything is in the process: the program is a Go function, the cloud is simulated, the state is in memory.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// freeze adds a window to an engine that ends at until, and in which nothing may be replaced or deleted.
//
// Replacements are refused after diff, when the provider has reported the effect of each change, and nothing has been decided. Deletes, including
// those of destroys, are refused before any of them begins. The functions make new stages for each operation.
func freeze(e *sluice.Engine, until time.Time, now func() time.Time) {
	isFrozen := func() bool { return now().Before(until) }
	e.Diffed.Insert(func(stages.Operation) pipeline.Stage[stages.Diffed, stages.Diffed] {
		return pipeline.Stage[stages.Diffed, stages.Diffed]{
			Name: "freeze",
			Run: func(_ context.Context, d stages.Diffed, emit pipeline.Emit[stages.Diffed]) error {
				if d.Replaces() && isFrozen() {
					return d.Refuse("replacements are frozen until " + until.Format("Monday"))
				}
				return emit(d)
			},
		}
	})
	e.Deleting.Insert(func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
		return pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "freeze",
			Run: func(_ context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
				if d.IsManaged() && isFrozen() {
					return d.Refuse("deletes are frozen until " + until.Format("Monday"))
				}
				return emit(d)
			},
		}
	})
}

// server is the resource that the program declares.
type server struct {
	Image string // a change requires a replacement
	Size  float64
}

func (s server) declare(ctx context.Context, m stages.Monitor) error {
	_, err := m.Register(ctx, &stages.RegisterRequest{
		Type: "simple:index:Server", Name: "web", Custom: true,
		Inputs: property.NewMap(map[string]property.Value{
			"immutableImage": property.String(s.Image),
			"size":           property.Number(s.Size),
		}),
	})
	return err
}

// deployer deploys servers into one stack.
type deployer struct {
	cloud *providertest.Cloud
	state *sluice.MemoryState
	until time.Time
	now   func() time.Time
}

// engine returns an engine for the program of one server, in the window.
func (d deployer) engine(s server) *sluice.Engine {
	engine := sluice.Standard(sluice.Options{
		Project: "shop", Stack: "dev", Program: source.Func(s.declare), Providers: d.cloud.Host(), State: d.state,
	})
	freeze(engine, d.until, d.now)
	return engine
}

func (d deployer) deploy(ctx context.Context, s server) (*sluice.Result, error) {
	return d.engine(s).Update(ctx)
}

func main() {
	d := deployer{
		cloud: providertest.NewCloud(providertest.Options{}), state: &sluice.MemoryState{},
		until: nextMonday(time.Now()), now: time.Now,
	}
	for _, s := range []server{{"debian-12", 1}, {"debian-12", 2}, {"debian-13", 2}} {
		result, err := d.deploy(context.Background(), s)
		if err != nil {
			fmt.Println(err) // the last one is refused
			continue
		}
		for _, step := range result.Steps() {
			if !step.Internal { // default providers are internal
				fmt.Println(step.Op, step.URN.Name())
			}
		}
	}
}

// nextMonday returns the beginning of the first Monday after t.
func nextMonday(t time.Time) time.Time {
	days := (int(time.Monday)-int(t.Weekday())+6)%7 + 1
	return time.Date(t.Year(), t.Month(), t.Day()+days, 0, 0, 0, 0, t.Location())
}
