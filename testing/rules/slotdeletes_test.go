package rules

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// deletes records the items that pass the slots of deletes, with the changes in the cloud by then.
type deletes struct {
	cloud *providertest.Cloud

	mu   sync.Mutex // guards the rest
	list []string
}

func (d *deletes) note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, text)
}

// deletedObjects returns the number of objects deleted so far.
func (d *deletes) deletedObjects() (n int) {
	for _, c := range d.cloud.Calls() {
		if c.Method == providers.MethodDelete {
			n++
		}
	}
	return n
}

// with returns an operation whose engine has stages in the slots of deletes. refuse are the names of resources whose delete
// is refused.
func (d *deletes) with(op func(*sluice.Engine, context.Context) (*sluice.Result, error), refuse ...string) operation {
	return func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		e.Deleting.Insert(stageOf(func(_ context.Context, x stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
			if x.Internal {
				return emit(x)
			}
			d.note("deleting " + string(x.Op) + " " + x.URN.Name())
			if slices.Contains(refuse, x.URN.Name()) {
				return x.Refuse("not " + x.URN.Name())
			}
			return emit(x)
		}))
		e.Deleted.Insert(stageOf(func(_ context.Context, x stages.Deleted, emit pipeline.Emit[stages.Deleted]) error {
			if !x.Internal {
				text := "deleted " + x.URN.Name()
				if x.Err != nil {
					text += ": " + x.Err.Error()
				}
				d.note(text)
			}
			return emit(x)
		}))
		return op(e, ctx)
	}
}

var (
	update, preview, destroy = (*sluice.Engine).Update, (*sluice.Engine).Preview, (*sluice.Engine).Destroy
)

func chainOfThree(s *script) {
	a := s.thing("a", nil)
	b := s.thing("b", nil, from("of", a))
	s.thing("c", nil, from("of", b))
}

func TestAllDeletesOfADestroyPassBeforeTheFirstBegins(t *testing.T) {
	k := newKit(t)
	k.up(program(chainOfThree))
	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(destroy), nil)
	require.NoError(t, out.err)
	require.Equal(t, []string{
		"deleting delete c", "deleting delete b", "deleting delete a", "deleted c", "deleted b", "deleted a",
	}, d.list)
	require.Empty(t, k.names())
}

func TestARefusedDeleteDeletesNothing(t *testing.T) {
	k := newKit(t)
	k.up(program(chainOfThree))
	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(destroy, "a"), nil)
	out.requireFailure("not a")
	require.Zero(t, d.deletedObjects())
	require.Equal(t, []string{"a", "b", "c"}, k.names())
	k.requireTruth()
}

// An error of a pipeline that a stage runs itself says that a pipeline has stopped, and that of the operation has not.
func TestADeleteIsRefusedByAnyError(t *testing.T) {
	refused := errors.New("nobody has approved")
	type stage = pipeline.Stage[stages.Deleting, stages.Deleting]
	keep := func(context.Context, stages.Deleting, pipeline.Emit[stages.Deleting]) error { return nil }
	ask := func(ctx context.Context) (why error) {
		asked := await.NewEvent()
		questions := pipeline.From("questions", 0, func(_ context.Context, emit pipeline.Emit[string]) error {
			return errors.Join(emit("yes?"), emit("no?"))
		})
		_ = pipeline.Run(ctx, pipeline.Via(questions, pipeline.Stage[string, string]{
			Name: "ask", Workers: 2,
			Run: func(ctx context.Context, q string, _ pipeline.Emit[string]) error {
				if q == "no?" {
					return errors.Join(asked.Wait(ctx), refused)
				}
				asked.Fire()
				<-ctx.Done()
				why = context.Cause(ctx)
				return why
			},
		}), nil)
		return why
	}
	for name, gate := range map[string]stage{
		"that the pipeline has stopped": {Run: func(context.Context, stages.Deleting, pipeline.Emit[stages.Deleting]) error {
			return pipeline.ErrStopped
		}},
		"that the pipeline has stopped, in Flush": {
			Run: keep, Flush: func(context.Context, pipeline.Emit[stages.Deleting]) error { return pipeline.ErrStopped },
		},
		"why a pipeline of the stage has stopped": {Run: func(ctx context.Context, _ stages.Deleting, _ pipeline.Emit[stages.Deleting]) error { return ask(ctx) }},
		"that a context of the stage has ended":   {Run: func(context.Context, stages.Deleting, pipeline.Emit[stages.Deleting]) error { return context.Canceled }},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(chainOfThree))
			gate.Name = "gate"
			out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
				e := sluice.Standard(o)
				e.Deleting.Insert(func(stages.Operation) stage { return gate })
				return e.Destroy(ctx)
			}, nil)
			out.requireFailure(`stage "gate" in the slot Deleting`)
			var failed *stages.StageFailedError
			require.ErrorAs(t, out.err, &failed)
			require.Equal(t, []string{"a", "b", "c"}, k.names())
			k.requireTruth()
		})
	}
}

