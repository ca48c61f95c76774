package run_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// cloud stands in for the workers.
type cloud struct {
	reads   map[string][]string // recorded references
	finds   map[string][]string // references that only a run finds
	same    map[string]string   // digests of what was read, by stack that has not changed otherwise
	results map[string]func(run.StackRequest) (run.Outcome, error)

	mu       sync.Mutex // guards the rest
	begun    []string
	requests map[string]run.StackRequest
	running  int
	most     int
}

func (c *cloud) survey(_ context.Context, s run.Survey) (map[string]run.Surveyed, error) {
	out := map[string]run.Surveyed{}
	for _, one := range s.Stacks {
		found := run.Surveyed{Known: order.Known{Project: one.Name, Reads: c.reads[one.Name]}, Outputs: "recorded-" + one.Name}
		found.Inputs, found.Same = c.same[one.Name]
		found.Attempt = s.Attempt
		out[one.Name] = found
	}
	return out, nil
}

func (c *cloud) perform(ctx context.Context, r run.StackRequest) (run.Outcome, error) {
	c.mu.Lock()
	c.begun = append(c.begun, r.Stack.Name)
	if c.requests == nil {
		c.requests = map[string]run.StackRequest{}
	}
	c.requests[r.Stack.Name] = r
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
	}()
	if f := c.results[r.Stack.Name]; f != nil {
		return f(r)
	}
	return run.Outcome{Attempt: r.Attempt, Status: run.Succeeded, Outputs: "new-" + r.Stack.Name, Reads: c.finds[r.Stack.Name]}, nil
}

func fails(kind run.Kind) func(run.StackRequest) (run.Outcome, error) {
	return func(run.StackRequest) (run.Outcome, error) {
		o := run.Outcome{Status: run.Failed, Kind: kind, Why: "it is broken"}
		return o, temporal.NewApplicationErrorWithOptions(o.Why, string(kind), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
	}
}

type environment struct {
	*testsuite.TestWorkflowEnvironment
	*cloud
}

func newEnvironment(t *testing.T, c *cloud) environment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	env.RegisterWorkflowWithOptions(run.Fleet, workflow.RegisterOptions{Name: run.FleetWorkflow})
	env.RegisterWorkflowWithOptions(run.Stack, workflow.RegisterOptions{Name: run.StackWorkflow})
	env.RegisterActivityWithOptions(c.survey, activity.RegisterOptions{Name: run.SurveyActivity})
	env.RegisterActivityWithOptions(c.perform, activity.RegisterOptions{Name: run.PerformActivity})
	// A limit that grants all requests.
	env.RegisterActivityWithOptions(func(_ context.Context, _ string, claim run.Claim) error {
		return env.SignalWorkflowByID(claim.Workflow, run.GrantSignal, claim.Limit)
	}, activity.RegisterOptions{Name: run.AskActivity})
	env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, mock.Anything, run.ReleaseSignal, mock.Anything).Return(nil)
	return environment{env, c}
}

// stacks makes stacks from names, each with its needs.
func stacks(needs map[string][]string) []spec.Stack {
	var out []spec.Stack
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		out = append(out, spec.Stack{Name: name, Entry: name, Stack: "dev", Queue: "q", Needs: needs[name]})
	}
	return out
}

func request(op run.Operation, list []spec.Stack) run.Request {
	return run.Request{Fleet: "shop", Operation: op, Stacks: list, Concurrency: 4}
}

func (e environment) run(t *testing.T, r run.Request) run.View {
	t.Helper()
	e.ExecuteWorkflow(run.FleetWorkflow, r)
	require.True(t, e.IsWorkflowCompleted())
	require.NoError(t, e.GetWorkflowError())
	var v run.View
	require.NoError(t, e.GetWorkflowResult(&v))
	return v
}

// goesOn runs a workflow that continues as a new one, and returns the request of that.
func (e environment) goesOn(t *testing.T, r run.Request) run.Request {
	t.Helper()
	e.ExecuteWorkflow(run.FleetWorkflow, r)
	var next *workflow.ContinueAsNewError
	require.True(t, errors.As(e.GetWorkflowError(), &next))
	var carried run.Request
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &carried))
	return carried
}

// decide sends a decision about a stack.
func (e environment) decide(stack string, a run.Approval) {
	e.SignalWorkflow(run.ApproveSignal, run.Decision{Stack: stack, Approval: a})
}

