package step

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

func (r *rig) hook(t *testing.T, h stages.Hook, err error) {
	t.Helper()
	h.Run = func(context.Context, stages.HookInput) error {
		r.diary.lines = append(r.diary.lines, h.Name)
		return err
	}
	require.NoError(t, r.hooks.Add(h.Name, &h, nil))
}

func hooked(hooks map[string][]string) *stages.Decision {
	d := create("web")
	d.New.ResourceHooks = hooks
	return d
}

func TestNamesOfHooksAreUniqueAcrossBothKinds(t *testing.T) {
	var s HookSet
	require.NoError(t, s.Add("a", &stages.Hook{}, nil))
	require.NoError(t, s.Add("b", nil, &stages.ErrorHook{}))
	for _, name := range []string{"a", "b", ""} {
		require.ErrorAs(t, s.Add(name, &stages.Hook{}, nil), new(*stages.InvalidRequestError))
		require.ErrorAs(t, s.Add(name, nil, &stages.ErrorHook{}), new(*stages.InvalidRequestError))
	}
	_, ok := s.hook("b")
	require.False(t, ok)
}

func TestHooksRunAroundTheCall(t *testing.T) {
	r := newRig(t, stages.Settings{})
	for _, name := range []string{"one", "two", "three"} {
		r.hook(t, stages.Hook{Name: name}, nil)
	}
	_, err := r.one(stages.NewPendingReply(true), hooked(map[string][]string{"BeforeCreate": {"two", "one"}, "AfterCreate": {"three"}}))
	require.NoError(t, err)
	require.Equal(t, []string{"begin creating", "two", "one", "call", "end", "three"}, r.diary.lines)
}

func TestAHookThatFailsBeforeAStepKeepsItFromBeingDone(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	r.hook(t, stages.Hook{Name: "guard"}, errBroken)
	r.hook(t, stages.Hook{Name: "next"}, nil)
	rep, err := r.one(stages.NewPendingReply(true), hooked(map[string][]string{"BeforeCreate": {"guard", "next"}}))
	require.NoError(t, err)
	require.Equal(t, TaskFailed, rep.End)
	require.Equal(t, []string{"begin creating", "guard", "end"}, r.diary.lines)
	require.Nil(t, r.diary.changes[0].Add)
}

func TestAHookThatFailsAfterAStepFailsTheRunAndNotTheStep(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		r, q := newRig(t, stages.Settings{ContinueOnError: goOn}), stages.NewPendingReply(true)
		r.hook(t, stages.Hook{Name: "smoke test"}, errBroken)
		rep, err := r.one(q, hooked(map[string][]string{"AfterCreate": {"smoke test"}}))
		require.NoError(t, err)
		require.Equal(t, TaskDone, rep.End)
		require.NoError(t, rep.Err)
		require.Len(t, r.executor.control.Failures(), 1)
		require.Equal(t, !goOn, r.executor.control.IsHalted())
		reply, err := q.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, stages.Success, reply.Result)
	}
}

func TestTheErrorsOfAHookCanBeIgnored(t *testing.T) {
	r := newRig(t, stages.Settings{})
	r.hook(t, stages.Hook{Name: "optional", IgnoreErrors: true}, errBroken)
	rep, err := r.one(stages.NewPendingReply(true), hooked(map[string][]string{"BeforeCreate": {"optional"}}))
	require.NoError(t, err)
	require.NoError(t, rep.Err)
	require.Contains(t, r.diary.lines, "call")
	require.False(t, r.executor.control.HasFailed())
}

func TestAHookThatNobodyHasRegisteredFailsTheStep(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	rep, err := r.one(stages.NewPendingReply(true), hooked(map[string][]string{"BeforeCreate": {"unknown"}}))
	require.NoError(t, err)
	require.ErrorContains(t, rep.Err, `hook "unknown" was not registered`)
	require.NotContains(t, r.diary.lines, "call")
}

func TestAPreviewRunsOnlyHooksThatAreMeantForIt(t *testing.T) {
	r := newRig(t, stages.Settings{Info: stages.RunInfo{DryRun: true}})
	r.hook(t, stages.Hook{Name: "always", OnDryRun: true}, nil)
	r.hook(t, stages.Hook{Name: "for real"}, nil)
	require.NoError(t, r.executor.caller.before(hooked(map[string][]string{"BeforeCreate": {"for real", "always"}})))
	require.Equal(t, []string{"always"}, r.diary.lines)
}

