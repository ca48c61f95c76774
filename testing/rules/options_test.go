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
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/urn"
)

func some(t *testing.T) *urn.PatternSet {
	t.Helper()
	set, err := urn.CompileSet("**::a")
	require.NoError(t, err)
	return set
}

func TestOptionsThatCannotBeUsedAreRefused(t *testing.T) {
	for text, change := range map[string]func(*sluice.Options){
		"Options.Stack is empty":                                           func(o *sluice.Options) { o.Stack = "" },
		"Options.Project is empty":                                         func(o *sluice.Options) { o.Project = "" },
		`Options.Stack must not be "a::b"`:                                 func(o *sluice.Options) { o.Stack = "a::b" },
		`Options.Project must not be "p:"`:                                 func(o *sluice.Options) { o.Project = "p:" },
		"Options.Parallel must be a number from 1, or 0 for 4":             func(o *sluice.Options) { o.Parallel = -1 },
		"Options.ReadLimit must be a number from 1, or 0 for none":         func(o *sluice.Options) { o.ReadLimit = -2 },
		"Options.AnalyzeLimit must be a number from 1, or 0 for all":       func(o *sluice.Options) { o.AnalyzeLimit = -3 },
		"Options.Analyzers[1] is nil":                                      func(o *sluice.Options) { o.Analyzers = []stages.Analyzer{analyzer{}, nil} },
		"Options.Analyzers[0] is nil":                                      func(o *sluice.Options) { o.Analyzers = []stages.Analyzer{(*analyzer)(nil)} },
		"Options.PolicyPacks[0] is nil":                                    func(o *sluice.Options) { o.PolicyPacks = []source.PolicyPack{nil} },
		`Options.Config["region"]: a key is "namespace:name"`:              func(o *sluice.Options) { o.Config = sluice.Config{"region": {Text: "eu"}} },
		"Options.Entropy is empty":                                         func(o *sluice.Options) { o.Entropy = []byte{} },
		`Options.Root must be an absolute path, not "here"`:                func(o *sluice.Options) { o.Root = "here" },
		"no program: set Options.Program":                                  func(o *sluice.Options) { o.Program = nil },
		"Options.Targeting has both Targets and Excludes; set one of them": func(o *sluice.Options) { o.Targeting.Targets, o.Targeting.Excludes = some(t), some(t) },
	} {
		k := newKit(t)
		o := withProgram(k, one(nil))
		change(&o)
		_, err := sluice.Update(t.Context(), o)
		require.ErrorContains(t, err, text)
		require.Nil(t, k.state.Snapshot())
		require.Empty(t, k.cloud.Calls())
	}
}

func TestAWrongNameIsToldAlone(t *testing.T) {
	o := newKit(t).options
	o.Stack = "a::b"
	_, err := sluice.Destroy(t.Context(), o)
	require.ErrorContains(t, err, "Options.Stack must not be")
	require.NotContains(t, err.Error(), "Options.Project")
}

func TestWhatIsMissingIsRefused(t *testing.T) {
	k := newKit(t)
	_, err := sluice.EncodePlan(t.Context(), k.up(program(one(nil))).Plan, nil, true)
	require.ErrorContains(t, err, "there is no plan to encode; an operation makes one if Options.MakePlan is set")
	_, err = sluice.MoveResources(t.Context(), nil, nil, nil, state.MoveOptions{})
	require.ErrorContains(t, err, "was never deployed")
	k.options.Program = source.Requests(nil)
	_, err = sluice.Update(t.Context(), k.options)
	require.ErrorContains(t, err, "Options.Program is a nil source.Func")
	_, err = providers.NewRecordedAnswers(providers.RecordedOptions{}, nil)
	require.EqualError(t, err, "RecordedOptions need Applies and Identify")
}

// What the program is told once the run is over explains nothing.
func TestThePanicOfAnObserverIsTheOnlyFailure(t *testing.T) {
	o := withProgram(newKit(t), func(s *script) {
		s.err = together(3, func(i int) error {
			other := &script{ctx: s.ctx, m: s.m}
			other.thing(fmt.Sprint("a", i), nil)
			return other.err
		})
	})
	o.Observe = func(e stages.Event) {
		if _, begun := e.(stages.StepStarted); begun {
			panic("boom")
		}
	}
	_, err := sluice.Update(t.Context(), o)
	require.ErrorContains(t, err, "the observer of events: panic: boom")
	require.NotContains(t, err.Error(), "shut down")
	require.False(t, strings.HasSuffix(err.Error(), "\n"), "%q", err)
}

func TestAllFaultsOfOptionsAreToldAtOnce(t *testing.T) {
	_, err := sluice.Import(t.Context(), sluice.Options{Parallel: -1, ReadLimit: -1}, stages.ImportRequest{Type: "test:index:Thing"})
	require.Error(t, err)
	require.Equal(t, 5, strings.Count(err.Error(), "\n")+1, err.Error())
	require.ErrorContains(t, err, "has no name")
}

