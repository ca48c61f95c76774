package rules

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// bad returns m with properties that no state can hold.
func bad(m property.Map) property.Map {
	var deep property.Value
	for range property.MaxDepth + 1 {
		deep = property.ArrayOf(deep)
	}
	return m.With("name\xff", property.Null).With("deep", deep).With("sig", property.Of(values(in{property.SignatureKey: "x"})))
}

// The object exists. Without its ID nobody could find it any more.
func TestOutputsThatCannotBeRecordedAreLeftOut(t *testing.T) {
	unhealthy := func(id string, m property.Map, err error) error {
		return &providers.InitError{ID: id, Properties: bad(m), Reasons: []string{"it is slow"}, Err: err}
	}
	slow := errors.New("the cloud is slow")
	for name, c := range map[string]struct {
		before bool
		spoil  func(f *providertest.Fake)
		op     operation
		says   string // in the error, "" if there is none
		alone  bool   // the reason is the only one
	}{
		"of a create": {op: sluice.Update, says: "answered create of " + string(urnOf("a")) + " with properties that cannot be recorded", alone: true,
			spoil: func(f *providertest.Fake) {
				f.OnCreate = func(_ context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
					return providers.CreateResponse{ID: "i", Properties: bad(r.Properties)}, nil
				}
			}},
		"of a create that is not healthy": {op: sluice.Update, says: "the cloud is slow", spoil: func(f *providertest.Fake) {
			f.OnCreate = func(_ context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
				return providers.CreateResponse{}, unhealthy("i", r.Properties, slow)
			}
		}},
		"of an update": {before: true, op: sluice.Update, says: "answered update of", alone: true, spoil: func(f *providertest.Fake) {
			f.OnUpdate = func(_ context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
				return providers.UpdateResponse{Properties: bad(r.NewInputs)}, nil
			}
		}},
		"of a read": {before: true, op: sluice.Refresh, alone: true, spoil: func(f *providertest.Fake) {
			f.OnRead = func(_ context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
				return providers.ReadResponse{ID: r.ID, Properties: bad(values(in{"size": 2})), Inputs: bad(r.Inputs), HasInputs: true}, nil
			}
		}},
		"of a read that is not healthy": {before: true, op: sluice.Refresh, spoil: func(f *providertest.Fake) {
			f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
				return providers.ReadResponse{}, unhealthy("", values(in{"size": 2}), slow)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			if c.before {
				k.up(program(one(in{"size": 1})))
			}
			k.fake = c.spoil
			r := k.try(c.op, program(one(in{"size": 2})))
			if c.says == "" {
				require.NoError(t, r.err)
			} else {
				r.requireFailure(c.says)
			}
			a := k.recorded("a")
			require.NotEmpty(t, a.ID)
			require.Equal(t, []string{"size"}, a.Outputs.Names())
			require.Equal(t, 2.0, a.Outputs.At("size").AsNumber())
			require.Empty(t, k.state.Snapshot().Pending)
			why := a.InitErrors
			if !c.alone {
				require.Equal(t, "it is slow", why[0])
				why = why[1:]
			}
			require.Len(t, why, 1)
			require.Contains(t, why[0], "provider test has answered")
			require.Contains(t, why[0], "which are left out")
		})
	}
}
