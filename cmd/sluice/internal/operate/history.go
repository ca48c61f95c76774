package operate

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
)

// writeHistory records the operation in the history and backs up the state (state.md 4.7, 4.8).
func writeHistory(ctx context.Context, j *Job, started time.Time, r *sluice.Result, runErr error) error {
	text, err := historyConfig(j)
	if err != nil {
		return err
	}
	entry := backend.Update{
		Kind: j.Kind.History, StartTime: started.Unix(), EndTime: time.Now().Unix(), Message: j.Flags.History.Message,
		Environment: environment(j), Config: text, Result: backend.ResultSucceeded,
	}
	if runErr != nil {
		entry.Result = backend.ResultFailed
	}
	if r != nil {
		entry.ResourceChanges = make(map[string]int, len(r.Changes))
		for op, n := range r.Changes {
			entry.ResourceChanges[string(op)] = n
		}
	}
	// An interrupted operation is recorded like any other.
	return j.Stack.State.WriteHistory(context.WithoutCancel(ctx), entry)
}

// historyConfig returns the settings as the history records them.
func historyConfig(j *Job) (json.RawMessage, error) {
	config := make(map[string]any, len(j.values))
	for k, v := range j.values {
		config[k.String()] = workspace.JSONForm(v)
	}
	return json.Marshal(config)
}

// environment describes how the operation was called. It contains no values of variables.
func environment(j *Job) map[string]string {
	f := j.Flags
	env := f.History.Caller()
	env["sluice.version"] = sluice.Version
	if f.Plan.File != "" {
		env["updatePlan"] = "true"
	}
	if runtime := j.Stack.Project.Runtime; runtime != "" {
		env["runtime.name"] = runtime
	}
	for name, on := range map[string]bool{
		"skip-preview": f.Confirmation.SkipPreview, "yes": f.Confirmation.Yes, "diff": f.Display.Diff(), "continue-on-error": f.Run.ContinueOnError,
	} {
		if on {
			env["pulumi.flag."+name] = strconv.FormatBool(on)
		}
	}
	return env
}
