package step

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

var (
	providerRef = urn.ProviderRef{URN: urn.New("dev", "p", "", "pulumi:providers:x", "main"), ID: "1"}
	errBroken   = errors.New("it broke")
	errFull     = errors.New("the disk is full")
)

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

// diary is a recorder that writes down its calls, and other events.
type diary struct {
	lines   []string
	changes []state.Change
	fails   string // the line at which it fails
	at      func(line string)
}

func (d *diary) write(line string) error {
	d.lines = append(d.lines, line)
	if d.at != nil {
		d.at(line)
	}
	if line == d.fails {
		return errFull
	}
	return nil
}

func (d *diary) Begin(_ context.Context, op state.Pending) error {
	return d.write(fmt.Sprintf("begin %s", op.Type))
}

func (d *diary) End(_ context.Context, c state.Change) error {
	d.changes = append(d.changes, c)
	return d.write("end")
}

func (d *diary) Rebase(context.Context, *state.Snapshot) error { return nil }

func (d *diary) Snapshot() (*state.Snapshot, error) { return nil, nil }

func (d *diary) Close(context.Context) error { return nil }

// rig is an executor with one provider, which is made of functions.
type rig struct {
	executor  *Executor
	decisions *rooms.DecisionsWriter
	diary     *diary
	fake      *providertest.Fake
	hooks     *HookSet
	told      []stages.Event
}

func newRig(t *testing.T, s stages.Settings, recorded ...*state.Resource) *rig {
	t.Helper()
	r := &rig{diary: &diary{}, fake: providertest.NewFake("x"), hooks: &HookSet{}}
	r.fake.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return nil }
	r.fake.OnCreate = func(_ context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
		return providers.CreateResponse{ID: "new", Properties: req.Properties}, r.diary.write("call")
	}
	r.fake.OnDelete = func(context.Context, providers.DeleteRequest) error { return r.diary.write("call") }
	host := providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return r.fake, nil })
	registry := providers.NewRegistry(t.Context(), host, providers.RegistryOptions{})
	t.Cleanup(func() { require.NoError(t, registry.Close()) })
	_, err := registry.Ensure(t.Context(), providerRef, property.Map{})
	require.NoError(t, err)

	s.Base, s.Recorder = &state.Snapshot{Resources: recorded}, r.diary
	c := control.NewControl(t.Context(), s.Info, time.Now, func(e stages.Event) { r.told = append(r.told, e) })
	b, w := rooms.NewRooms(s)
	w.Base.Open(rooms.Recorded{Snapshot: s.Base})
	r.decisions = w.Decisions
	a := &access.Access{Control: c, Rooms: b, Registry: registry, Extensions: access.NewExtensions(nil)}
	r.executor = NewExecutor(c, b, w.Steps, a, plan.NewPlans(c, b, s), s, r.hooks)
	return r
}

func wanted(name string) *state.Resource {
	return &state.Resource{URN: urnOf(name), Type: thing, Custom: true, Provider: providerRef.String()}
}

func create(name string) *stages.Decision {
	return &stages.Decision{
		StepInfo: stages.StepInfo{Op: stages.OpCreate, URN: urnOf(name), Type: thing, New: wanted(name)}, Answers: true,
	}
}

func remove(old *state.Resource) *stages.Decision {
	return &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpDelete, URN: old.URN, Type: old.Type, Old: old}}
}

// one executes a chain of one task. q is the pending reply if the steps belong to a registration.
func (r *rig) one(q *stages.PendingReply, steps ...*stages.Decision) (Report, error) {
	b := stages.Built{Tasks: []stages.Task{{Steps: steps}}}
	b.PendingReply, b.URN = q, steps[0].URN
	return r.executor.Execute(Assignment{Chain: &Chain{Built: b}, Steps: steps})
}

func isAnswered(q *stages.PendingReply) bool {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := q.Wait(gone)
	return !errors.Is(err, context.Canceled)
}

func TestAStepIsPendingBeforeItsCallAndRecordedBeforeItsAnswer(t *testing.T) {
	r, q := newRig(t, stages.Settings{}), stages.NewPendingReply(true)
	r.diary.at = func(string) { require.False(t, isAnswered(q)) }
	rep, err := r.one(q, create("web"))
	require.NoError(t, err)
	require.Equal(t, TaskDone, rep.End)
	require.Equal(t, []string{"begin creating", "call", "end"}, r.diary.lines)
	reply, err := q.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, "new", reply.ID)
	made, ok := r.executor.rooms.Results.Lookup(urnOf("web"))
	require.True(t, ok)
	require.Same(t, made, r.diary.changes[0].Add)
}

