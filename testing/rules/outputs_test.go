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

func TestRegisteredOutputsReplaceThoseOfTheComponent(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.outputs(s.group("g"), in{"x": 1, "y": secret(2)}) }))
	require.True(t, property.EqualMaps(values(in{"x": 1, "y": secret(2)}), k.recorded("g").Outputs))
	r := k.up(program(func(s *script) { s.outputs(s.group("g"), in{"x": 3}) }))
	require.True(t, property.EqualMaps(values(in{"x": 3}), k.recorded("g").Outputs))
	var outputs []stages.StepDone
	for _, e := range r.events {
		if d, ok := e.(stages.StepDone); ok && d.Outputs {
			outputs = append(outputs, d)
		}
	}
	require.Len(t, outputs, 1)
	require.Equal(t, 3.0, outputs[0].Step.New.Outputs.At("x").AsNumber())

	// A component that registers no outputs keeps the old ones.
	k.up(program(func(s *script) { s.group("g") }))
	require.Equal(t, 3.0, k.recorded("g").Outputs.At("x").AsNumber())
}

func TestOutputsOfWhatIsNotPendingAreRefused(t *testing.T) {
	k := newKit(t)
	var twice, nobody error
	k.up(program(func(s *script) {
		g := s.group("g")
		s.outputs(g, in{"x": 1})
		twice = s.m.RegisterOutputs(s.ctx, g.URN, values(in{"x": 2}))
		nobody = s.m.RegisterOutputs(s.ctx, urnOf("nobody"), property.Map{})
	}))
	require.ErrorContains(t, twice, "cannot complete a resource '"+string(k.recorded("g").URN)+"' whose registration isn't pending")
	require.ErrorContains(t, nobody, "cannot complete a resource '"+string(urnOf("nobody"))+"'")
	require.Equal(t, 1.0, k.recorded("g").Outputs.At("x").AsNumber())
}

// A component that an earlier failure skips is over for the engine. The code that creates it goes on, and may register
// outputs.
func TestOutputsOfASkippedComponentAreIgnored(t *testing.T) {
	for name, before := range map[string]bool{"new": false, "recorded": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, failCreate("bad", errRefused))
			k.options.ContinueOnError = true
			var registered error
			given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
				g := s.register(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom, q.Dependencies = false, r.Dependencies })
				registered = s.m.RegisterOutputs(s.ctx, g.URN, values(in{"x": 2}))
				return providers.ConstructResponse{URN: g.URN}, s.err
			})
			if before {
				k.up(program(given(func(s *script) { s.register("test:index:Remote", "r", nil, remote) })))
			}
			r := k.fails(program(given(func(s *script) {
				s.register("test:index:Remote", "r", nil, remote, dependsOn(s.thing("bad", nil)))
				s.thing("independent", nil)
			})), "refused")
			require.NoError(t, registered)
			require.Len(t, r.diagnostics(stages.Error), 2, "of the resource and of the run")
			require.NotNil(t, k.recorded("independent"))
		})
	}
}

func TestStackOutputsAreReplacedAfterASuccess(t *testing.T) {
	k := newKit(t)
	r := k.up(program(func(s *script) { s.outputs(s.stack(), in{"a": 1, "b": secret("s")}) }))
	require.True(t, property.EqualMaps(values(in{"a": 1, "b": secret("s")}), r.Outputs))
	r = k.up(program(func(s *script) { s.outputs(s.stack(), in{"c": 2}) }))
	require.True(t, property.EqualMaps(values(in{"c": 2}), r.Outputs))
	require.True(t, property.EqualMaps(values(in{"c": 2}), r.summary().Outputs))
	require.True(t, property.EqualMaps(values(in{"a": 1, "b": secret("s")}), r.summary().OldOutputs))
	// A program that registers no outputs keeps them.
	k.up(program(func(s *script) { s.stack() }))
	require.True(t, property.EqualMaps(values(in{"c": 2}), k.recorded("p-dev").Outputs))
	// A preview has them and records nothing.
	r = k.preview(program(func(s *script) { s.outputs(s.stack(), in{"d": 3}) }))
	require.True(t, property.EqualMaps(values(in{"d": 3}), r.Outputs))
	require.True(t, property.EqualMaps(values(in{"c": 2}), k.recorded("p-dev").Outputs))
}

func TestStackOutputsAreMergedAfterAFailure(t *testing.T) {
	tests := map[string]struct {
		failure providertest.Failure
		program func(s *script)
	}{
		"of a resource": {
			providertest.Failure{Method: providers.MethodCreate, Name: "bad"},
			func(s *script) {
				stack := s.stack()
				s.outputs(stack, in{"b": 20, "c": 30})
				s.thing("bad", nil, parent(stack))
			},
		},
		"of the program": {
			providertest.Failure{Method: "none"},
			func(s *script) {
				s.outputs(s.stack(), in{"b": 20, "c": 30})
				s.err = errRefused
			},
		},
		"of a delete": {
			providertest.Failure{Method: providers.MethodDelete, Name: "gone"},
			func(s *script) { s.outputs(s.stack(), in{"b": 20, "c": 30}) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, test.failure)
			k.up(program(func(s *script) {
				stack := s.stack()
				s.thing("gone", nil, parent(stack))
				s.outputs(stack, in{"a": 1, "b": 2})
			}))
			r := k.fails(program(test.program), "refused")
			want := values(in{"a": 1, "b": 20, "c": 30})
			require.True(t, property.EqualMaps(want, k.recorded("p-dev").Outputs))
			require.True(t, property.EqualMaps(want, r.Outputs))
		})
	}
}

func TestStackOutputsAreMergedAfterAnInterrupt(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.outputs(s.stack(), in{"a": 1, "b": 2}) }))
	k.options.Interrupts = &sluice.Interrupts{}
	r := k.try(sluice.Update, program(func(s *script) {
		s.outputs(s.stack(), in{"b": 3})
		k.options.Interrupts.Stop()
	}))
	requireCanceled(t, r)
	require.True(t, property.EqualMaps(values(in{"a": 1, "b": 3}), k.recorded("p-dev").Outputs))
}

func TestStackOutputsCarryWhatIsUnknown(t *testing.T) {
	k := newKit(t)
	r := k.preview(program(func(s *script) {
		stack := s.stack()
		s.outputs(stack, in{"arn": s.thing("a", nil, parent(stack)).Outputs.At("arn")})
	}))
	require.True(t, r.Outputs.At("arn").IsUnknown())
}

func TestOutputsOfOtherStacksAreRead(t *testing.T) {
	k := newKit(t)
	k.options.StackOutputs = func(_ context.Context, name string) (property.Map, error) {
		if name != "organization/q/prod" {
			return property.Map{}, errRefused
		}
		return values(in{"url": "u", "key": secret("k")}), nil
	}
	var reply *stages.RegisterReply
	refer := func(name string) func(s *script) {
		return func(s *script) {
			reply = s.read("ref", name, func(r *stages.ReadRequest) {
				r.Type, r.Properties = "pulumi:pulumi:StackReference", values(in{"name": name})
			})
		}
	}
	k.up(program(refer("organization/q/prod")))
	want := values(in{"url": "u", "key": secret("k")})
	require.True(t, property.EqualMaps(want, reply.Outputs.At("outputs").AsMap()) || property.EqualMaps(want, reply.Outputs.At("outputs").StripSecretsAndOutputs().AsMap()))
	require.Equal(t, "key", reply.Outputs.At("secretOutputNames").AsArray().At(0).AsString())
	require.True(t, k.recorded("ref").External)
	k.fails(program(refer("organization/q/none")), "refused")
}
