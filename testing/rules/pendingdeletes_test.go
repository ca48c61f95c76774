package rules

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// The providers of all deletes are started before the first delete (steps.md 5.2).
func TestNothingIsDeletedIfTheProviderOfOneDeleteCannotBeStarted(t *testing.T) {
	for name, op := range map[string]operation{"update": sluice.Update, "destroy": sluice.Destroy} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				s.thing("a", nil)
				s.register("other:index:Thing", "b", nil)
			}))
			before := k.names()
			host := k.options.Providers
			k.options.Providers = providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
				if spec.Package == "other" {
					return nil, errRefused
				}
				return host.Load(ctx, spec)
			})
			var p source.Func
			if name == "update" {
				p = program(func(*script) {})
			}
			r := k.try(op, p)
			r.requireFailure("refused")
			require.Empty(t, r.changed())
			require.Equal(t, before, k.names())
		})
	}
}

// Two roots that are deleted first have a partner that is replaced with both. One of them deletes it, and the other one waits for that, too.
func TestBothRootsWaitForTheDeleteOfThePartnerThatTheyShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.up(program(func(s *script) {
			a, b := s.thing("a", in{"dbr": 1}), s.thing("b", in{"dbr": 1})
			s.thing("partner", nil, replaceWith(a, b))
		}))
		var over atomic.Bool
		k.fake = func(f *providertest.Fake) {
			f.OnDelete = func(ctx context.Context, q providers.DeleteRequest) error {
				if q.URN.Name() != "partner" {
					require.True(t, over.Load(), "%s is deleted before the partner is gone", q.URN.Name())
					return f.Base.Delete(ctx, q)
				}
				time.Sleep(5 * time.Second)
				over.Store(true)
				return f.Base.Delete(ctx, q)
			}
		}
		r := k.up(func(ctx context.Context, m stages.Monitor) error {
			return together(2, func(i int) error {
				time.Sleep(time.Duration(i) * time.Millisecond) // a is the first
				_, err := m.Register(ctx, registration("test:index:Thing", []string{"a", "b"}[i], in{"dbr": 2}))
				return err
			})
		})
		require.Len(t, asked[providers.DeleteRequest](r, "partner"), 1)
	})
}

// A delete whose outcome nobody knows is not begun again in the end phase of the same run, although its resource is no longer declared.
func TestADeleteThatMayHaveBeenDoneIsNotRepeatedInTheSameRun(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Err: &providers.UncertainError{Err: errRefused, Lost: true}, Update: true})
	k.options.ContinueOnError = true
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	r := k.fails(program(func(s *script) { s.thing("a", in{"dbr": 2}) }), "refused")
	require.Equal(t, []string{"delete b"}, r.changed())
	pending := r.snapshot.Pending
	require.Len(t, pending, 1)
	require.Equal(t, state.Deleting, pending[0].Type)
	require.Equal(t, urnOf("b"), pending[0].Resource.URN)
}

// A destroy that runs its program replaces a provider whose old object is deleted first, and with it what uses it. A delete whose outcome nobody knows
// is not begun again at the end, where a destroy deletes what is left, and what the object depends on stays.
func TestADestroyDoesNotRepeatADeleteThatMayHaveBeenDone(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Err: &providers.UncertainError{Err: errRefused, Lost: true}, Update: true})
	declare := func(region int) source.Func {
		return program(func(s *script) {
			a := s.thing("a", nil)
			s.thing("other", nil)
			_, ref := s.provider("prov", in{"dbrRegion": region})
			s.thing("b", nil, via(ref), dependsOn(a))
		})
	}
	k.up(declare(1))
	k.options.RunProgram, k.options.ContinueOnError = true, true
	r := k.try(sluice.Destroy, declare(2))
	r.requireFailure("refused")
	require.Equal(t, []string{"delete b", "delete other"}, r.changed())
	require.ElementsMatch(t, []string{"a", "prov", "b"}, k.names())
	pending := r.snapshot.Pending
	require.Len(t, pending, 1)
	require.Equal(t, state.Deleting, pending[0].Type)
	require.Equal(t, urnOf("b"), pending[0].Resource.URN)
}

// A read concerns another object than the one whose delete has an unknown outcome, so that it takes the name. That object stays recorded, and its
// delete pending.
func TestAReadTakesTheNameOfWhatMayBeDeleted(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Err: &providers.UncertainError{Err: errRefused, Lost: true}, Update: true})
	k.options.ContinueOnError = true
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	made := k.recorded("b").ID
	k.exists("x", nil)
	var read *stages.RegisterReply
	r := k.fails(program(func(s *script) {
		s.thing("a", in{"dbr": 2})
		read = s.read("b", "x")
	}), "refused")
	require.Equal(t, "x", read.ID)
	require.Equal(t, []string{"delete b"}, r.changed())
	require.Equal(t, []string{"a", "b", "b (delete)"}, k.names())
	require.Equal(t, made, k.all("b")[1].ID)
	require.Len(t, r.snapshot.Pending, 1)
	require.Equal(t, state.Deleting, r.snapshot.Pending[0].Type)
}
