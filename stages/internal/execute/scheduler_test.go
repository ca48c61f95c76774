package execute_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/execute"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// rig is a scheduler whose steps make components. A hook before each step takes the place of the operation, so that no provider is
// needed.
type rig struct {
	Control   *control.Control
	rooms     *rooms.Rooms
	writers   rooms.Writers
	scheduler *execute.Scheduler
	hooks     *step.HookSet

	mu    sync.Mutex     // guards the rest
	taken []string       // names of the resources whose steps have begun, in their order
	told  []stages.Event // the events that the observer of the run got
}

func newRig(t *testing.T, s stages.Settings) *rig {
	t.Helper()
	s.Base = &state.Snapshot{}
	r := &rig{hooks: &step.HookSet{}}
	r.Control = control.NewControl(t.Context(), s.Info, time.Now, func(e stages.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, e)
	})
	r.rooms, r.writers = rooms.NewRooms(s)
	r.writers.Base.Open(rooms.Recorded{Snapshot: s.Base})
	a := &access.Access{Control: r.Control, Rooms: r.rooms, Extensions: access.NewExtensions(nil)}
	p := plan.NewPlans(r.Control, r.rooms, s)
	r.scheduler = execute.NewScheduler(r.Control, r.rooms, r.writers.Over, step.NewExecutor(r.Control, r.rooms, r.writers.Steps, a, p, s, r.hooks), s.Workers, s.Watch.Queued)
	return r
}

// step is the create of a component. during is called while it is executed; its error fails the step.
func (r *rig) step(t *testing.T, name string, during func() error) *stages.Decision {
	t.Helper()
	require.NoError(t, r.hooks.Add(name, &stages.Hook{Name: name, Run: func(context.Context, stages.HookInput) error {
		r.mu.Lock()
		r.taken = append(r.taken, name)
		r.mu.Unlock()
		if during != nil {
			return during()
		}
		return nil
	}}, nil))
	u := urnOf(name)
	return &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: u, Type: u.Type(),
		New: &state.Resource{URN: u, Type: u.Type(), ResourceHooks: map[string][]string{"BeforeCreate": {name}}},
	}}
}

func (r *rig) begun() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// carryOut executes all decisions, in their order.
func (r *rig) carryOut(decided ...stages.Built) (done []stages.Executed, err error) {
	flow := pipeline.From("decisions", 0, func(_ context.Context, emit pipeline.Emit[stages.Built]) error {
		for _, b := range decided {
			if err := emit(b); err != nil {
				return err
			}
		}
		return nil
	})
	err = pipeline.Run(r.Control.Admitted, pipeline.ViaActor(flow, r.scheduler.Actor()), func(_ context.Context, e stages.Executed) error {
		done = append(done, e)
		return nil
	})
	return done, err
}

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", "my:index:C", name) }

// registration is a decision about a registration. The last step of the last task answers it.
func registration(seq int, name string, tasks ...stages.Task) stages.Built {
	if n := len(tasks); n > 0 && len(tasks[n-1].Steps) > 0 {
		steps := tasks[n-1].Steps
		steps[len(steps)-1].Answers = true
	}
	return stages.Built{
		Located: stages.Located{Seq: seq, URN: urnOf(name), Registered: stages.Registered{PendingReply: stages.NewPendingReply(true), Goal: &stages.Goal{}}},
		Tasks:   tasks,
	}
}

func task(id graph.ID, d *stages.Decision, after ...graph.ID) stages.Task {
	t := stages.Task{ID: id, After: after}
	if d != nil {
		t.Steps = []*stages.Decision{d}
	}
	return t
}

var errBroken = errors.New("it broke")

func breaks() error { return errBroken }

func resultOf(t *testing.T, b stages.Built) stages.Result {
	t.Helper()
	reply, err := b.PendingReply.Wait(t.Context())
	require.NoError(t, err)
	return reply.Result
}

func isAnswered(b stages.Built) bool {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.PendingReply.Wait(gone)
	return !errors.Is(err, context.Canceled)
}

func TestTasksBeginAfterWhatTheyComeAfter(t *testing.T) {
	for _, workers := range []int{1, 4} {
		r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: workers}})
		done, err := r.carryOut(stages.Built{Tasks: []stages.Task{
			task(0, r.step(t, "last", nil), 1, 2),
			task(1, r.step(t, "second", nil), 2),
			task(2, r.step(t, "first", nil)),
		}})
		require.NoError(t, err)
		require.Equal(t, []string{"first", "second", "last"}, r.begun())
		require.Empty(t, done, "a batch belongs to no registration")
	}
}