func statuses(v run.View) map[string]run.Status {
	out := map[string]run.Status{}
	for _, s := range v.Stacks {
		out[s.Name] = s.Status
	}
	return out
}

func TestStacksBeginAfterWhatTheyNeedAndDestroyIsReversed(t *testing.T) {
	needs := map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}}
	c := &cloud{}
	v := newEnvironment(t, c).run(t, request(run.Up, stacks(needs)))
	require.Equal(t, []string{"a", "b", "c"}, c.begun)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded, "c": run.Succeeded}, statuses(v))
	c = &cloud{}
	newEnvironment(t, c).run(t, request(run.Destroy, stacks(needs)))
	require.Equal(t, []string{"c", "b", "a"}, c.begun)
}

func TestStacksGetTheDigestsOfWhatTheyRead(t *testing.T) {
	c := &cloud{reads: map[string][]string{"b": {"organization/a/dev", "organization/x/dev", "organization/elsewhere/dev"}}}
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": nil}))
	r.Others = []spec.Stack{{Name: "x", Stack: "dev", Queue: "q"}}
	v := newEnvironment(t, c).run(t, r)
	require.Equal(t, []string{"a", "b"}, c.begun)
	require.Equal(t, map[string]string{"organization/a/dev": "new-a", "organization/x/dev": "recorded-x"}, c.requests["b"].Inputs)
	require.Equal(t, []string{"a"}, v.Stacks[1].Needs)
}

func TestDependentsOfAFailureAreSkippedWithTheChainAndTheRestEnds(t *testing.T) {
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"a": fails(run.Program)}}
	v := newEnvironment(t, c).run(t, request(run.Up, stacks(map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}, "d": nil})))
	require.Equal(t, map[string]run.Status{"a": run.Failed, "b": run.Skipped, "c": run.Skipped, "d": run.Succeeded}, statuses(v))
	require.Equal(t, "it is broken", v.Stacks[0].Why)
	require.Equal(t, []string{"a", "b"}, v.Stacks[2].Chain)
	require.Equal(t, "needs b, which needs a, which failed", v.Stacks[2].Why)
}

func TestFailFastBeginsNothingElse(t *testing.T) {
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"a": fails(run.Program)}}
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": nil}))
	r.Concurrency, r.Options.FailFast = 1, true
	require.Equal(t, map[string]run.Status{"a": run.Failed, "b": run.Skipped}, statuses(newEnvironment(t, c).run(t, r)))
	require.Equal(t, []string{"a"}, c.begun)
}

func TestWhatTheSurveyFindsUnchangedIsNotLookedAtAgain(t *testing.T) {
	reads := map[string][]string{"b": {"organization/a/dev"}, "c": {"organization/elsewhere/dev"}}
	was := run.InputsDigest(reads["b"], func(string) string { return "recorded-a" })
	c := &cloud{reads: reads, same: map[string]string{"a": run.InputsDigest(nil, nil), "b": was, "c": "something"}}
	r := request(run.Preview, stacks(map[string][]string{"a": nil, "b": nil, "c": nil}))
	v := newEnvironment(t, c).run(t, r)
	require.Equal(t, map[string]run.Status{"a": run.Unchanged, "b": run.Unchanged, "c": run.Succeeded}, statuses(v))
	require.Equal(t, []string{"c"}, c.begun, "what it reads elsewhere is not known")

	// The inputs change in this run.
	c = &cloud{reads: reads, same: map[string]string{"b": was}}
	newEnvironment(t, c).run(t, request(run.Up, stacks(map[string][]string{"a": nil, "b": nil})))
	require.Equal(t, []string{"a", "b"}, c.begun)

	c = &cloud{reads: reads, same: map[string]string{"a": run.InputsDigest(nil, nil), "b": was}}
	r.Options.Force = true
	newEnvironment(t, c).run(t, r)
	require.ElementsMatch(t, []string{"a", "b", "c"}, c.begun)
}

func TestLimitsBoundWhatRunsAtOnce(t *testing.T) {
	list := stacks(map[string][]string{"a": nil, "b": nil, "c": nil, "d": nil})
	for i := range list {
		list[i].Limits = []string{"account"}
	}
	slow := func(run.StackRequest) (run.Outcome, error) { return run.Outcome{Status: run.Succeeded}, nil }
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"a": slow}}
	r := request(run.Up, list)
	r.Limits = map[string]int{"account": 1}
	newEnvironment(t, c).run(t, r)
	require.Equal(t, 1, c.most)
	require.Equal(t, []string{"a", "b", "c", "d"}, c.begun)
}

