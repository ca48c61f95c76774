package inprocess

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// The subjects measured in process.
const (
	stackName = "dev"
	project   = "bench"
)

// stack is a stack with its program and the cloud that it manages.
type stack struct {
	program *program
	cloud   *providertest.Cloud
	state   *sluice.MemoryState
	disk    *disk // nil if the state is in memory
	calls   atomic.Int64
	slow    atomic.Bool // calls have their latency
}

func newStack(p *program, d delays) *stack {
	s := &stack{program: p, state: &sluice.MemoryState{}}
	s.cloud = providertest.NewCloud(providertest.Options{Latency: func(providertest.Call) time.Duration {
		s.calls.Add(1)
		if d.draw == nil || !s.slow.Load() {
			return 0
		}
		return d.draw()
	}})
	return s
}

// parallel is how many creates, updates and deletes run at once.
const parallel = 256

func (s *stack) options() sluice.Options {
	return sluice.Options{Stack: stackName, Project: project, Program: s.program.source(), Providers: s.cloud.Host(), State: s.state, Parallel: parallel}
}

// create creates the resources of the program.
func (s *stack) create(ctx context.Context) error {
	_, err := sluice.Update(ctx, s.options())
	return err
}

// operation is one of the engine's, such as sluice.Update.
type operation func(ctx context.Context, o sluice.Options) (*sluice.Result, error)

// measure measures an operation, with the records of the program and the cloud.
func (s *stack) measure(ctx context.Context, run meter.Run, do operation) (meter.Reading, error) {
	options := s.options()
	if s.disk != nil {
		do = s.disk.durably(do)
	}
	return s.observe(ctx, run, func(ctx context.Context) error {
		_, err := do(ctx, options)
		return err
	})
}

// observe measures a function that runs the program.
func (s *stack) observe(ctx context.Context, run meter.Run, do func(ctx context.Context) error) (meter.Reading, error) {
	s.program.answered = make([]time.Duration, s.program.size)
	s.calls.Store(0)
	s.slow.Store(true)
	defer s.slow.Store(false)
	r, err := meter.Function(ctx, run, do)
	if err != nil {
		return meter.Reading{}, err
	}
	r.Values[results.Calls] = float64(s.calls.Load())
	if s.disk != nil {
		r.Values[results.Syncs] = float64(s.disk.syncs.Load())
	}
	r.Latencies = &results.Latencies{}
	for _, took := range s.program.answered {
		if took > 0 {
			r.Latencies.Record(took)
		}
	}
	return r, nil
}

// importAll measures the import of existing objects.
func (s *stack) importAll(ctx context.Context, run meter.Run) (meter.Reading, error) {
	requests := make([]stages.ImportRequest, s.program.size)
	for i := range requests {
		id := shape.Name(i)
		q := stages.ImportRequest{Type: shape.Type, Name: shape.Name(i), ID: id}
		if err := s.cloud.Put(providertest.Record{ID: id, URN: q.URN(stackName, project), Type: urn.Type(shape.Type), Inputs: s.program.inputs(i, 0)}); err != nil {
			return meter.Reading{}, err
		}
		requests[i] = q
	}
	return s.measure(ctx, run, importing(requests))
}

func destroy(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
	o.Program = nil
	return sluice.Destroy(ctx, o)
}

// importing returns an operation that imports objects.
func importing(requests []stages.ImportRequest) operation {
	return func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		o.Program = nil
		return sluice.Import(ctx, o, requests...)
	}
}
