package inprocess

import (
	"context"
	"slices"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/property"
)

// concurrency is how many calls of one kind that change nothing the engine makes at once (stages.Check, stages.Diff).
const concurrency = 512

// Targets of the matrix: with calls that return at once, processor seconds for each resource of a preview, so that two processors handle 40,000 in a
// second; with slow ones, the multiple of the ideal time; and for a durable update, the number of waits for the disk for each resource.
const (
	targetWork  = 2.0 / 40_000
	targetIdeal = 1.5
	targetSyncs = 2
	fewSyncs    = 50 // the fixed cost of an operation in resources: the lock, the checkpoint, the history
)

// row is an operation of the matrix.
type row struct {
	name string
	// on are the shapes of the row; nil means all.
	on []string
	// exists means that the program's resources exist before the operation, and reusable that it does not change the stack, so that one stack serves
	// all runs.
	exists, reusable bool
	// changed returns inputs that differ from the existing ones; nil means that none do.
	changed func(i int) map[string]property.Value
	// prepared returns the existing inputs; nil means the usual ones.
	prepared func(i int) map[string]property.Value
	do       operation
	// channels is the same for [channels], the baseline, and versus is the target for the ratio of the work; 0 is none.
	channels func(c *channels, ctx context.Context, p *program) error
	versus   float64
	// durable means that the state is in files.
	durable bool
	// reads and writes are how many rounds of calls an operation makes for each resource: those that change nothing, and others.
	reads, writes int
	// atMost is the maximal number of resources; 0 means no limit.
	atMost int
}

// hundredth changes one resource of a hundred.
func hundredth(i int) map[string]property.Value {
	if i%100 != 0 {
		return nil
	}
	return map[string]property.Value{"label": property.String("changed")}
}

// hub returns the inputs of a hub that is deleted before it is replaced when its key changes, together with its dependents.
func hub(key bool) func(i int) map[string]property.Value {
	return func(i int) map[string]property.Value {
		if i > 0 {
			return map[string]property.Value{shape.InputOfHub: property.String("of this hub")}
		}
		return map[string]property.Value{shape.KeyOfHub: property.Bool(key)}
	}
}

const importName = "import"

func rows() []row {
	return []row{
		{name: "preview new", do: sluice.Preview, reads: 1, writes: 1, reusable: true, channels: (*channels).preview, versus: 3},
		{name: "preview same", exists: true, reusable: true, do: sluice.Preview, reads: 2, channels: (*channels).preview, versus: 4},
		{name: "preview changed", exists: true, reusable: true, changed: hundredth, do: sluice.Preview, reads: 2, channels: (*channels).preview},
		{name: "update new", do: sluice.Update, reads: 1, writes: 1, channels: (*channels).update, versus: 3},
		{name: "update durable", do: sluice.Update, reads: 1, writes: 1, durable: true, channels: (*channels).update},
		{name: "update same", exists: true, reusable: true, do: sluice.Update, reads: 2, channels: (*channels).update, versus: 4},
		{name: "update changed", exists: true, changed: hundredth, do: sluice.Update, reads: 2, channels: (*channels).update},
		{name: "update replace", exists: true, on: []string{shape.Hub}, prepared: hub(false), changed: hub(true), do: sluice.Update, channels: (*channels).replace},
		{name: "refresh", exists: true, reusable: true, do: sluice.Refresh, reads: 2, channels: (*channels).refresh},
		{name: "destroy", exists: true, do: destroy, writes: 1, channels: (*channels).destroy, versus: 8},
		{name: importName, on: []string{shape.Wide}, atMost: 1000, channels: (*channels).take},
	}
}