func TestDeletesAtTheEndOfAnUpdatePassTheSlots(t *testing.T) {
	k := newKit(t)
	k.up(program(chainOfThree))
	less := program(func(s *script) { s.thing("a", nil) })

	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(preview, "b", "c"), less)
	out.requireFailure("not b")
	out.requireFailure("not c") // a preview shows all refusals
	require.Equal(t, []string{"deleting delete c", "deleting delete b", "deleted c", "deleted b"}, d.list)

	d = &deletes{cloud: k.cloud}
	out = k.try(d.with(update, "b"), less)
	out.requireFailure("not b")
	require.Equal(t, []string{"a", "b", "c"}, k.names())

	d = &deletes{cloud: k.cloud}
	out = k.try(d.with(update), less)
	require.NoError(t, out.err)
	require.Equal(t, []string{"a"}, k.names())
}

func TestDeletesBeforeAReplacementPassTheSlots(t *testing.T) {
	before := func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }
	after := program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 2}))) })

	k := newKit(t)
	k.up(program(before))
	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(update), after)
	require.NoError(t, out.err)
	require.Equal(t, []string{"deleting delete-replaced b", "deleting delete-replaced a", "deleted b", "deleted a"}, d.list)

	k = newKit(t)
	k.up(program(before))
	d = &deletes{cloud: k.cloud}
	out = k.try(d.with(update, "b"), after)
	out.requireFailure("not b")
	require.Zero(t, d.deletedObjects())
	k.requireTruth()
}

func TestTheOldObjectOfAReplacementPassesTheSlots(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"immutable": 1}) }))
	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(update), program(func(s *script) { s.thing("a", in{"immutable": 2}) }))
	require.NoError(t, out.err)
	require.Equal(t, []string{"deleting delete-replaced a", "deleted a"}, d.list)
}

func TestADeleteThatFailsPassesWithItsError(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b"})
	k.options.ContinueOnError = true
	k.up(program(chainOfThree))
	d := &deletes{cloud: k.cloud}
	out := k.try(d.with(destroy), nil)
	require.Error(t, out.err)
	require.Len(t, d.list, 5, "a was not tried: %v", d.list)
	require.Equal(t, "deleted c", d.list[3])
	require.Contains(t, d.list[4], "deleted b: ")
}

// A stage of the slot Deleting may hold a group until it has received all of it.
func TestAStageMaySeeAllDeletesBeforeItLetsAnyPass(t *testing.T) {
	k := newKit(t)
	k.up(program(chainOfThree))
	var sizes []int
	op := func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		e.Deleting.Insert(func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
			var kept []stages.Deleting
			return pipeline.Stage[stages.Deleting, stages.Deleting]{
				Name: "count",
				Run: func(_ context.Context, d stages.Deleting, _ pipeline.Emit[stages.Deleting]) error {
					kept = append(kept, d)
					return nil
				},
				Flush: func(_ context.Context, emit pipeline.Emit[stages.Deleting]) error {
					sizes = append(sizes, len(kept))
					for _, d := range kept {
						if err := emit(d); err != nil {
							return err
						}
					}
					kept = nil
					return nil
				},
			}
		})
		return e.Destroy(ctx)
	}
	require.NoError(t, k.try(op, nil).err)
	require.Equal(t, []int{4}, sizes, "with the default provider")
}