func TestATaskWithoutStepsCarriesOrder(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	_, err := r.carryOut(stages.Built{Tasks: []stages.Task{
		task(0, r.step(t, "last", nil), 1), task(1, nil, 2), task(2, r.step(t, "first", nil)),
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"first", "last"}, r.begun())
}

// Two registrations with an order between them may be decided in either order.
func TestARegistrationBeginsAfterTheDeletesOfOthers(t *testing.T) {
	for _, laterFirst := range []bool{false, true} {
		r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 2}})
		root := registration(1, "root", task(0, r.step(t, "delete", nil)), task(1, r.step(t, "root", nil), 0))
		again := registration(2, "again", task(2, r.step(t, "again", nil)))
		again.After = []stages.Deletion{{Task: 1, URN: urnOf("root"), Root: 1}}
		decided := []stages.Built{root, again}
		if laterFirst {
			slices.Reverse(decided)
		}
		done, err := r.carryOut(decided...)
		require.NoError(t, err)
		require.Equal(t, []string{"delete", "root", "again"}, r.begun())
		require.Len(t, done, 2)
	}
}

func TestAsManyTasksRunAtOnceAsThereAreWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 3}})
		release := await.NewEvent()
		hold := func() error { return release.Wait(context.Background()) }
		var tasks []stages.Task
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			tasks = append(tasks, task(graph.ID(i), r.step(t, name, hold)))
		}
		var wg conc.WaitGroup
		wg.Go(func() { require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: tasks}, execute.ToEnd)) })
		synctest.Wait()
		require.ElementsMatch(t, []string{"a", "b", "c"}, r.begun())
		release.Fire()
		wg.Wait()
		require.Len(t, r.begun(), 5)
	})
}

func TestWhoAsksIsToldHowManyTasksWaitForAWorker(t *testing.T) {
	var told []int
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 2}, Watch: stages.Watch{Queued: func(n int) { told = append(told, n) }}})
	var tasks []stages.Task
	for i, name := range []string{"a", "b", "c", "d"} {
		tasks = append(tasks, task(graph.ID(i), r.step(t, name, nil)))
	}
	tasks = append(tasks, task(4, r.step(t, "last", nil), 0, 1, 2, 3)) // waits for others, and then for no worker
	require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: tasks}, execute.ToEnd))
	require.Equal(t, []int{2, 1, 0}, told)
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestARegistrationIsOverOnlyWhenAllItsTasksAre(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	b := registration(1, "a", task(0, r.step(t, "first", nil)))
	overBefore := true
	b.Tasks = append(b.Tasks, task(1, r.step(t, "second", func() error {
		overBefore = r.rooms.Progress.Await(cancelled(), 1, rooms.Over) == nil
		return nil
	}), 0))
	done, err := r.carryOut(b)
	require.NoError(t, err)
	require.False(t, overBefore)
	require.NoError(t, r.rooms.Progress.Await(cancelled(), 1, rooms.Over))
	require.Len(t, done, 1)
	require.NoError(t, done[0].Err)
	require.Len(t, done[0].Steps, 2)
}

func TestARegistrationWithNothingToDoIsOverAtOnce(t *testing.T) {
	r := newRig(t, stages.Settings{})
	done, err := r.carryOut(registration(1, "a"))
	require.NoError(t, err)
	require.Equal(t, []stages.Executed{{Seq: 1, URN: urnOf("a")}}, done)
	require.NoError(t, r.rooms.Progress.Await(cancelled(), 1, rooms.Over))
}

func TestAFailureStopsTheRun(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	b := registration(1, "a", task(0, r.step(t, "a", breaks)))
	_, err := r.carryOut(b, registration(2, "b", task(1, r.step(t, "b", nil), 0)))
	require.True(t, stages.IsReported(err))
	require.True(t, r.Control.IsHalted())
	require.Equal(t, []string{"a"}, r.begun())
	require.True(t, isAnswered(b))
}