func TestWhatIsFoundToBeReadComesFirstTheNextTime(t *testing.T) {
	tries := 0
	c := &cloud{finds: map[string][]string{}}
	c.results = map[string]func(run.StackRequest) (run.Outcome, error){"a": func(r run.StackRequest) (run.Outcome, error) {
		tries++
		if tries == 1 { // b has no outputs yet
			o := run.Outcome{Status: run.Failed, Kind: run.Program, Why: "unknown stack", Reads: []string{"organization/b/dev"}}
			return o, temporal.NewApplicationErrorWithOptions(o.Why, string(o.Kind), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
		}
		return run.Outcome{Status: run.Succeeded}, nil
	}}
	c.requireAgain(t, newEnvironment(t, c).run(t, oneByOne(nil)))
}

// oneByOne requests updates of a and b, one at a time. The named operations need approvals.
func oneByOne(approve []string) run.Request {
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": nil}))
	r.Concurrency, r.Stacks[0].Approve, r.Stacks[1].Approve = 1, approve, approve
	return r
}

// requireAgain reports unless a was repeated after b, with the outputs of b.
func (c *cloud) requireAgain(t *testing.T, v run.View) {
	t.Helper()
	require.Equal(t, []string{"a", "b", "a"}, c.begun)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded}, statuses(v))
	require.Equal(t, map[string]string{"organization/b/dev": "new-b"}, c.requests["a"].Inputs)
}

// A program may ignore a missing value: then its stack succeeds with a wrong value.
func TestAStackThatHasReadTooEarlyIsMadeAgain(t *testing.T) {
	c := &cloud{finds: map[string][]string{"a": {"organization/b/dev"}}}
	c.requireAgain(t, newEnvironment(t, c).run(t, oneByOne(nil)))
}

// A value that a stack has read too early may have been right, and its approval need not be repeated.
func TestAStackThatIsMadeAgainInVainHasSucceeded(t *testing.T) {
	c := &cloud{finds: map[string][]string{"a": {"organization/b/dev"}}, results: map[string]func(run.StackRequest) (run.Outcome, error){}}
	tries := 0
	c.results["a"] = func(q run.StackRequest) (run.Outcome, error) {
		if tries++; tries == 1 {
			return run.Outcome{Status: run.Succeeded, Changes: map[string]int{"create": 3}, Reads: []string{"organization/b/dev"}}, nil
		}
		return run.Outcome{Status: run.Unchanged, Outputs: "new"}, nil
	}
	env := newEnvironment(t, c)
	for i, name := range []string{"a", "b"} {
		env.RegisterDelayedCallback(func() { env.decide(name, run.Approval{Granted: true, By: "ada"}) }, time.Duration(i+1)*time.Hour)
	}
	v := env.run(t, oneByOne([]string{"up"}))
	c.requireAgain(t, v)
	require.Equal(t, map[string]int{"create": 3}, v.Stacks[0].Changes)
	require.Equal(t, "ada", v.Stacks[0].Approval.By)
}

func TestAPreviewGetsWhatThePreviewsOfWhatItReadsHaveFound(t *testing.T) {
	planned := run.Planned{Removed: []string{"old"}}
	c := &cloud{
		reads: map[string][]string{"b": {"organization/a/dev"}},
		results: map[string]func(run.StackRequest) (run.Outcome, error){"a": func(run.StackRequest) (run.Outcome, error) {
			return run.Outcome{Status: run.Succeeded, Planned: planned}, nil
		}},
	}
	newEnvironment(t, c).run(t, request(run.Preview, stacks(map[string][]string{"a": nil, "b": nil})))
	require.Equal(t, map[string]run.Planned{"organization/a/dev": planned}, c.requests["b"].Planned)
}

func TestACycleEndsTheRunWithItsPath(t *testing.T) {
	env := newEnvironment(t, &cloud{reads: map[string][]string{"a": {"b/dev"}}})
	env.ExecuteWorkflow(run.FleetWorkflow, request(run.Up, stacks(map[string][]string{"a": nil, "b": {"a"}})))
	require.Equal(t, &order.CycleError{Path: "a reads b needs a"}, run.CycleOf(env.GetWorkflowError()))
}

