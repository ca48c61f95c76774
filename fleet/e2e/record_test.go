package e2e

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	ours "github.com/sluice-iac/sluice/fleet/worker"
)

var record = flag.String("fleet.record", "", "record histories of runs, for fleet/run/testdata, under names that begin like this")

// made has the activities that stand in for workers.
type made struct{ tries map[string]int }

func (made) survey(_ context.Context, s run.Survey) (map[string]run.Surveyed, error) {
	out := map[string]run.Surveyed{}
	for _, one := range s.Stacks {
		out[one.Name] = run.Surveyed{Known: order.Known{Project: one.Name}, Outputs: "recorded"}
	}
	return out, nil
}

func (m made) perform(_ context.Context, r run.StackRequest) (run.Outcome, error) {
	m.tries[r.Stack.Name]++
	o := run.Outcome{Status: run.Failed, Kind: run.Program, Why: "it is broken"}
	failed := func() (run.Outcome, error) {
		return o, temporal.NewApplicationErrorWithOptions(o.Why, string(o.Kind), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{o}})
	}
	switch {
	case r.Stack.Name == "broken":
		return failed()
	case r.Stack.Name == "early" && m.tries["early"] == 1:
		o.Reads = []string{"late/dev"}
		return failed()
	case r.Stack.Name == "soon" && m.tries["soon"] == 1:
		return run.Outcome{Status: run.Succeeded, Outputs: "wrong", Reads: []string{"late/dev"}}, nil
	case r.Stack.Name == "locked" && m.tries["locked"] == 1:
		return o, temporal.NewApplicationErrorWithOptions("locked", string(run.Locked), temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
	}
	return run.Outcome{Status: run.Succeeded, Outputs: "new"}, nil
}

// TestRecord records histories of runs on request, for replay by later versions.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Log("nothing is recorded without -fleet.record")
		return
	}
	p := newPlace(t, nil)
	h, err := server.HomeOf(p.path("."))
	require.NoError(t, err)
	c := p.command(t.Context(), "sluice-fleet", "server", "--data", p.path("."))
	require.NoError(t, c.Start())
	joined, err := server.Join(t.Context(), h, "nothing")
	require.NoError(t, err)
	defer func() { require.NoError(t, joined.Close()) }()
	to, err := server.Connect(t.Context(), joined.Options(server.Client), converter.GetDefaultDataConverter(), temporal.GetDefaultFailureConverter(), server.Silent{})
	require.NoError(t, err)
	defer to.Close()
	works, err := server.Connect(t.Context(), joined.Options(server.Worker), converter.GetDefaultDataConverter(), temporal.GetDefaultFailureConverter(), server.Silent{})
	require.NoError(t, err)
	defer works.Close()
	m := made{map[string]int{}}
	workflows := worker.New(works, run.WorkflowQueue("shop"), worker.Options{})
	run.Register(workflows)
	limits := ours.Limits{Client: works}
	workflows.RegisterActivityWithOptions(limits.Ask, activity.RegisterOptions{Name: run.AskActivity})
	workflows.RegisterActivityWithOptions(limits.Ended, activity.RegisterOptions{Name: run.EndedActivity})
	activities := worker.New(works, run.ActivityQueue("shop", "q"), worker.Options{})
	activities.RegisterActivityWithOptions(m.survey, activity.RegisterOptions{Name: run.SurveyActivity})
	activities.RegisterActivityWithOptions(m.perform, activity.RegisterOptions{Name: run.PerformActivity})
	require.NoError(t, workflows.Start())
	defer workflows.Stop()
	require.NoError(t, activities.Start())
	defer activities.Stop()
	stack := func(name string, needs ...string) spec.Stack {
		return spec.Stack{Name: name, Entry: name, Stack: "dev", Queue: "q", Needs: needs}
	}
	careful := stack("careful")
	careful.Approve = []string{"up"}
	limited := stack("limited")
	limited.Limits = []string{"account"}
	for name, stacks := range map[string][]spec.Stack{
		"failure":  {stack("a"), stack("b", "a"), stack("broken", "a"), stack("c", "broken"), stack("d", "b", "c")},
		"found":    {stack("early"), stack("late"), stack("locked", "late")},
		"soon":     {stack("soon"), stack("late")},
		"limited":  {limited, stack("after", "limited")},
		"approval": {careful, stack("after", "careful")},
		"canceled": {careful, stack("after", "careful")},
	} {
		id := "shop/up/" + name
		r := run.Request{Fleet: "shop", Operation: run.Up, Stacks: stacks, Concurrency: 1, Limits: map[string]int{"account": 1}, By: "ada"}
		w, err := to.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: run.WorkflowQueue("shop")}, run.FleetWorkflow, r)
		require.NoError(t, err)
		switch name {
		case "approval":
			require.Eventually(t, func() bool {
				return asks(t, to, id) && to.SignalWorkflow(t.Context(), id, "", run.ApproveSignal, run.Decision{Stack: "careful", Approval: run.Approval{Granted: true, By: "ada"}}) == nil
			}, longest, 100*time.Millisecond)
		case "canceled":
			require.Eventually(t, func() bool { return asks(t, to, id) }, longest, 100*time.Millisecond)
			require.NoError(t, to.CancelWorkflow(t.Context(), id, ""))
		}
		require.NoError(t, w.Get(t.Context(), nil))
		save(t, to, id, name)
		save(t, to, run.StackID(id, stacks[len(stacks)-1].Name), name+"-last")
		save(t, to, run.StackID(id, stacks[0].Name), name+"-first")
		if name == "limited" {
			save(t, to, run.LimitID("shop", "account"), "limit")
		}
	}
}

// asks reports whether the first stack of a run waits for an approval.
func asks(t *testing.T, to client.Client, id string) bool {
	var v run.View
	answer, err := to.QueryWorkflow(t.Context(), id, "", run.ViewQuery)
	return err == nil && answer.Get(&v) == nil && v.Stacks[0].Status == run.Approving
}

// save writes the history of a workflow, if there is one.
func save(t *testing.T, to client.Client, id, name string) {
	t.Helper()
	var all historypb.History
	events := to.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return // the stack was skipped
		}
		all.Events = append(all.Events, e)
	}
	text, err := protojson.Marshal(&all)
	require.NoError(t, err)
	text = regexp.MustCompile(`"([a-zA-Z]*[iI]dentity|name)":\s*"[^"]*(?:@[^"]*|:[0-9a-f-]{36})"`).ReplaceAll(text, []byte(`"$1":"worker"`)) // without the machine
	require.NoError(t, os.WriteFile(filepath.Join("../run/testdata", *record+"-"+name+".json"), append(text, '\n'), 0o666))
}
