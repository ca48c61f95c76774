package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// changing returns a stage that changes the items of b.
func changing[T interface{ Identity() stages.Identity }](change func(*T)) func(stages.Operation) pipeline.Stage[T, T] {
	return stageOf(func(_ context.Context, in T, emit pipeline.Emit[T]) error {
		if in.Identity().URN().Name() == "b" {
			change(&in)
		}
		return emit(in)
	})
}

// instead returns a stage that has the effect of the standard one, and changes the results for b.
func instead[In, Out interface{ Identity() stages.Identity }](change func(*Out)) func(stages.Operation, pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
	return func(_ stages.Operation, standard pipeline.Stage[In, Out]) pipeline.Stage[In, Out] {
		own := standard
		own.Name = "mine"
		own.Run = func(ctx context.Context, in In, emit pipeline.Emit[Out]) error {
			return standard.Run(ctx, in, func(out Out) error {
				if out.Identity().URN().Name() == "b" {
					change(&out)
				}
				return emit(out)
			})
		}
		return own
	}
}

func TestAStageThatChangesWhatItMayNotIsNamed(t *testing.T) {
	more := property.NewMap(map[string]property.Value{"size": property.Number(9)})
	regoal := func(l *stages.Located, change func(*stages.Goal)) {
		own := *l.Goal
		change(&own)
		l.Goal = &own
	}
	for name, c := range map[string]struct {
		insert     func(*sluice.Engine)
		slot, text string
	}{
		"the goal in place, before it has a name": {func(e *sluice.Engine) {
			e.Registered.Insert(stageOf(func(_ context.Context, r stages.Registered, emit pipeline.Emit[stages.Registered]) error {
				if r.Goal.Name == "b" {
					r.Goal.Inputs = more
				}
				return emit(r)
			}))
		}, "Registered", `it changed Inputs in the goal of test:index:Thing "b", which others share`},
		"the goal in place": {func(e *sluice.Engine) {
			e.Located.Insert(changing(func(l *stages.Located) { l.Goal.RetainOnDelete = new(bool) }))
		}, "Located", "it changed RetainOnDelete in the goal of "},
		"the name": {func(e *sluice.Engine) {
			e.Located.Insert(changing(func(l *stages.Located) { regoal(l, func(g *stages.Goal) { g.Name = "c" }) }))
		}, "Located", `it changed Name in the goal of urn:pulumi:dev::p::test:index:Thing::b, from "b" to "c"`},
		"the parent": {func(e *sluice.Engine) {
			e.Located.Insert(changing(func(l *stages.Located) { regoal(l, func(g *stages.Goal) { g.Parent = urnOf("a") }) }))
		}, "Located", "it changed Parent in the goal of"},
		"the recorded state": {func(e *sluice.Engine) {
			e.Located.Insert(changing(func(l *stages.Located) { l.Old = nil }))
		}, "Located", "it changed Old of "},
		"the goal, once the inputs are checked": {func(e *sluice.Engine) {
			e.Checked.Insert(changing(func(c *stages.Checked) { regoal(&c.Located, func(g *stages.Goal) { g.Provider = "" }) }))
		}, "Checked", "it changed the goal of"},
		"the course": {func(e *sluice.Engine) {
			e.Analyzed.Insert(changing(func(a *stages.Analyzed) { a.Course = stages.LeftOut }))
		}, "Analyzed", "it changed Course of urn:pulumi:dev::p::test:index:Thing::b; a stage in this slot may change the inputs"},
		"the inputs, once they are compared": {func(e *sluice.Engine) {
			e.Diffed.Insert(changing(func(d *stages.Diffed) { d.Inputs = more }))
		}, "Diffed", "it changed Inputs of urn:pulumi:dev::p::test:index:Thing::b, which have been compared"},
		"the steps": {func(e *sluice.Engine) {
			e.Built.Insert(changing(func(b *stages.Built) { b.Tasks = nil }))
		}, "Built", "it changed the steps of"},
		"no inputs from a check": {func(e *sluice.Engine) {
			e.Replace.Check = instead[stages.Located](func(c *stages.Checked) { *c = stages.Checked{Located: c.Located} })
		}, "Check", "it emitted urn:pulumi:dev::p::test:index:Thing::b without Inputs, and its goal has some; set Inputs and Accepted"},
		"the inputs in a comparison": {func(e *sluice.Engine) {
			e.Replace.Diff = instead[stages.Analyzed](func(d *stages.Diffed) { d.Inputs = more })
		}, "Diff", "it changed Inputs of"},
		"the goal in an analysis": {func(e *sluice.Engine) {
			e.Replace.Analyze = instead[stages.Checked](func(a *stages.Analyzed) {
				regoal(&a.Located, func(g *stages.Goal) { g.Protect = new(bool) })
			})
		}, "Analyze", "it changed the goal of"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(both(1)))
			out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
				e := sluice.Standard(o)
				c.insert(e)
				return e.Update(ctx)
			}, program(both(2)))
			k.requireTruth()
			out.requireFailure(`stage "mine" in the slot ` + c.slot + ": " + c.text)
			var broken *stages.SlotError
			require.ErrorAs(t, out.err, &broken)
			require.Equal(t, 1, strings.Count(out.err.Error(), `stage "mine"`), "it is one failure: %v", out.err)
			b := k.recorded("b")
			require.Equal(t, property.Number(1), b.Inputs.At("size"), "b stays as it is")
		})
	}
}

