package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// watchedState is a state in memory that fails on request and shows every moment of its record.
type watchedState struct {
	*sluice.MemoryState
	onBegin func(state.Pending) error
	onEnd   func(state.Change) error
	// afterEnd makes an end fail after the recorder has the change.
	afterEnd func(state.Change) error
	watch    func(*state.Snapshot)
}

func (w *watchedState) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	r, err := w.MemoryState.Record(ctx, base)
	if err != nil {
		return nil, err
	}
	return &watchedRecorder{r.(readableRecorder), w}, nil
}

// readableRecorder is a recorder of a state in memory.
type readableRecorder interface {
	state.Recorder
	Snapshot() (*state.Snapshot, error)
}

type watchedRecorder struct {
	readableRecorder
	state *watchedState
}

func (w *watchedRecorder) Begin(ctx context.Context, p state.Pending) error {
	if f := w.state.onBegin; f != nil {
		if err := f(p); err != nil {
			return err
		}
	}
	return w.seen(w.readableRecorder.Begin(ctx, p))
}

func (w *watchedRecorder) End(ctx context.Context, c state.Change) error {
	if f := w.state.onEnd; f != nil {
		if err := f(c); err != nil {
			return err
		}
	}
	err := w.seen(w.readableRecorder.End(ctx, c))
	if f := w.state.afterEnd; f != nil && err == nil {
		err = f(c)
	}
	return err
}

func (w *watchedRecorder) seen(err error) error {
	if err != nil || w.state.watch == nil {
		return err
	}
	s, err := w.Snapshot()
	if err == nil {
		w.state.watch(s)
	}
	return err
}

var errFull = errors.New("disk full")

func TestOperationThatCannotBeRecordedDoesNotBegin(t *testing.T) {
	k := newKit(t)
	k.options.State = &watchedState{MemoryState: k.state, onBegin: func(p state.Pending) error {
		if p.Resource.URN.Name() == "a" {
			return errFull
		}
		return nil
	}}
	r := k.fails(program(one(nil)), "recording that create of "+string(urnOf("a"))+" begins: disk full")
	require.Empty(t, r.changed())
}

func TestProgramIsNotAnsweredBeforeTheRecord(t *testing.T) {
	k := newKit(t)
	k.options.State = &watchedState{MemoryState: k.state, onEnd: func(c state.Change) error {
		if c.Add != nil && c.Add.URN.Name() == "a" {
			return errFull
		}
		return nil
	}}
	var err error
	r := k.fails(program(func(s *script) {
		_, err = s.m.Register(s.ctx, registration("test:index:Thing", "a", nil))
		s.err = err
	}), "recording the end of create of "+string(urnOf("a"))+": disk full")
	require.ErrorIs(t, err, stages.ErrShutDown)
	require.Equal(t, []string{"create a"}, r.changed())
	require.Len(t, k.state.Snapshot().Pending, 1)
	made, err := k.cloud.Records()
	require.NoError(t, err)
	id := made[0].ID
	require.ErrorContains(t, r.err, "the object with the ID "+id+" was made.", "nobody else knows the ID")
	require.Equal(t, []advice.Advice{{Action: advice.Adopt, URNs: []urn.URN{urnOf("a")}, ID: id}}, advice.Of(r.err))
}

func TestAnObjectThatIsRecordedAtTheEndNeedsNoAdvice(t *testing.T) {
	k := newKit(t)
	k.options.State = &watchedState{MemoryState: k.state, afterEnd: func(c state.Change) error {
		if c.Add != nil && c.Add.URN.Name() == "a" {
			return errFull
		}
		return nil
	}}
	r := k.fails(program(one(nil)), "recording the end of create of "+string(urnOf("a"))+": disk full")
	require.Contains(t, k.names(), "a")
	require.NotContains(t, r.err.Error(), "was made")
	require.Empty(t, advice.Of(r.err))
}