func TestNothingIsCalledThatIsNotRecordedAsPending(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	r.diary.fails = "begin creating"
	_, err := r.one(stages.NewPendingReply(true), create("web"))
	require.True(t, stages.IsReported(err), "a run without a record must stop, whatever else it would go on after")
	require.True(t, r.executor.control.IsHalted())
	require.Equal(t, []string{"begin creating"}, r.diary.lines)
}

func TestTheIDOfAnObjectThatCannotBeRecordedIsKept(t *testing.T) {
	r := newRig(t, stages.Settings{})
	r.diary.fails = "end"
	_, err := r.one(stages.NewPendingReply(true), create("web"))
	require.ErrorIs(t, err, errFull)
	require.Len(t, r.executor.rooms.Results.Unwritten(), 1)
	require.Equal(t, "new", r.executor.rooms.Results.Unwritten()[0].ID)
}

func TestAnOperationOfUnknownOutcomeStaysPending(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	r.fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
		return providers.CreateResponse{}, &providers.UncertainError{Err: errBroken, Lost: true}
	}
	d := create("web")
	rep, err := r.one(stages.NewPendingReply(true), d)
	require.NoError(t, err)
	require.Equal(t, TaskFailed, rep.End)
	require.Equal(t, []string{"begin creating"}, r.diary.lines, "the operation has no end")
	require.True(t, r.executor.rooms.Outcomes.AreUncertain())
	require.True(t, r.executor.rooms.Results.StaysPending(d.New))
}

func TestACreateThatDoesNotSayWhatItMadeStaysPending(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		err  error
		says string
	}{
		"no ID":      {says: "provider did not return an ID from Create of " + string(urnOf("web"))},
		"no UTF-8":   {id: "a\xff", says: `the ID "a\xff", which is not UTF-8`},
		"unknown ID": {id: urn.UnknownID, says: "the marker of an unknown value as the ID"},
		"not healthy, no ID": {
			err: &providers.InitError{Reasons: []string{"no route"}}, says: "did not return an ID from Create of " + string(urnOf("web")) + ": ",
		},
		"not healthy, unknown ID": {err: &providers.InitError{ID: urn.UnknownID, Reasons: []string{"no route"}}, says: "no route"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, stages.Settings{ContinueOnError: true})
			d := failing(t, r, nil, func([]string) (bool, error) { return true, nil }) // another try could make another object
			r.fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
				return providers.CreateResponse{ID: c.id}, c.err
			}
			rep, err := r.one(stages.NewPendingReply(true), d)
			require.NoError(t, err)
			require.ErrorContains(t, rep.Err, c.says)
			require.Equal(t, []string{"begin creating"}, r.diary.lines, "the operation has no end")
			require.True(t, r.executor.rooms.Outcomes.AreUncertain())
			require.True(t, r.executor.rooms.Results.StaysPending(d.New))
		})
	}
}

func TestAResourceThatIsNotHealthyIsRecordedAndFails(t *testing.T) {
	r := newRig(t, stages.Settings{ContinueOnError: true})
	r.fake.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
		return providers.CreateResponse{}, &providers.InitError{ID: "sick", Reasons: []string{"no route"}}
	}
	rep, err := r.one(stages.NewPendingReply(true), create("web"))
	require.NoError(t, err)
	require.Equal(t, TaskFailed, rep.End)
	require.Equal(t, "sick", r.diary.changes[0].Add.ID)
	require.Equal(t, []string{"no route"}, r.diary.changes[0].Add.InitErrors)
}

func TestADeleteOfWhatIsProtectedCallsNobody(t *testing.T) {
	old := wanted("web")
	old.ID, old.Protect = "1", true
	r := newRig(t, stages.Settings{}, old)
	rep, err := r.one(nil, remove(old))
	require.NoError(t, err, "the rest of the end phase goes on")
	require.ErrorAs(t, rep.Err, new(*state.ProtectedError))
	require.NotContains(t, r.diary.lines, "call")
	require.Same(t, old, r.executor.rooms.Results.Current(old))

	r = newRig(t, stages.Settings{IgnoreProtect: true}, old)
	rep, err = r.one(nil, remove(old))
	require.NoError(t, err)
	require.NoError(t, rep.Err)
	require.Nil(t, r.executor.rooms.Results.Current(old))
}

func TestWhatIsLetGoIsForgottenWithoutACall(t *testing.T) {
	for name, change := range map[string]func(*state.Resource){
		"read":     func(s *state.Resource) { s.External = true },
		"retained": func(s *state.Resource) { s.RetainOnDelete = true },
		"deleted with what is gone": func(s *state.Resource) {
			s.DeletedWith = urnOf("gone")
		},
	} {
		t.Run(name, func(t *testing.T) {
			old := wanted("web")
			old.ID = "1"
			change(old)
			r := newRig(t, stages.Settings{}, old)
			r.decisions.Add(urnOf("gone"), rooms.Deleted)
			_, err := r.one(nil, remove(old))
			require.NoError(t, err)
			require.Equal(t, []string{"begin deleting", "end"}, r.diary.lines)
			require.Equal(t, []*state.Resource{old}, r.diary.changes[0].Remove)
		})
	}
}