func TestAFailureSkipsWhatWaitsForItAndNothingElse(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
	failed := registration(1, "failed", task(0, r.step(t, "failed", breaks)))
	waits := registration(2, "waits", task(1, r.step(t, "one", nil)), task(2, r.step(t, "waits", nil)))
	waits.After = []stages.Deletion{{Task: 0, URN: urnOf("failed"), Root: 1}}
	waitsForThat := registration(3, "further", task(3, r.step(t, "further", nil)))
	waitsForThat.After = []stages.Deletion{{Task: 2, URN: urnOf("waits"), Root: 2}}
	other := registration(4, "other", task(4, r.step(t, "other", nil)))

	done, err := r.carryOut(failed, waits, waitsForThat, other)
	require.NoError(t, err)
	require.Equal(t, []string{"failed", "other"}, r.begun())
	require.Equal(t, stages.Fail, resultOf(t, failed))
	require.Equal(t, stages.Skip, resultOf(t, waits))
	require.Equal(t, stages.Skip, resultOf(t, waitsForThat))
	require.Equal(t, stages.Success, resultOf(t, other))
	require.Len(t, done, 4)
	for _, e := range done {
		require.Equal(t, e.URN == urnOf("other"), e.Err == nil, "%v", e.URN)
	}
}

// If several of the tasks that it comes after fail, the first in the list is the cause, even if it fails last.
func TestTheCauseOfASkippedRegistrationDoesNotDependOnWhatFailsFirst(t *testing.T) {
	for _, firstToFail := range []string{"one", "two"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 4}, ContinueOnError: true})
			failing := func(seq int, name string) stages.Built {
				return registration(seq, name, task(graph.ID(seq), r.step(t, name, func() error {
					if name != firstToFail {
						time.Sleep(time.Hour)
					}
					return errBroken
				})))
			}
			waits := registration(3, "waits", task(3, r.step(t, "waits", nil)))
			waits.After = []stages.Deletion{{Task: 1, URN: urnOf("one"), Root: 1}, {Task: 2, URN: urnOf("two"), Root: 2}}
			_, err := r.carryOut(failing(1, "one"), failing(2, "two"), waits)
			require.NoError(t, err)
			cause, _ := r.rooms.Failures.Of(urnOf("waits"))
			require.Equal(t, urnOf("one"), cause)
		})
	}
}

func TestTheRestOfABatchGoesOnAfterAFailure(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
	require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: []stages.Task{
		task(0, r.step(t, "failed", breaks)),
		task(1, r.step(t, "waits", nil), 0),
		task(2, r.step(t, "further", nil), 1),
		task(3, r.step(t, "other", nil)),
		task(4, r.step(t, "after other", nil), 3),
	}}, execute.ToEnd))
	require.Equal(t, []string{"failed", "other", "after other"}, r.begun())
	require.Len(t, r.Control.Failures(), 1, "what is skipped is no failure")
}

func TestImportsThatAreSkippedSaySo(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
	waits := r.step(t, "waits", nil)
	waits.Import = &stages.ImportOrder{}
	require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: []stages.Task{
		task(0, r.step(t, "failed", breaks)), task(1, waits, 0),
	}}, execute.ToEnd))
	require.Contains(t, r.told, stages.Diagnostic{LogMessage: stages.LogMessage{
		Severity: stages.Info, URN: waits.URN, Message: "not imported, because what it belongs to could not be made",
	}})
}

func TestThereIsAlwaysSomebodyToExecuteTasks(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 0}})
	require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: []stages.Task{task(0, r.step(t, "a", nil))}}, execute.ToEnd))
	require.Equal(t, []string{"a"}, r.begun())
}

func TestABatchThatKeepsGoingStopsNothingElse(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	require.NoError(t, r.scheduler.RunBatch(stages.Built{KeepsGoing: true, Tasks: []stages.Task{
		task(0, r.step(t, "failed", breaks)), task(1, r.step(t, "other", nil)),
	}}, execute.ToEnd))
	require.False(t, r.Control.IsHalted())
	require.Equal(t, []string{"failed", "other"}, r.begun())
}

func TestTheFailureOfABatchIsRecordedAndNotReturned(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	require.NoError(t, r.scheduler.RunBatch(stages.Built{Tasks: []stages.Task{task(0, r.step(t, "failed", breaks))}}, execute.ToEnd))
	require.Len(t, r.Control.Failures(), 1)
	require.True(t, r.Control.IsHalted())
	require.NoError(t, r.scheduler.RunBatch(stages.Built{}, execute.ToEnd))
}