// both returns a program that declares a and then b.
func both(size int) func(*script) {
	return func(s *script) {
		s.thing("a", in{"size": size})
		s.thing("b", in{"size": size})
	}
}

// The recorded states would not be sound.
func TestAStageThatRefersToWhatIsNotThereIsNamed(t *testing.T) {
	b, unknown := urnOf("b"), urnOf("unknown")
	const lacks = ": the program has not registered that, and it is not in the state of the stack"
	for name, c := range map[string]struct {
		change func(*stages.Goal)
		text   string
	}{
		"dependency":       {func(g *stages.Goal) { g.Dependencies = []urn.URN{unknown} }, " cannot depend on " + string(unknown) + lacks},
		"property":         {func(g *stages.Goal) { g.PropertyDependencies = map[string][]urn.URN{"x": {unknown}} }, string(unknown) + " (property x)" + lacks},
		"deleted with":     {func(g *stages.Goal) { g.DeletedWith = unknown }, " cannot be deleted with " + string(unknown) + lacks},
		"replaced with":    {func(g *stages.Goal) { g.ReplaceWith = []urn.URN{unknown} }, " cannot be replaced with " + string(unknown) + lacks},
		"itself":           {func(g *stages.Goal) { g.Dependencies = []urn.URN{b} }, "it made " + string(b) + " refer to itself"},
		"one that follows": {func(g *stages.Goal) { g.Dependencies = []urn.URN{urnOf("c")} }, " cannot depend on " + string(urnOf("c")) + lacks},
	} {
		regoal := func(l *stages.Located) {
			own := *l.Goal
			c.change(&own)
			l.Goal = &own
		}
		for slot, insert := range map[string]func(e *sluice.Engine){
			"Located": func(e *sluice.Engine) { e.Located.Insert(changing(regoal)) },
			"Import":  func(e *sluice.Engine) { e.Replace.Import = instead[stages.Located](regoal) },
		} {
			t.Run(name+" in "+slot, func(t *testing.T) {
				k := newKit(t)
				for _, run := range []func(*sluice.Engine, context.Context) (*sluice.Result, error){preview, update} {
					out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
						e := sluice.Standard(o)
						insert(e)
						return run(e, ctx)
					}, program(func(s *script) { both(1)(s); s.thing("c", nil) }))
					out.requireFailure(`stage "mine" in the slot ` + slot + ": it ")
					out.requireFailure(c.text)
				}
				k.requireTruth()
				require.NotContains(t, k.names(), "b")
			})
		}
	}
}