func TestWhatIsDeletedFirstWaitsForItsReplacement(t *testing.T) {
	old := wanted("web")
	old.ID = "1"
	r := newRig(t, stages.Settings{}, old)
	d := remove(old)
	d.Op, d.Kind = stages.OpDeleteReplaced, stages.DeletedFirst
	_, err := r.one(nil, d)
	require.NoError(t, err)
	require.True(t, r.executor.rooms.Results.Current(old).PendingReplacement)
	require.False(t, old.PendingReplacement, "the recorded state is immutable")
}

func TestNothingBeginsAfterTheRunHasHalted(t *testing.T) {
	r, q := newRig(t, stages.Settings{}), stages.NewPendingReply(true)
	r.executor.control.Halt()
	rep, err := r.one(q, create("web"))
	require.NoError(t, err)
	require.Equal(t, TaskNotBegun, rep.End)
	require.Empty(t, r.diary.lines)
	_, err = q.Wait(t.Context())
	require.ErrorIs(t, err, stages.ErrShutDown)
}

// The steps after the answer must not depend on what the program does after it, which may stop the run.
func TestStepsAfterTheAnswerAreTakenThoughTheRunHalts(t *testing.T) {
	old := wanted("web")
	old.ID = "1"
	r, q := newRig(t, stages.Settings{}, old), stages.NewPendingReply(true)
	r.diary.at = func(line string) {
		if line == "end" {
			r.executor.control.Halt()
		}
	}
	replaced := &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpReplace, URN: old.URN, Type: thing, Old: old, New: wanted("web")}}
	rep, err := r.one(q, create("web"), replaced)
	require.NoError(t, err)
	require.Equal(t, TaskDone, rep.End)
	require.Equal(t, stages.FateDone, r.executor.rooms.Outcomes.Of(replaced).Fate)
}

func TestTheRestOfATaskIsNotTakenAfterAFailure(t *testing.T) {
	old := wanted("old")
	old.ID = "1"
	r := newRig(t, stages.Settings{ContinueOnError: true}, old)
	r.diary.fails = "call"
	next := create("web")
	r.executor.Reporter.Expect(next)
	rep, err := r.one(stages.NewPendingReply(true), remove(old), next)
	require.NoError(t, err)
	require.Equal(t, TaskFailed, rep.End)
	require.Equal(t, stages.FateNotReached, r.executor.rooms.Outcomes.Of(next).Fate)
	require.Equal(t, []string{"begin deleting", "call", "end"}, r.diary.lines)
	cause, failed := r.executor.rooms.Failures.Of(old.URN)
	require.True(t, failed)
	require.Equal(t, old.URN, cause)
}

func TestAssignmentsSpeakForTheirChain(t *testing.T) {
	q := stages.NewPendingReply(true)
	b := stages.Built{}
	b.PendingReply, b.Seq, b.URN = q, 7, urnOf("web")
	a := Assignment{Chain: &Chain{Built: b}}
	require.EqualValues(t, 7, a.Sequence())
	require.Equal(t, string(urnOf("web")), a.String())
	a.Steps = []*stages.Decision{create("web")}
	require.Equal(t, "create of "+string(urnOf("web")), a.String())
	require.False(t, a.Chain.IsBatch())
	require.True(t, (&Chain{}).IsBatch())
	a.Reject(errBroken)
	_, err := q.Wait(t.Context())
	require.ErrorIs(t, err, errBroken)
}

func TestOutputsAreSecretThatTheProgramOrTheInputsSayAre(t *testing.T) {
	r := newRig(t, stages.Settings{})
	s := wanted("web")
	s.Inputs = property.NewMap(map[string]property.Value{"password": property.Secret(property.String("a")), "size": property.Number(1)})
	s.Outputs = property.NewMap(map[string]property.Value{
		"password": property.String("a"), "token": property.String("b"), "size": property.Number(1), "sealed": property.Secret(property.Null),
	})
	s.AdditionalSecretOutputs = []string{"token", "id", "missing", "sealed"}
	secret := map[string]bool{}
	for name, v := range MarkSecrets(r.executor.control, s).Outputs.All() {
		secret[name] = v.IsSecret()
	}
	require.Equal(t, map[string]bool{"password": true, "token": true, "size": false, "sealed": true}, secret)
	require.Len(t, r.told, 1, "an ID cannot be secret")
}