func TestARegistrationThatDependsOnAFailedOneIsSkippedWithItsTasks(t *testing.T) {
	for _, waitsFirst := range []bool{false, true} {
		r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
		r.writers.Steps.Results.MarkFailed(urnOf("network"), urnOf("network"))
		d := r.step(t, "web", nil)
		d.New.Dependencies = []urn.URN{urnOf("network")}
		web := registration(1, "web", task(0, d))
		waits := registration(2, "waits", task(1, r.step(t, "waits", nil)))
		waits.After = []stages.Deletion{{Task: 0, URN: urnOf("web"), Root: 1}}
		decided := []stages.Built{web, waits}
		if waitsFirst {
			slices.Reverse(decided)
		}
		_, err := r.carryOut(decided...)
		require.NoError(t, err)
		require.Empty(t, r.begun())
		require.Equal(t, stages.Skip, resultOf(t, web))
		require.Equal(t, stages.Skip, resultOf(t, waits))
		cause, _ := r.rooms.Failures.Of(urnOf("web"))
		require.Equal(t, urnOf("network"), cause)
	}
}

func TestARefusedRegistrationFailsBeforeItsFirstStep(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: goOn})
		b := registration(1, "a", task(0, r.step(t, "delete", nil)), task(1, r.step(t, "a", nil), 0))
		b.Refusal = errBroken
		r.writers.Decisions.Note(b.Steps()...)
		_, err := r.carryOut(b)
		require.Equal(t, !goOn, stages.IsReported(err))
		require.Equal(t, !goOn, r.Control.IsHalted())
		require.Empty(t, r.begun())
		require.Equal(t, []stages.Failure{{Seq: 1, URN: urnOf("a"), Err: errBroken}}, r.Control.Failures())
		require.Equal(t, stages.FateFailed, r.rooms.Outcomes.Of(b.Tasks[1].Steps[0]).Fate)
		require.Equal(t, stages.FateNotReached, r.rooms.Outcomes.Of(b.Tasks[0].Steps[0]).Fate)
		if goOn {
			require.Equal(t, stages.Fail, resultOf(t, b))
		}
	}
}

// The program may stop the run when it gets the reply of a failed registration. So the reply comes last.
func TestAFailedRegistrationIsAnsweredWhenTheRestOfItIsOver(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
	b := registration(1, "a")
	var answered bool
	b.Tasks = []stages.Task{
		task(0, r.step(t, "fails", breaks)),
		task(1, r.step(t, "goes on", func() error { answered = isAnswered(b); return nil })),
	}
	_, err := r.carryOut(b)
	require.NoError(t, err)
	require.Equal(t, []string{"fails", "goes on"}, r.begun())
	require.False(t, answered)
	require.Equal(t, stages.Fail, resultOf(t, b))
}

func TestATaskThatWaitsForWhatWasNeverDecidedIsAnError(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	b := registration(1, "a", task(0, r.step(t, "a", nil), 7))
	_, err := r.carryOut(b)
	require.ErrorContains(t, err, "1 tasks wait for something that never came")
	require.Empty(t, r.begun())
	require.True(t, isAnswered(b), "whoever waits for the step must not wait for ever")
}

func TestWhatWaitsWhenTheRunStopsIsRejected(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}})
	waits := registration(2, "waits", task(1, r.step(t, "waits", nil), 0))
	first := registration(1, "first", task(0, r.step(t, "first", func() error { r.Control.Halt(); return nil })))
	_, err := r.carryOut(waits, first)
	require.NoError(t, r.Control.Unrecorded(err))
	require.Equal(t, []string{"first"}, r.begun())
	_, err = waits.PendingReply.Wait(t.Context())
	require.ErrorIs(t, err, stages.ErrShutDown)
	require.Equal(t, stages.Success, resultOf(t, first), "what runs is finished and answered")
}

// A registration may have to wait for several deletes: it is skipped because of the one that has failed.
func TestASkippedRegistrationNamesTheDeleteThatFailed(t *testing.T) {
	r := newRig(t, stages.Settings{Pace: stages.Pace{Workers: 1}, ContinueOnError: true})
	root := registration(1, "root", task(0, r.step(t, "good", nil)), task(1, r.step(t, "bad", breaks)))
	waits := registration(2, "waits", task(2, r.step(t, "waits", nil)))
	waits.After = []stages.Deletion{{Task: 0, URN: urnOf("good"), Root: 1}, {Task: 1, URN: urnOf("bad"), Root: 1}}
	_, err := r.carryOut(root, waits)
	require.NoError(t, err)
	cause, failed := r.rooms.Failures.Of(urnOf("waits"))
	require.True(t, failed)
	require.Equal(t, urnOf("bad"), cause)
}
