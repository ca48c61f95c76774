package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
)

// attempt is the name of the first workflow in the test environment.
const attempt = "default-test-run-id"

// bound returns a request as commands make it, and an environment that confirms the beginning of its run.
func bound(t *testing.T, c *cloud, r run.Request) (environment, run.Request) {
	t.Helper()
	env := newEnvironment(t, c)
	r.Bound = true
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(run.GoSignal, run.Go{Attempt: attempt}) }, time.Second)
	return env, r
}

func (e environment) view(t *testing.T) run.View {
	t.Helper()
	answer, err := e.QueryWorkflow(run.ViewQuery)
	require.NoError(t, err)
	var v run.View
	require.NoError(t, answer.Get(&v))
	return v
}

func TestARunBeginsWhenItIsToldThatItIsTheOne(t *testing.T) {
	c := &cloud{}
	env, r := bound(t, c, request(run.Destroy, stacks(map[string][]string{"a": nil, "b": {"a"}})))
	v := env.run(t, r)
	require.Equal(t, []string{"b", "a"}, c.begun)
	require.Equal(t, attempt, v.Attempt)
	require.True(t, c.requests["a"].Bound)
	require.Equal(t, attempt, c.requests["a"].Parent)
	require.NotEmpty(t, c.requests["a"].Attempt)
}

// The request of an earlier run is sealed for that run.
func TestARunIsNotBegunWithWhatWasSealedForAnotherOne(t *testing.T) {
	for name, change := range map[string]func(*run.Request){
		"nobody begins it":        func(*run.Request) {},
		"it was carried along":    func(r *run.Request) { r.Carried = &run.Carried{Attempt: "of another run"} },
		"a schedule that changes": func(r *run.Request) { r.Schedule = "night" },
	} {
		c := &cloud{}
		env := newEnvironment(t, c)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(run.GoSignal, run.Go{Attempt: "of another run"}) }, time.Second)
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(run.GoSignal, "nonsense") }, time.Second)
		r := request(run.Destroy, stacks(map[string][]string{"a": nil}))
		r.Bound = true
		change(&r)
		env.ExecuteWorkflow(run.FleetWorkflow, r)
		require.ErrorContains(t, env.GetWorkflowError(), "no holder of the fleet's key has confirmed this run", name)
		require.Empty(t, c.begun, name)
	}
}

func TestAStackIsNotWorkedOnOutsideOfItsRun(t *testing.T) {
	c := &cloud{}
	env := newEnvironment(t, c)
	env.ExecuteWorkflow(run.StackWorkflow, run.StackRequest{Run: "shop/destroy/1", Fleet: "shop", Operation: run.Destroy, Bound: true, Parent: "of another run"})
	require.ErrorContains(t, env.GetWorkflowError(), "was sealed for another run")
	require.Empty(t, c.begun)
}

func TestAnOutcomeOfAnotherRunDoesNotCount(t *testing.T) {
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){
		"a": func(run.StackRequest) (run.Outcome, error) {
			return run.Outcome{Status: run.Succeeded, Attempt: "of another run"}, nil
		},
	}}
	env, r := bound(t, c, request(run.Up, stacks(map[string][]string{"a": nil})))
	v := env.run(t, r)
	require.Equal(t, map[string]run.Status{"a": run.Failed}, statuses(v))
	require.Equal(t, "the outcome belongs to another run", v.Stacks[0].Why)
}

// An approval refers to the plan that the run has shown, to this run, and to this question.
func TestAnApprovalIsOfWhatWasShown(t *testing.T) {
	plan := "first"
	var performed []string
	c := &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){
		"a": func(r run.StackRequest) (run.Outcome, error) {
			o := run.Outcome{Status: run.Succeeded, Attempt: r.Attempt}
			switch {
			case r.Look:
				o.Plan, o.Changes = plan, map[string]int{"create": 1}
			case r.Approval.Plan != plan:
				o.Status, o.Plan, o.Why = run.Approving, plan, "it has changed"
			default:
				performed = append(performed, r.Approval.Plan)
			}
			return o, nil
		},
	}}
	env, r := bound(t, c, request(run.Up, approving()))
	decide := func(change func(*run.Decision)) {
		is := env.view(t)
		d := run.Decision{Stack: "a", Approval: run.Approval{Granted: true, By: "ada", Plan: is.Stacks[0].Plan}, Attempt: is.Attempt, Asked: is.Stacks[0].Began}
		change(&d)
		env.SignalWorkflow(run.ApproveSignal, d)
	}
	waits := func(plan string) {
		is := env.view(t).Stacks[0]
		require.Equal(t, run.Approving, is.Status)
		require.Equal(t, plan, is.Plan)
	}
	var former run.Decision
	for i, change := range []func(*run.Decision){
		func(d *run.Decision) { d.Attempt = "of another run" },
		func(d *run.Decision) { d.Plan = "another" },
		func(d *run.Decision) { d.Plan = "" },
		func(d *run.Decision) { d.Asked = d.Asked.Add(-time.Hour) },
	} {
		env.RegisterDelayedCallback(func() { waits("first"); decide(change) }, time.Duration(i+1)*time.Minute)
	}
	env.RegisterDelayedCallback(func() { waits("first"); plan = "second"; decide(func(d *run.Decision) { former = *d }) }, time.Hour)
	env.RegisterDelayedCallback(func() { waits("second"); env.SignalWorkflow(run.ApproveSignal, former) }, 2*time.Hour)
	env.RegisterDelayedCallback(func() { waits("second"); require.Empty(t, performed); decide(func(*run.Decision) {}) }, 3*time.Hour)
	v := env.run(t, r)
	require.Equal(t, []string{"second"}, performed)
	require.Equal(t, map[string]run.Status{"a": run.Succeeded, "b": run.Succeeded}, statuses(v))
}

// The result of a run is one text on the server, and limited, however large the texts of its stacks are.
func TestTheEndOfALargeRunIsBounded(t *testing.T) {
	needs, c := map[string][]string{}, &cloud{results: map[string]func(run.StackRequest) (run.Outcome, error){}}
	for i := range 30 {
		name := fmt.Sprintf("s%02d", i)
		needs[name] = nil
		c.results[name] = func(r run.StackRequest) (run.Outcome, error) {
			o := run.Outcome{Status: run.Failed, Kind: run.Program, Attempt: r.Attempt, Why: strings.Repeat("w", 100_000), Log: strings.Repeat("x", 100_000) + "the end"}
			return o, temporal.NewApplicationErrorWithOptions("broken", string(run.Program), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
		}
	}
	env, r := bound(t, c, request(run.Up, stacks(needs)))
	v := env.run(t, r)
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.Less(t, len(text), 1<<20+1<<16)
	require.Contains(t, v.Stacks[0].Why, "`sluice fleet logs` shows it")
}