// A registration that could not be recorded is refused before an object is created for it.
func TestARegistrationThatCouldNotBeRecordedIsRefused(t *testing.T) {
	unknown := urnOf("unknown")
	refers := func(change func(*stages.RegisterRequest)) func(*script) {
		return func(s *script) {
			req := registration("test:index:Thing", "a", nil)
			change(req)
			_, s.err = s.m.Register(s.ctx, req)
		}
	}
	const lacks = ": the program has not registered that, and it is not in the state of the stack"
	for name, c := range map[string]struct {
		run  func(*script)
		want string
	}{
		"on itself": {refers(func(r *stages.RegisterRequest) { r.Dependencies = []urn.URN{urnOf("a")} }),
			string(urnOf("a")) + " cannot depend on itself"},
		"by a property on itself": {refers(func(r *stages.RegisterRequest) {
			r.PropertyDependencies = map[string][]urn.URN{"x": {urnOf("a")}}
		}), string(urnOf("a")) + " cannot depend on itself (property x)"},
		"on something unknown": {refers(func(r *stages.RegisterRequest) { r.Dependencies = []urn.URN{unknown} }),
			string(urnOf("a")) + " cannot depend on " + string(unknown) + lacks},
		"by a property on something unknown": {refers(func(r *stages.RegisterRequest) {
			r.PropertyDependencies = map[string][]urn.URN{"x": {unknown}}
		}), string(unknown) + " (property x)" + lacks},
		"deleted with something unknown": {refers(func(r *stages.RegisterRequest) { r.DeletedWith = unknown }),
			" cannot be deleted with " + string(unknown)},
		"replaced with itself": {refers(func(r *stages.RegisterRequest) { r.ReplaceWith = []urn.URN{urnOf("a")} }),
			" cannot be replaced with itself"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			r := k.try(sluice.Preview, program(c.run))
			r.requireFailure(c.want)
			r = k.fails(program(c.run), c.want)
			require.Empty(t, r.changed())
			require.Empty(t, k.names())
		})
	}
}

// Every prefix of the record is a valid state, and each operation is pending while its call is running.
func TestEveryMomentOfTheRecordIsSound(t *testing.T) {
	k := newKit(t)
	moments := 0
	var latest *state.Snapshot
	k.options.State = &watchedState{MemoryState: k.state, watch: func(s *state.Snapshot) {
		moments++
		latest = s
		require.NoError(t, state.Verify(s))
	}}
	pending := func(typ state.PendingType, u urn.URN) {
		require.Len(t, latest.Pending, 1)
		require.Equal(t, typ, latest.Pending[0].Type)
		require.Equal(t, u, latest.Pending[0].Resource.URN)
	}
	k.options.Parallel = 1
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			pending(state.Creating, r.URN)
			return f.Base.Create(ctx, r)
		}
		f.OnUpdate = func(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
			pending(state.Updating, r.URN)
			return f.Base.Update(ctx, r)
		}
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			pending(state.Deleting, r.URN)
			return f.Base.Delete(ctx, r)
		}
		f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
			pending(state.Reading, r.URN)
			return f.Base.Read(ctx, r)
		}
	}
	k.exists("x", nil)
	version := func(v int) func(s *script) {
		return func(s *script) {
			g := s.group("g")
			a := s.thing("a", in{"dbr": v}, parent(g))
			b := s.thing("b", nil, from("immutableOf", a))
			c := s.thing("c", in{"immutable": v}, dependsOn(b))
			s.thing("d", in{"x": v}, dependsOn(c))
			s.read("r", "x")
			s.outputs(g, in{"v": v})
		}
	}
	for v := range 3 {
		k.up(program(version(v)))
		// The latest record contains everything in the replies to the program.
		require.Len(t, latest.Resources, 7)
	}
	k.destroy()
	require.Greater(t, moments, 50)
}

func TestAnswerOfARegistrationIsWhatGetResourceFinds(t *testing.T) {
	k := newKit(t)
	var reply *stages.InvokeReply
	var missing error
	k.up(program(func(s *script) {
		a := s.thing("a", in{"x": 1})
		if s.err == nil {
			reply, s.err = s.getResource(a.URN)
		}
		_, missing = s.getResource(urnOf("nobody"))
	}))
	require.Equal(t, idOf("a", 1), reply.Return.At("id").AsString())
	require.Equal(t, 1.0, reply.Return.At("state").AsMap().At("x").AsNumber())
	require.ErrorContains(t, missing, "unknown resource "+string(urnOf("nobody")))
}

func TestChainIsNotInterruptedByOthers(t *testing.T) {
	// The dependents' deletes, the root's delete and the new object are one unit (ORD-4), however long each takes.
	for _, slowest := range []string{"a", "b", "other"} {
		synctest.Test(t, func(t *testing.T) {
			k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
				if c.URN.Name() == slowest {
					return 10 * time.Second
				}
				return time.Second
			}})
			version := func(v int) func(ctx context.Context, m stages.Monitor) error {
				return func(ctx context.Context, m stages.Monitor) error {
					return together(2, func(i int) error {
						s := &script{ctx: ctx, m: m}
						if i == 0 {
							s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v})))
						} else {
							s.thing("other", in{"immutable": v})
						}
						return s.err
					})
				}
			}
			k.up(version(1))
			r := k.up(version(2))
			var chain []string
			for _, c := range r.changed() {
				if c != "create other" && c != "delete other" {
					chain = append(chain, c)
				}
			}
			require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, chain)
		})
	}
}
