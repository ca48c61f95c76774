package rules

import (
	"context"
	"slices"
	"testing"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// panicsAt returns a stage that panics at the item with a name.
func panicsAt[T any](name func(T) string) func(stages.Operation) pipeline.Stage[T, T] {
	return func(stages.Operation) pipeline.Stage[T, T] {
		return pipeline.Stage[T, T]{Name: "fragile", Run: func(_ context.Context, in T, emit pipeline.Emit[T]) error {
			if name(in) == "b" {
				panic("boom")
			}
			return emit(in)
		}}
	}
}

func TestAPanicInAStageOfACallerNamesTheResource(t *testing.T) {
	const byName, byURN = `test:index:Thing "b"`, "urn:pulumi:dev::p::test:index:Thing::b"
	for name, c := range map[string]struct {
		insert func(*sluice.Engine)
		item   string
	}{
		"Registered": {func(e *sluice.Engine) {
			e.Registered.Insert(panicsAt(func(r stages.Registered) string { return r.Goal.Name }))
		}, byName},
		"Located": {func(e *sluice.Engine) {
			e.Located.Insert(panicsAt(func(l stages.Located) string { return l.URN.Name() }))
		}, byURN},
		"Checked": {func(e *sluice.Engine) {
			e.Checked.Insert(panicsAt(func(c stages.Checked) string { return c.URN.Name() }))
		}, byURN},
		"Analyzed": {func(e *sluice.Engine) {
			e.Analyzed.Insert(panicsAt(func(a stages.Analyzed) string { return a.URN.Name() }))
		}, byURN},
		"Diffed": {func(e *sluice.Engine) {
			e.Diffed.Insert(panicsAt(func(d stages.Diffed) string { return d.URN.Name() }))
		}, byURN},
		"Built": {func(e *sluice.Engine) { e.Built.Insert(panicsAt(func(b stages.Built) string { return b.URN.Name() })) }, byURN},
		"Executed": {func(e *sluice.Engine) {
			e.Executed.Insert(panicsAt(func(x stages.Executed) string { return x.URN.Name() }))
		}, byURN},
	} {
		t.Run(name, func(t *testing.T) {
			program := func(ctx context.Context, m stages.Monitor) error {
				for _, name := range []string{"a", "b"} {
					if _, err := thing(ctx, m, name, nil); err != nil {
						break
					}
				}
				_, err := thing(ctx, m, "c", nil)
				return err // the run is over
			}
			o := options(providertest.NewCloud(providertest.Options{}), &sluice.MemoryState{}, program)
			var shown []string
			o.Observe = func(e stages.Event) {
				if d, ok := e.(stages.Diagnostic); ok && d.Severity == stages.Error {
					shown = append(shown, d.Message)
				}
			}
			engine := sluice.Standard(o)
			c.insert(engine)
			_, err := engine.Update(t.Context())
			require.ErrorContains(t, err, `stage "fragile" in the slot `+name)
			require.ErrorContains(t, err, c.item)
			require.ErrorContains(t, err, ": panic: boom")
			require.Len(t, shown, 2, "the panic, and that the update has failed: %q", shown)
			require.Contains(t, shown[0], "boom")
		})
	}
}

// endingBackwards runs an update whose program registers names at once, in this order. end ends the registrations in the
// opposite order. It returns the errors.
func endingBackwards(t *testing.T, names []string, end func(stages.Checked) error) []string {
	arrived, ended := make([]*await.Event, len(names)), make([]*await.Event, len(names))
	for i := range names {
		arrived[i], ended[i] = await.NewEvent(), await.NewEvent()
	}
	engine := sluice.Standard(options(providertest.NewCloud(providertest.Options{}), &sluice.MemoryState{}, func(ctx context.Context, m stages.Monitor) error {
		return together(len(names), func(i int) error {
			if i > 0 {
				if err := arrived[i-1].Wait(ctx); err != nil {
					return err
				}
			}
			_, err := thing(ctx, m, names[i], nil)
			return err
		})
	}))
	engine.Checked.Insert(func(stages.Operation) pipeline.Stage[stages.Checked, stages.Checked] {
		return pipeline.Stage[stages.Checked, stages.Checked]{
			Name: "fragile", Workers: pipeline.Unbounded,
			Run: func(_ context.Context, in stages.Checked, emit pipeline.Emit[stages.Checked]) error {
				i := slices.Index(names, in.URN.Name())
				if i < 0 {
					return emit(in) // the default provider
				}
				arrived[i].Fire()
				defer ended[i].Fire()
				if i+1 < len(names) {
					if err := ended[i+1].Wait(t.Context()); err != nil {
						return err
					}
				}
				return end(in)
			},
		}
	})
	_, err := engine.Update(t.Context())
	var failed *sluice.FailedError
	require.ErrorAs(t, err, &failed)
	var all *multierror.Error
	require.ErrorAs(t, failed.Err, &all)
	var texts []string
	for _, err := range all.Errors {
		texts = append(texts, err.Error())
	}
	return texts
}

// Whichever registration ends first, the errors of a stage are listed by resource.
func TestPanicsInAStageOfACallerAreListedByResource(t *testing.T) {
	texts := endingBackwards(t, []string{"z", "m", "a"}, func(stages.Checked) error { panic("boom") })
	require.Equal(t, []string{
		"urn:pulumi:dev::p::test:index:Thing::a: stage \"fragile\" in the slot Checked: panic: boom",
		"urn:pulumi:dev::p::test:index:Thing::m: stage \"fragile\" in the slot Checked: panic: boom",
		"urn:pulumi:dev::p::test:index:Thing::z: stage \"fragile\" in the slot Checked: panic: boom",
	}, texts)
}

func TestAPanicIsAnErrorBesideWhatAStageRefuses(t *testing.T) {
	texts := endingBackwards(t, []string{"b", "a"}, func(c stages.Checked) error {
		if c.URN.Name() == "a" {
			return c.Refuse("not today")
		}
		panic("boom")
	})
	require.Equal(t, []string{
		"urn:pulumi:dev::p::test:index:Thing::a: not today",
		"urn:pulumi:dev::p::test:index:Thing::b: stage \"fragile\" in the slot Checked: panic: boom",
	}, texts)
}

// The program must not continue with a registration that a stage refuses: what follows would depend on timing.
func TestARefusalIsHeardBeforeTheReply(t *testing.T) {
	refuse := func(op func(*sluice.Engine, context.Context) (*sluice.Result, error)) operation {
		return func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
			e := sluice.Standard(o)
			e.Built.Insert(stageOf(func(_ context.Context, b stages.Built, emit pipeline.Emit[stages.Built]) error {
				if b.URN.Name() == "a" {
					return b.Refuse("not today")
				}
				return emit(b)
			}))
			return op(e, ctx)
		}
	}
	update, refresh := refuse((*sluice.Engine).Update), refuse((*sluice.Engine).Refresh)
	for name, c := range map[string]struct {
		before  func(*script)
		do      operation
		program func(*script)
	}{
		"of what a refresh has read": {one(in{"size": 1}), refresh, one(in{"size": 1})},
		"of what is imported":        {nil, update, adopted("ext-1", in{"size": 1})},
		"of what cannot be imported": {nil, update, adopted("nowhere", in{"size": 1})},
		"of what is not imported because of a failure": {nil, update, func(s *script) {
			gone := s.thing("gone", nil, imports("nowhere"))
			s.thing("a", in{"size": 1}, imports("ext-1"), dependsOn(gone))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := running(newKit(t))
			k.options.ContinueOnError = true
			k.exists("ext-1", in{"size": 1})
			if c.before != nil {
				k.up(program(c.before))
			}
			var replied error
			r := k.try(c.do, program(func(s *script) {
				c.program(s)
				replied = s.err
			}))
			require.ErrorContains(t, r.err, "not today")
			require.Error(t, replied, "the program has gone on")
		})
	}
}