func approving() []spec.Stack {
	list := stacks(map[string][]string{"a": nil, "b": {"a"}})
	list[0].Approve = []string{"up"}
	return list
}

func TestAnOperationWaitsUntilItIsApproved(t *testing.T) {
	env := newEnvironment(t, &cloud{})
	env.RegisterDelayedCallback(func() {
		answer, err := env.QueryWorkflow(run.ViewQuery)
		require.NoError(t, err)
		var v run.View
		require.NoError(t, answer.Get(&v))
		require.Equal(t, run.Approving, v.Stacks[0].Status)
		require.Equal(t, run.Waiting, v.Stacks[1].Status)
		env.decide("a", run.Approval{Granted: true, By: "ada"})
	}, 48*time.Hour)
	v := env.run(t, request(run.Up, approving()))
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded}, statuses(v))
	require.Equal(t, "ada", v.Stacks[0].Approval.By)
	require.False(t, v.Stacks[0].Approval.At.IsZero())
	require.GreaterOrEqual(t, v.Ended.Sub(v.Began), 48*time.Hour)
}

func TestAnApprovalOfNobodyDecidesNothing(t *testing.T) {
	env := newEnvironment(t, &cloud{})
	for after, a := range map[time.Duration]run.Approval{time.Hour: {Granted: true}, 2 * time.Hour: {Granted: true, By: "ada"}} {
		env.RegisterDelayedCallback(func() { env.decide("a", a) }, after)
	}
	env.RegisterDelayedCallback(func() { env.decide("b", run.Approval{By: "ada"}) }, time.Minute) // the run has not requested it
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(run.ApproveSignal, "nonsense") }, time.Minute)
	v := env.run(t, request(run.Up, approving()))
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded}, statuses(v))
	require.Equal(t, "ada", v.Stacks[0].Approval.By)
	require.GreaterOrEqual(t, v.Ended.Sub(v.Began), 2*time.Hour)
}

func TestWhatIsRefusedIsNotDone(t *testing.T) {
	env := newEnvironment(t, &cloud{})
	env.RegisterDelayedCallback(func() {
		env.decide("a", run.Approval{By: "ada", Message: "not on a Friday"})
	}, time.Hour)
	v := env.run(t, request(run.Up, approving()))
	require.Empty(t, env.begun)
	require.Equal(t, map[string]run.Status{"a": run.Refused, "b": run.Skipped}, statuses(v))
	require.Equal(t, "ada has refused it: not on a Friday", v.Stacks[0].Why)
	require.Equal(t, "needs a, which was not approved", v.Stacks[1].Why)
}

func TestWhatWaitsForAnApprovalHasNoPlaceInTheRun(t *testing.T) {
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": nil, "c": {"a"}, "d": {"b"}}))
	r.Concurrency, r.Limits = 1, map[string]int{"account": 1}
	r.Stacks[0].Approve, r.Stacks[1].Approve = []string{"up"}, []string{"up"}
	for i := range r.Stacks {
		r.Stacks[i].Limits = []string{"account"}
	}
	env := newEnvironment(t, &cloud{})
	env.RegisterDelayedCallback(func() { env.decide("b", run.Approval{Granted: true, By: "ada"}) }, time.Hour)
	env.RegisterDelayedCallback(func() {
		require.Equal(t, []string{"b", "d"}, env.begun)
		env.decide("a", run.Approval{Granted: true, By: "ada"})
	}, 48*time.Hour)
	v := env.run(t, r)
	require.Equal(t, []string{"b", "d", "a", "c"}, env.begun)
	require.Equal(t, 1, env.most)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded, "c": run.Succeeded, "d": run.Succeeded}, statuses(v))
}

