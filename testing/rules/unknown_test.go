package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// inputOf makes a property of a registration an unknown that comes from another resource.
func inputOf(name string, to *stages.RegisterReply) option {
	return func(r *stages.RegisterRequest) {
		r.Inputs = r.Inputs.With(name, property.Of(values(in{"deep": property.Secret(property.Computed())})))
		if to != nil {
			r.PropertyDependencies[name] = append(r.PropertyDependencies[name], to.URN)
			r.Dependencies = append(r.Dependencies, to.URN)
		}
	}
}

func TestNothingIsMadeOfAnInputThatIsNotKnownInAnUpdate(t *testing.T) {
	for name, before := range map[string]bool{"create": false, "update": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			if before {
				k.up(program(func(s *script) { s.thing("a", nil); s.thing("b", in{"x": 1}) }))
			}
			r := k.fails(program(func(s *script) { s.thing("b", nil, inputOf("x", s.thing("a", nil))) }),
				"nothing is done about "+string(urnOf("b"))+": the value of its property x.deep is not known; it comes from "+string(urnOf("a")))
			require.NotContains(t, r.changed(), name+" b")
			if before {
				require.Equal(t, 1.0, k.recorded("b").Inputs.At("x").AsNumber(), "what is recorded stays")
			}
			k.fails(program(func(s *script) { s.thing("a", nil); s.thing("b", nil, inputOf("x", nil)) }), "does not say from which resource it comes")
		})
	}
}

func TestAnInputWhoseChangesAreIgnoredNeedNotBeKnown(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", in{"x": 1}) }))
	k.up(program(func(s *script) {
		s.thing("b", nil, inputOf("x", nil), func(r *stages.RegisterRequest) { r.IgnoreChanges = []string{"x"} })
	}))
	require.Equal(t, 1.0, k.recorded("b").Inputs.At("x").AsNumber())
}

func TestAnOutputThatIsNotKnownOutsideOfPreviewsIsAWarning(t *testing.T) {
	unknown := values(in{"size": 1, "x": property.Of(values(in{"deep": property.Computed()}))})
	for name, c := range map[string]struct {
		before bool
		op     operation
		spoil  func(f *providertest.Fake)
	}{
		"create": {op: sluice.Update, spoil: func(f *providertest.Fake) {
			f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
				return providers.CreateResponse{ID: "i", Properties: unknown}, nil
			}
		}},
		"update": {before: true, op: sluice.Update, spoil: func(f *providertest.Fake) {
			f.OnUpdate = func(context.Context, providers.UpdateRequest) (providers.UpdateResponse, error) {
				return providers.UpdateResponse{Properties: unknown}, nil
			}
		}},
		"read": {before: true, op: sluice.Refresh, spoil: func(f *providertest.Fake) {
			f.OnRead = func(_ context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
				return providers.ReadResponse{ID: r.ID, Properties: unknown}, nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			if c.before {
				k.up(program(one(in{"size": 2})))
			}
			k.fake = c.spoil
			r := k.try(c.op, program(one(in{"size": 1})))
			require.NoError(t, r.err)
			warned := r.diagnostics(stages.Warning)
			require.Len(t, warned, 1)
			require.Equal(t, urnOf("a"), warned[0].URN)
			require.Contains(t, warned[0].Message, "provider test has answered "+name+" with the property x.deep, whose value is not known")
			require.True(t, k.recorded("a").Outputs.IsKnown())
		})
	}
	t.Run("create in a preview", func(t *testing.T) {
		k := newKit(t)
		k.fake = func(f *providertest.Fake) {
			f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
				return providers.CreateResponse{Properties: unknown}, nil
			}
		}
		require.Empty(t, k.preview(program(one(in{"size": 1}))).diagnostics(stages.Warning))
	})
}

func TestWhatNeedsAnOutputOfWhatFailedIsSkipped(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a"})
	k.options.ContinueOnError = true
	r := k.fails(program(func(s *script) {
		a := s.thing("a", nil)
		b := s.thing("b", nil, inputOf("x", a))
		require.Equal(t, stages.Skip, b.Result)
		require.Equal(t, stages.Success, s.thing("c", nil).Result)
	}), "")
	require.NotContains(t, r.changed(), "create b")
	require.Contains(t, r.changed(), "create c")
}

func TestOutputsOfAComponentThatAreNotKnownKeepTheirValues(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.outputs(s.group("g"), in{"x": 1, "y": 2}) }))
	k.up(program(func(s *script) {
		s.outputs(s.group("g"), in{"x": property.Computed(), "y": 3, "z": property.Computed()})
	})).
		requireDiagnostic(stages.Warning, 0, `outputs are not known after this operation: "x" keeps its last known value; "z" has none and is not recorded`)
	require.True(t, property.EqualMaps(values(in{"x": 1, "y": 3}), k.recorded("g").Outputs))
}
