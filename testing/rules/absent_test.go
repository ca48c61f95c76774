package rules

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// An answer that says neither that the object exists nor that it does not must not make a refresh forget it.
func TestAnAnswerThatDoesNotSayWhetherTheObjectExistsForgetsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(id string) providers.ReadResponse
		text   string // of the error, "" for none
		stays  bool
	}{
		"only the ID": {func(id string) providers.ReadResponse { return providers.ReadResponse{ID: id} }, "", true},
		"nothing":     {func(string) providers.ReadResponse { return providers.ReadResponse{} }, "neither an ID nor Absent", true},
		"absent":      {func(string) providers.ReadResponse { return providers.ReadResponse{Absent: true} }, "", false},
		"absent with its ID": {func(id string) providers.ReadResponse {
			return providers.ReadResponse{ID: id, Absent: true}
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": 1})))
			k.fake = func(f *providertest.Fake) {
				f.OnRead = func(_ context.Context, q providers.ReadRequest) (providers.ReadResponse, error) {
					return c.answer(q.ID), nil
				}
			}
			out := k.try(sluice.Refresh, nil)
			if c.text != "" {
				out.requireFailure(c.text)
			} else {
				require.NoError(t, out.err)
			}
			require.Equal(t, c.stays, slices.Contains(k.names(), "a"))
		})
	}
}