// In runs that an earlier version has begun, the workflow of the stack requests the approval, and has a place.
func TestAStackOfAnEarlierRunAsksForItself(t *testing.T) {
	r := request(run.Up, approving())
	env := newEnvironment(t, &cloud{})
	env.OnGetVersion("approval-in-run", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	stack := run.StackID("default-test-workflow-id", "a")
	env.RegisterDelayedCallback(func() { require.NoError(t, env.SignalWorkflowByID(stack, run.ApproveSignal, "nonsense")) }, time.Minute)
	env.RegisterDelayedCallback(func() {
		require.NoError(t, env.SignalWorkflowByID(stack, run.ApproveSignal, run.Approval{Granted: true, By: "ada"}))
	}, time.Hour)
	v := env.run(t, r)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded}, statuses(v))
	require.Equal(t, "ada", v.Stacks[0].Approval.By)

	env = newEnvironment(t, &cloud{})
	env.OnGetVersion("approval-in-run", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	env.RegisterDelayedCallback(func() { require.NoError(t, env.SignalWorkflowByID(stack, run.ApproveSignal, "nonsense")) }, time.Minute)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	require.Equal(t, map[string]run.Status{"a": run.Canceled, "b": run.Canceled}, statuses(env.run(t, r)))
}

func TestACanceledRunBeginsNothingElse(t *testing.T) {
	env := newEnvironment(t, &cloud{})
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(run.ApproveSignal, "nonsense") }, time.Minute)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	v := env.run(t, request(run.Up, approving()))
	require.Empty(t, env.begun)
	require.Equal(t, map[string]run.Status{"a": run.Canceled, "b": run.Canceled}, statuses(v))
	require.Equal(t, "the run was cancelled before somebody approved it", v.Stacks[0].Why)
}

func TestNobodyIsWaitedForAfterAFailureWithFailFast(t *testing.T) {
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"d": fails(run.Program)}}
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": {"c"}, "c": {"a"}, "d": nil}))
	r.Stacks[0].Approve, r.Options.FailFast = []string{"up"}, true
	v := newEnvironment(t, c).run(t, r)
	require.Equal(t, []string{"d"}, c.begun)
	require.Equal(t, map[string]run.Status{"a": run.Skipped, "b": run.Skipped, "c": run.Skipped, "d": run.Failed}, statuses(v))
}

func TestWhatWaitsForAnApprovalIsTakenAlongByALongRun(t *testing.T) {
	c := &cloud{}
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": nil, "c": nil}))
	r.Stacks[0].Approve, r.Options.Each = []string{"up"}, 1
	r = newEnvironment(t, c).goesOn(t, r)
	require.Equal(t, []string{"b"}, c.begun)
	env := newEnvironment(t, c)
	env.RegisterDelayedCallback(func() { env.decide("a", run.Approval{Granted: true, By: "ada"}) }, time.Hour)
	r = env.goesOn(t, r)
	require.Equal(t, []string{"b", "c"}, c.begun)
	env = newEnvironment(t, c)
	env.RegisterDelayedCallback(func() { env.decide("a", run.Approval{Granted: true, By: "ada"}) }, time.Hour)
	v := env.run(t, r)
	require.Equal(t, []string{"b", "c", "a"}, c.begun)
	require.Equal(t, "ada", v.Stacks[0].Approval.By)
	require.GreaterOrEqual(t, v.Stacks[0].Approval.At.Sub(v.Began), time.Hour)
}

func TestALockIsWaitedForAndAWorkerThatDiesIsReplaced(t *testing.T) {
	tries := 0
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"a": func(run.StackRequest) (run.Outcome, error) {
		switch tries++; tries {
		case 1:
			return run.Outcome{}, temporal.NewApplicationErrorWithOptions("locked by ada", string(run.Locked), temporal.ApplicationErrorOptions{NextRetryDelay: time.Minute})
		case 2:
			return run.Outcome{}, temporal.NewHeartbeatTimeoutError()
		}
		return run.Outcome{Status: run.Succeeded}, nil
	}}}
	v := newEnvironment(t, c).run(t, request(run.Up, stacks(map[string][]string{"a": nil})))
	require.Equal(t, 3, tries)
	require.Equal(t, run.Succeeded, v.Stacks[0].Status)
	require.GreaterOrEqual(t, v.Ended.Sub(v.Began), time.Minute)
}

func TestALongRunGoesOnAsANewWorkflow(t *testing.T) {
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){"b": fails(run.Program)}}
	r := request(run.Up, stacks(map[string][]string{"a": nil, "b": {"a"}, "c": {"b"}, "d": {"a"}}))
	r.Options.Each = 2
	carried := newEnvironment(t, c).goesOn(t, r)
	require.Equal(t, []string{"a", "b"}, c.begun)
	v := newEnvironment(t, c).run(t, carried)
	require.Equal(t, []string{"a", "b", "d"}, c.begun)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Failed, "c": run.Skipped, "d": run.Succeeded}, statuses(v))
}
