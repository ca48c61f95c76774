package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// sluggish takes ten seconds, or less if it is cancelled.
func sluggish(ctx context.Context) error {
	select {
	case <-time.After(10 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sluggishAnalyzer takes a long time for every resource.
type sluggishAnalyzer struct{ analyzer }

func (sluggishAnalyzer) Analyze(ctx context.Context, _ stages.Analysis) (stages.Findings, error) {
	return stages.Findings{}, sluggish(ctx)
}

// whereItIs is the place of an item in the pipeline at an interrupt.
type whereItIs struct {
	slow    providertest.Call // the call that takes ten seconds; none if the program or an analyzer does
	before  func(*script)     // the resources of the stack before
	change  func(*kit)        // before the interrupted operation
	op      operation         // nil means an update
	program func(*script)
	changed []string // the changes made in spite of the interrupt
	names   []string // the resources recorded in the end
}

func places() map[string]whereItIs {
	pair := func(dbr int) func(*script) {
		return func(s *script) {
			a := s.thing("a", in{"dbr": dbr})
			s.thing("b", nil, from("immutableUses", a))
		}
	}
	none := func(*script) {}
	sluggishTransform := func(r *stages.RegisterRequest) {
		r.Transforms = []stages.Transform{func(ctx context.Context, in stages.TransformInput) (stages.TransformInput, error) {
			return in, sluggish(ctx)
		}}
	}
	return map[string]whereItIs{
		"register": {before: none, program: one(nil, sluggishTransform)},
		"configuration": {
			slow: providertest.Call{Method: providertest.MethodConfigure}, before: none, program: one(nil),
		},
		"import": {
			slow: providertest.Call{Method: providers.MethodRead}, before: none, change: func(k *kit) { k.exists("there", nil) },
			program: one(nil, func(r *stages.RegisterRequest) { r.ImportID = "there" }), names: []string{"a"},
		},
		"read": {
			slow: providertest.Call{Method: providers.MethodRead}, before: none, change: func(k *kit) { k.exists("there", nil) },
			program: func(s *script) { s.read("a", "there") }, names: []string{"a"},
		},
		"check":   {slow: providertest.Call{Method: providers.MethodCheck}, before: none, program: one(nil)},
		"analyze": {before: none, change: func(k *kit) { k.options.Analyzers = []stages.Analyzer{sluggishAnalyzer{}} }, program: one(nil)},
		"diff": {
			slow: providertest.Call{Method: providers.MethodDiff}, before: one(in{"x": 1}), program: one(in{"x": 2}), names: []string{"a"},
		},
		"build": {
			slow:   providertest.Call{Method: providers.MethodDiff, URN: urnOf("b")},
			before: pair(1), program: pair(2), names: []string{"a", "b"},
		},
		"execute": {
			slow: providertest.Call{Method: providers.MethodCreate}, before: none, program: one(nil), changed: []string{"create a"},
			names: []string{"a"},
		},
		"the delete of a delete before replace": {
			slow: providertest.Call{Method: providers.MethodDelete, URN: urnOf("b")}, before: pair(1), program: pair(2),
			changed: []string{"delete b"}, names: []string{"a", "b (pending)"},
		},
		"a hook": {before: none, program: func(s *script) {
			s.err = s.m.RegisterHook(s.ctx, stages.Hook{Name: "h", Run: func(ctx context.Context, _ stages.HookInput) error { return sluggish(ctx) }})
			s.thing("a", nil, hooks("BeforeCreate", "h"))
		}, changed: []string{"create a"}, names: []string{"a"}},
		"an invoke": {slow: providertest.Call{Method: providers.MethodInvoke}, before: none, program: func(s *script) {
			_, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Args: property.Map{}})
			s.err = errors.Join(s.err, err)
			s.thing("a", nil)
		}},
		"the end phase": {
			slow: providertest.Call{Method: providers.MethodDelete}, before: pair(1), program: none, changed: []string{"delete b"},
			names: []string{"a"},
		},
		"a destroy": {
			slow: providertest.Call{Method: providers.MethodDelete}, before: pair(1), op: sluice.Destroy, changed: []string{"delete b"},
			names: []string{"a"},
		},
		"a refresh": {
			slow: providertest.Call{Method: providers.MethodRead}, before: one(nil), op: sluice.Refresh, names: []string{"a"},
		},
		"a refresh before the update": {
			slow: providertest.Call{Method: providers.MethodRead}, before: one(nil), program: one(in{"x": 2}), names: []string{"a"},
			change: func(k *kit) { k.options.Refresh = true },
		},
		"the program": {before: none, program: func(s *script) { s.err = sluggish(s.ctx) }},
	}
}

// interruptions are the ways to interrupt an operation after five seconds.
var interruptions = map[string]func(*kit, operation) operation{
	"stop": func(k *kit, op operation) operation {
		k.options.Interrupts = &sluice.Interrupts{}
		time.AfterFunc(5*time.Second, k.options.Interrupts.Stop)
		return op
	},
	"cancel": func(k *kit, op operation) operation {
		k.options.Interrupts = &sluice.Interrupts{}
		time.AfterFunc(5*time.Second, k.options.Interrupts.Cancel)
		return op
	},
	"the end of the caller's context": func(_ *kit, op operation) operation {
		return func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return op(ctx, o)
		}
	},
}

// Wherever an item is, an interrupt ends the run: steps that had begun are recorded, no others begin, and nothing
// keeps running. The bubble detects remaining goroutines.
func TestAnInterruptEndsTheRunWhereverAnItemIs(t *testing.T) {
	for where, p := range places() {
		for how, interrupt := range interruptions {
			t.Run(where+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { interruptAt(t, p, interrupt) })
			})
		}
	}
}

func interruptAt(t *testing.T, p whereItIs, interrupt func(*kit, operation) operation) {
	armed := false
	k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
		if armed && c.Method == p.slow.Method && (p.slow.URN == "" || p.slow.URN == c.URN) {
			return 10 * time.Second
		}
		return 0
	}})
	k.up(program(p.before))
	armed = true
	if p.change != nil {
		p.change(k)
	}
	op := p.op
	if op == nil {
		op = sluice.Update
	}
	began := time.Now()
	r := k.try(interrupt(k, op), program(p.program))
	require.Less(t, time.Since(began), time.Minute)
	requireCanceled(t, r)
	require.Equal(t, p.changed, nilIfEmpty(r.changed()))
	require.Equal(t, p.names, nilIfEmpty(k.names()))
	require.Empty(t, r.diagnostics(stages.Error))
	require.Empty(t, k.state.Snapshot().Pending)
	require.NoError(t, state.Verify(k.state.Snapshot()))

	// The next run completes the operation.
	armed = false
	k.options.Interrupts, k.options.Analyzers = nil, nil
	if p.op != nil {
		require.NoError(t, k.try(p.op, nil).err)
		return
	}
	require.NoError(t, k.try(sluice.Update, program(p.program)).err)
	require.Empty(t, k.state.Snapshot().Pending)
}

func nilIfEmpty(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}
