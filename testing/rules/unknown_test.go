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

// What is recorded of an output that refers to a resource without an object is its last known value.
func TestOutputsThatReferToWhatFailedKeepTheirValues(t *testing.T) {
	component := func(r *stages.RegisterReply) property.Value { return property.Of(property.Reference{URN: r.URN}) }
	for name, c := range map[string]struct {
		fails  providers.Method // of the resource a
		before bool             // it is recorded before it fails
		refer  func(s *script) property.Value
		want   bool // the reference is recorded
	}{
		"a resource":           {providers.MethodCreate, false, func(s *script) property.Value { return referenceTo(s.thing("a", in{"x": 2})) }, false},
		"a skipped resource":   {providers.MethodCreate, false, func(s *script) property.Value { return referenceTo(s.thing("b", nil, dependsOn(s.thing("a", nil)))) }, false},
		"a skipped component":  {providers.MethodCreate, false, func(s *script) property.Value { return component(s.group("c", dependsOn(s.thing("a", nil)))) }, false},
		"a recorded resource":  {providers.MethodUpdate, true, func(s *script) property.Value { return referenceTo(s.thing("a", in{"x": 2})) }, true},
		"a recorded component": {providers.MethodUpdate, true, func(s *script) property.Value { return component(s.group("c", dependsOn(s.thing("a", in{"x": 2})))) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: c.fails, Name: "a"})
			k.options.ContinueOnError = true
			k.up(program(func(s *script) {
				s.outputs(s.stack(), in{"r": 1, "other": 1})
				s.outputs(s.group("g"), in{"r": 1, "other": 1})
				if c.before {
					s.group("c", dependsOn(s.thing("a", nil)))
				}
			}))
			var ref property.Value
			k.fails(program(func(s *script) {
				stack, g := s.stack(), s.group("g")
				ref = c.refer(s)
				s.outputs(g, in{"r": property.Secret(ref), "other": 2})
				s.outputs(stack, in{"r": property.ArrayOf(ref), "other": 2})
			}), "")
			for _, name := range []string{"g", "p-dev"} {
				outputs := k.recorded(name).Outputs
				require.Equal(t, 2.0, outputs.At("other").AsNumber())
				require.Equal(t, c.want, !property.Equal(property.Number(1), outputs.At("r")), "%s: %v", name, outputs)
			}
		})
	}
}