// Operations are the names of the operations.
func Operations() []string {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

// Matrix measures each selected operation on each shape, size and latency.
func Matrix(ctx context.Context, r *runner.Runner) error {
	for _, o := range rows() {
		if !slices.Contains(r.Operations, o.name) {
			continue
		}
		for _, s := range r.Shapes {
			if o.on != nil && !slices.Contains(o.on, s) {
				continue
			}
			for _, latency := range r.Latencies {
				d, err := delaysOf(latency)
				if err != nil {
					return err
				}
				for _, size := range r.Sizes {
					if o.atMost > 0 {
						size = min(size, o.atMost)
					}
					k := results.Key{Case: "engine " + o.name, Shape: s, Latency: d.name, Size: size, Subject: results.Sluice}
					if r.Report.Find(k) != nil || !r.Wants(k) {
						continue
					}
					if err := o.measure(ctx, r, k, d); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (o row) measure(ctx context.Context, r *runner.Runner, k results.Key, d delays) error {
	c := runner.Contender{Subject: results.Sluice, Ideal: o.ideal(k, d), Probe: o.probe(k, d, r.Callers)}
	switch {
	case o.durable:
		c.Targets = []results.Target{{Metric: results.Syncs, AtMost: targetSyncs * float64(k.Size+fewSyncs)}}
	case d.draw == nil && o.versus > 0:
		c.Targets = []results.Target{{Metric: results.Work, Versus: results.Channels, AtMost: o.versus}}
		if o.name == "preview new" {
			c.Targets = append(c.Targets, results.Target{Metric: results.Work, AtMost: targetWork * float64(k.Size)})
		}
	case c.Ideal > 0:
		c.Targets = []results.Target{{Metric: results.Time, Versus: results.Ideal, AtMost: targetIdeal}}
	}
	return r.Measure(ctx, k, c, runner.Contender{Subject: results.Channels, Probe: o.floor(k, d, r.Callers)})
}

// probe returns one run of the engine.
func (o row) probe(k results.Key, d delays, callers int) runner.Probe {
	var kept *stack
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		s := kept
		if s == nil {
			s = newStack(&program{shape: k.Shape, size: k.Size, callers: callers, extra: o.prepared}, d)
			if o.name == importName {
				return s.importAll(ctx, run)
			}
			if o.durable {
				files, err := newDisk(ctx)
				if err != nil {
					return meter.Reading{}, err
				}
				defer func() { _ = files.Close() }()
				s.disk = files
			}
			if o.exists {
				if err := s.create(ctx); err != nil {
					return meter.Reading{}, err
				}
			}
			if o.changed != nil {
				s.program.extra = o.changed
			}
			if o.reusable {
				kept = s
			}
		}
		return s.measure(ctx, run, o.do)
	}
}

// floor returns one run of [channels].
func (o row) floor(k results.Key, d delays, callers int) runner.Probe {
	var kept func(ctx context.Context) error
	var of *stack
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		if kept != nil {
			return of.observe(ctx, run, kept)
		}
		s := newStack(&program{shape: k.Shape, size: k.Size, callers: callers, extra: o.prepared}, d)
		c := newChannels(s.cloud)
		if o.exists || o.name == importName {
			if err := c.update(ctx, s.program); err != nil {
				return meter.Reading{}, err
			}
		}
		if o.changed != nil {
			s.program.extra = o.changed
		}
		do := func(ctx context.Context) error { return o.channels(c, ctx, s.program) }
		if o.reusable {
			kept, of = do, s
		}
		return s.observe(ctx, run, do)
	}
}

// ideal returns the duration in seconds of an operation in which only calls take time: that of the longest chain, or of all calls at the maximal
// concurrency or rate, whichever is longer. It is 0 if calls return at once, or if it is unknown.
func (o row) ideal(k results.Key, d delays) float64 {
	if d.draw == nil || o.reads+o.writes == 0 {
		return 0
	}
	if d.perSecond > 0 {
		return float64(o.reads+o.writes) * float64(shape.Managed(k.Shape, k.Size)) / d.perSecond
	}
	rounds := func(calls, atOnce int) float64 {
		return float64(calls) * max(float64(shape.Depth(k.Shape, k.Size)), float64(shape.Managed(k.Shape, k.Size))/float64(atOnce))
	}
	return (rounds(o.reads, concurrency) + rounds(o.writes, parallel)) * float64(d.mean) / float64(time.Second)
}