func TestAStageMayReferToWhatIsThere(t *testing.T) {
	out := upWith(newKit(t), func(e *sluice.Engine) {
		e.Located.Insert(changing(func(l *stages.Located) {
			own := *l.Goal
			own.Dependencies = []urn.URN{urnOf("a")}
			l.Goal = &own
		}))
	})
	require.NoError(t, out.err)
}

func TestAStageMayEmitACopyOfTheGoal(t *testing.T) {
	out := upWith(newKit(t), func(e *sluice.Engine) {
		e.Diffed.Insert(changing(func(d *stages.Diffed) {
			own := *d.Goal
			d.Goal = &own
			d.Inputs = property.NewMap(d.Inputs.Mutable())
		}))
	})
	require.NoError(t, out.err)
}

// A provider may accept no inputs, and a stage around the standard check knows nothing else.
func TestAProviderMayAcceptNoInputs(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{}, nil
		}
	}
	out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		e.Replace.Check = instead[stages.Located](func(*stages.Checked) {})
		return e.Update(ctx)
	}, program(both(1)))
	require.NoError(t, out.err)
}

func TestAnErrorOfAStageNamesTheStageAndTheResource(t *testing.T) {
	boom := errors.New("boom")
	failing := func(e *sluice.Engine) {
		e.Checked.Insert(stageOf(func(_ context.Context, c stages.Checked, emit pipeline.Emit[stages.Checked]) error {
			if c.IsManaged() {
				return boom
			}
			return emit(c)
		}))
	}
	const text = `urn:pulumi:dev::p::test:index:Thing::%: stage "mine" in the slot Checked: boom`
	out := upWith(newKit(t), failing)
	require.ErrorIs(t, out.err, boom)
	require.ErrorContains(t, out.err, strings.Replace(text, "%", "a", 1))
	out.requireDiagnostic(stages.Error, 0, `stage "mine" in the slot Checked: boom`)

	preview := newKit(t).try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		failing(e)
		return e.Preview(ctx)
	}, program(both(1)))
	for _, name := range []string{"a", "b"} {
		require.ErrorContains(t, preview.err, strings.Replace(text, "%", name, 1), "a preview shows all errors")
	}

	early := upWith(newKit(t), func(e *sluice.Engine) {
		e.Registered.Insert(stageOf(func(context.Context, stages.Registered, pipeline.Emit[stages.Registered]) error { return boom }))
	})
	require.ErrorContains(t, early.err, `stage "mine" in the slot Registered, `)
	require.ErrorIs(t, early.err, boom)

	late := upWith(newKit(t), func(e *sluice.Engine) {
		e.Located.Insert(func(stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
			st := pairs(true)(stages.Operation{})
			st.Flush = func(context.Context, pipeline.Emit[stages.Located]) error { return boom }
			return st
		})
	})
	require.ErrorContains(t, late.err, `stage "pairs" in the slot Located, its Flush: boom`)
}

// stopping returns a stage that says for the items of b that the pipeline has stopped.
func stopping[T interface{ fmt.Stringer }]() func(stages.Operation) pipeline.Stage[T, T] {
	return stageOf(func(_ context.Context, in T, emit pipeline.Emit[T]) error {
		if strings.HasSuffix(in.String(), "Thing::b") || in.String() == `test:index:Thing "b"` {
			return fmt.Errorf("my own pipeline: %w", pipeline.ErrStopped)
		}
		return emit(in)
	})
}