// failing makes creates fail. An error hook requests another try as long as again returns true.
func failing(t *testing.T, r *rig, cause error, again func(errs []string) (bool, error)) *stages.Decision {
	t.Helper()
	r.fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
		r.diary.lines = append(r.diary.lines, "call")
		return providers.CreateResponse{}, cause
	}
	require.NoError(t, r.hooks.Add("retry", nil, &stages.ErrorHook{Name: "retry", Run: func(_ context.Context, in stages.HookInput) (bool, error) {
		require.Equal(t, "create", in.FailedOperation)
		return again(in.Errors)
	}}))
	return hooked(map[string][]string{"OnError": {"retry"}})
}

func calls(r *rig) int {
	return len(slices.DeleteFunc(slices.Clone(r.diary.lines), func(line string) bool { return line != "call" }))
}

func TestAnErrorHookMayAskForAnotherTry(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	var most int
	d := failing(t, r, errBroken, func(errs []string) (bool, error) {
		most = len(errs)
		return most < 3, nil
	})
	rep, err := r.one(stages.NewPendingReply(true), d)
	require.NoError(t, err)
	require.ErrorIs(t, rep.Err, errBroken)
	require.Equal(t, 3, calls(r))
	require.Equal(t, 3, most, "the hook is told all errors so far")
}

func TestAnErrorHookIsAskedOnlySoOften(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	_, err := r.one(stages.NewPendingReply(true), failing(t, r, errBroken, func([]string) (bool, error) { return true, nil }))
	require.NoError(t, err)
	require.Equal(t, maxRetries, calls(r))
}

// Another create could make a second object.
func TestACreateOfUnknownOutcomeIsNotTriedAgain(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	lost := &providers.UncertainError{Err: errBroken, Lost: true}
	_, err := r.one(stages.NewPendingReply(true), failing(t, r, lost, func([]string) (bool, error) { return true, nil }))
	require.NoError(t, err)
	require.Equal(t, 1, calls(r))
}

func TestNothingIsTriedAgainAfterAHalt(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	_, err := r.one(stages.NewPendingReply(true), failing(t, r, errBroken, func([]string) (bool, error) { r.executor.control.Halt(); return true, nil }))
	require.NoError(t, err)
	require.Equal(t, 1, calls(r))
}

func TestAFailedErrorHookHidesNothingOfTheProvidersError(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	hook := errors.New("the hook broke")
	partial := &providers.InitError{ID: "sick"}
	rep, err := r.one(stages.NewPendingReply(true), failing(t, r, partial, func([]string) (bool, error) { return false, hook }))
	require.NoError(t, err)
	require.ErrorIs(t, rep.Err, hook)
	require.ErrorAs(t, rep.Err, new(*providers.InitError))
	require.Equal(t, "sick", r.diary.changes[0].Add.ID, "what exists is recorded all the same")
}

func TestTheInputOfAHookIsThatOfItsOperation(t *testing.T) {
	old, now := wanted("web"), wanted("web")
	old.ID = "1"
	now.ResourceHooks = map[string][]string{"AfterUpdate": {"a"}}
	now.CustomTimeouts = state.Timeouts{Create: 90}.Record()
	for _, c := range []struct {
		op       stages.Op
		of       *state.Resource
		old, new bool
	}{
		{stages.OpCreate, now, false, true}, {stages.OpUpdate, now, true, true}, {stages.OpDelete, old, true, false},
	} {
		in := hookInput(&stages.Decision{StepInfo: stages.StepInfo{Op: c.op, Old: old, New: now}}, c.of)
		require.Equal(t, c.old, in.OldInputs != nil, "%s", c.op)
		require.Equal(t, c.new, in.NewInputs != nil, "%s", c.op)
		require.Equal(t, c.old, in.ID == "1", "%s", c.op)
		if c.new {
			require.Equal(t, "1m30s", in.NewOptions.CustomTimeouts.Create)
			require.Empty(t, in.NewOptions.CustomTimeouts.Delete)
		}
	}
}
