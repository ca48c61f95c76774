package rules

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// slowDiffOf makes the Diff of one resource slow.
func (k *kit) slowDiffOf(name string, by time.Duration) {
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
			if r.URN.Name() == name {
				time.Sleep(by)
			}
			return f.Base.Diff(ctx, r)
		}
	}
}

// apart returns a program that declares each resource a second after the one before, without waiting for its reply.
func apart(declare ...func(s *script)) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		return together(len(declare), func(i int) error {
			time.Sleep(time.Duration(i) * time.Second)
			s := &script{ctx: ctx, m: m}
			declare[i](s)
			return s.err
		})
	}
}

// The delete-before-replace of a resource also deletes one that depended on it. The recorded state of that one does not count then, and neither does
// anything that is said about the comparison with it, however long the decision takes.
func TestWhatIsSaidOfAStateCountsOnlyIfTheStateDoes(t *testing.T) {
	refusesOne := stages.PolicyInfo{Name: "x-is-2", Level: stages.Mandatory, Type: stages.ResourcePolicy}
	for name, c := range map[string]struct {
		prepare func(*kit)
		engine  func(*sluice.Engine)
		declare func(*script)
	}{
		"a violation of a policy": {
			prepare: func(k *kit) {
				k.policies(analyzer{policies: []stages.PolicyInfo{refusesOne}, analyze: func(a stages.Analysis) []stages.Violation {
					if a.Name != "b" || a.Properties.At("x").AsNumber() == 2 {
						return nil
					}
					return []stages.Violation{{Policy: refusesOne.Name, Message: "x is not 2", Level: stages.Mandatory}}
				}})
			},
			declare: func(s *script) { s.thing("b", in{"x": 2}, ignore("x")) },
		},
		"a stage that refuses": {
			engine: func(e *sluice.Engine) {
				e.Checked.Insert(stageOf(func(_ context.Context, c stages.Checked, emit pipeline.Emit[stages.Checked]) error {
					if c.URN.Name() == "b" && c.Inputs.At("x").AsNumber() != 2 {
						return errors.New("x is not 2")
					}
					return emit(c)
				}))
			},
			declare: func(s *script) { s.thing("b", in{"x": 2}, ignore("x")) },
		},
		"a path that cannot be read": {declare: func(s *script) { s.thing("b", in{"x": 2}, replaceOn("a[")) }},
		"a change that cannot be ignored": {
			declare: func(s *script) { s.thing("b", in{"x": 1, "list": []any{1}}, ignore("list[0]")) },
		},
		"a change of a component that cannot be ignored": {
			declare: func(s *script) {
				s.register("my:index:Box", "b", in{"list": []any{1}}, func(r *stages.RegisterRequest) { r.Custom = false }, ignore("list[0]"))
			},
		},
	} {
		for _, op := range []func(*sluice.Engine, context.Context) (*sluice.Result, error){(*sluice.Engine).Preview, (*sluice.Engine).Update} {
			var ends []string
			for _, by := range []time.Duration{0, 10 * time.Second} {
				synctest.Test(t, func(t *testing.T) {
					k := newKit(t)
					k.up(program(func(s *script) { s.thing("b", in{"x": 1}, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
					if c.prepare != nil {
						c.prepare(k)
					}
					k.slowDiffOf("a", by)
					r := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
						e := sluice.Standard(o)
						if c.engine != nil {
							c.engine(e)
						}
						return op(e, ctx)
					}, apart(func(s *script) { s.thing("a", in{"dbr": 2}) }, c.declare))
					ends = append(ends, fmt.Sprint(r.err, r.diagnostics(stages.Info), r.diagnostics(stages.Error)))
				})
			}
			require.Equal(t, ends[0], ends[1], name)
		}
	}
}