// The program does not look at the error of a registration. Without b, the update would delete it.
func TestAStageThatStopsOnlyItselfStopsTheOperation(t *testing.T) {
	for slot, insert := range map[string]func(*sluice.Engine){
		"Registered": func(e *sluice.Engine) { e.Registered.Insert(stopping[stages.Registered]()) },
		"Located":    func(e *sluice.Engine) { e.Located.Insert(stopping[stages.Located]()) },
		"Checked":    func(e *sluice.Engine) { e.Checked.Insert(stopping[stages.Checked]()) },
		"Analyzed":   func(e *sluice.Engine) { e.Analyzed.Insert(stopping[stages.Analyzed]()) },
		"Diffed":     func(e *sluice.Engine) { e.Diffed.Insert(stopping[stages.Diffed]()) },
		"Built":      func(e *sluice.Engine) { e.Built.Insert(stopping[stages.Built]()) },
		"Executed":   func(e *sluice.Engine) { e.Executed.Insert(stopping[stages.Executed]()) },
		"Deleted":    func(e *sluice.Engine) { e.Deleted.Insert(stopping[stages.Deleted]()) },
		"Check": func(e *sluice.Engine) {
			e.Replace.Check = func(_ stages.Operation, standard pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked] {
				own := standard
				own.Name = "mine"
				own.Run = func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Checked]) error {
					if l.URN.Name() == "b" {
						return pipeline.ErrStopped
					}
					return standard.Run(ctx, l, emit)
				}
				return own
			}
		},
	} {
		t.Run(slot, func(t *testing.T) {
			k := newKit(t)
			k.up(program(both(1)))
			declared := []string{"a", "b"}
			if slot == "Deleted" {
				declared = declared[:1]
			}
			op := func(run func(*sluice.Engine, context.Context) (*sluice.Result, error)) *ran {
				return k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
					e := sluice.Standard(o)
					insert(e)
					return run(e, ctx)
				}, func(ctx context.Context, m stages.Monitor) error {
					for _, name := range declared {
						_, _ = m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: name, Custom: true})
					}
					return nil
				})
			}
			for _, out := range []*ran{op(preview), op(update)} {
				out.requireFailure(`stage "mine" in the slot ` + slot)
				var failed *stages.StageFailedError
				require.ErrorAs(t, out.err, &failed)
				require.ErrorIs(t, failed, pipeline.ErrStopped)
				if slot != "Registered" { // it has no name there yet
					require.Equal(t, urnOf("b"), failed.URN)
				}
			}
			if slot != "Deleted" {
				require.Equal(t, []string{"a", "b"}, k.names())
			}
			k.requireTruth()
		})
	}
}

func TestAStageThatDoesNotReturnIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		waits time.Duration
		flush bool
		text  string // "" for none
	}{
		"after five seconds": {6 * time.Second, false, `stage "mine" in the slot Checked: it has not returned from urn:pulumi:dev::p::test:index:Thing::b for 5s`},
		"in its Flush":       {6 * time.Second, true, `stage "mine" in the slot Checked: its Flush has not returned for 5s`},
		"not before":         {4 * time.Second, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := upWith(newKit(t), func(e *sluice.Engine) {
					e.Checked.Insert(func(stages.Operation) pipeline.Stage[stages.Checked, stages.Checked] {
						var kept []stages.Checked
						st := pipeline.Stage[stages.Checked, stages.Checked]{
							Name: "mine",
							Run: func(ctx context.Context, in stages.Checked, emit pipeline.Emit[stages.Checked]) error {
								if in.URN.Name() != "b" {
									return emit(in)
								}
								if c.flush {
									kept = append(kept, in)
									return nil
								}
								if err := await.For(ctx, c.waits); err != nil {
									return err
								}
								return emit(in)
							},
						}
						if c.flush {
							st.Flush = func(ctx context.Context, emit pipeline.Emit[stages.Checked]) error {
								for _, in := range kept {
									if err := errors.Join(await.For(ctx, c.waits), emit(in)); err != nil {
										return err
									}
								}
								kept = nil
								return nil
							}
						}
						return st
					})
				})
				require.NoError(t, out.err)
				if c.text == "" {
					for _, d := range out.diagnostics(stages.Info) {
						require.NotContains(t, d.Message, "has not returned")
					}
					return
				}
				out.requireDiagnostic(stages.Info, 0, c.text+"; the operation waits for it")
			})
		})
	}
}