func TestWhatAnOperationWouldLeaveOutOfAccountIsRefused(t *testing.T) {
	for name, op := range map[string]operation{
		"a destroy": sluice.Destroy, "a refresh": sluice.PreviewRefresh, "a recovery": sluice.Recover,
		"an import": func(ctx context.Context, o sluice.Options) (*sluice.Result, error) { return sluice.Import(ctx, o) },
	} {
		o := newKit(t).options
		o.Plan = &state.Plan{}
		_, err := op(t.Context(), o)
		require.ErrorContains(t, err, "Options.Plan cannot hold "+name)
	}
	o := newKit(t).options
	o.Targeting.Targets = some(t)
	_, err := sluice.Import(t.Context(), o)
	require.ErrorContains(t, err, "an import is about its requests only")
}

func TestAStackOfAnotherNameIsRefused(t *testing.T) {
	b, err := host.OpenBackend(t.Context(), host.BackendOptions{URL: "file://" + t.TempDir(), Project: "p"})
	require.NoError(t, err)
	defer b.Close()
	how := host.LockedOptions{Create: true, Secrets: secrets.Plain{}}
	require.NoError(t, host.Locked(t.Context(), b, "prod", how, func(ctx context.Context, s backend.Stack) error {
		o := withProgram(newKit(t), one(nil))
		o.State = s
		_, err := sluice.Update(ctx, o)
		require.ErrorContains(t, err, "Options.State is the stack prod of project p, and Options name the stack dev of project p")
		return nil
	}))
}

func TestAnOperationThatIsStoppedBeforeItBeginsSaysSo(t *testing.T) {
	k := newKit(t)
	k.options.Interrupts = &sluice.Interrupts{}
	k.options.Interrupts.Stop()
	r := k.try(sluice.Update, program(one(nil)))
	requireCanceled(t, r)
	require.ErrorIs(t, r.err, sluice.ErrInterrupted)
	require.ErrorContains(t, r.err, "its Interrupts had been stopped; for another operation, call Reset or make new ones")

	k.options.Interrupts.Reset()
	require.False(t, k.options.Interrupts.Stopped())
	k.up(program(one(nil)))
}

func TestResetLeavesAStoppedOperationStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		interrupts := &sluice.Interrupts{}
		k.options.Interrupts = interrupts
		time.AfterFunc(5*time.Second, func() { interrupts.Stop(); interrupts.Reset() })
		r := k.try(sluice.Update, program(func(s *script) { s.thing("a", nil); s.thing("b", nil) }))
		requireCanceled(t, r)
		require.ErrorIs(t, r.err, sluice.ErrInterrupted)
		require.NotContains(t, r.err.Error(), "before the operation began")
		require.Equal(t, []string{"create a"}, r.changed())
	})
}

// The cause of a context that ends reaches the caller, wherever the operation waits.
func TestCausesAreKeptWhereverAnOperationWaits(t *testing.T) {
	why := errors.New("the office closes")
	for name, change := range map[string]func(*kit, *sluice.Engine){
		"in a pause": func(k *kit, _ *sluice.Engine) { k.options.Interrupts.Pause() },
		"in a slot": func(_ *kit, e *sluice.Engine) {
			e.Diffed.Insert(stageOf(func(ctx context.Context, d stages.Diffed, emit pipeline.Emit[stages.Diffed]) error {
				<-ctx.Done()
				return ctx.Err()
			}))
		},
		"in a slot of deletes": func(_ *kit, e *sluice.Engine) {
			e.Deleting.Insert(stageOf(func(ctx context.Context, _ stages.Deleting, _ pipeline.Emit[stages.Deleting]) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}))
		},
		"in a provider": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, slow())
				k.up(program(one(nil)))
				k.options.Interrupts = &sluice.Interrupts{}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(5*time.Second, func() { cancel(why) })
				r := k.try(func(_ context.Context, o sluice.Options) (*sluice.Result, error) {
					e := sluice.Standard(o)
					if change != nil {
						change(k, e)
					}
					return e.Update(ctx)
				}, program(func(s *script) { s.thing("b", nil) }))
				requireCanceled(t, r)
				require.ErrorIs(t, r.err, context.Canceled)
				require.ErrorIs(t, r.err, why)
			})
		})
	}
}

func TestLockedKeepsTheCause(t *testing.T) {
	why := errors.New("the office closes")
	b, err := host.OpenBackend(t.Context(), host.BackendOptions{URL: "file://" + t.TempDir(), Project: "p"})
	require.NoError(t, err)
	defer b.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	err = host.Locked(ctx, b, "dev", host.LockedOptions{Create: true, Secrets: secrets.Plain{}}, func(ctx context.Context, s backend.Stack) error {
		o := withProgram(newKit(t), func(s *script) { cancel(why); s.thing("a", nil) })
		o.State = s
		_, err := sluice.Update(ctx, o)
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why)
	err = host.Locked(ctx, b, "dev", host.LockedOptions{}, func(context.Context, backend.Stack) error { return nil })
	require.ErrorIs(t, err, why)
}
