package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// writeHistory records the operation and backs the state up (state.md 4.7, 4.8).
func (o *operation) writeHistory(ctx context.Context, started time.Time, r *sluice.Result, runErr error) error {
	config := make(map[string]any, len(o.values))
	for k, v := range o.values {
		config[k.String()] = workspace.JSONForm(v)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	entry := sluice.HistoryEntry{
		Kind: o.kind.history, StartTime: started.Unix(), EndTime: time.Now().Unix(), Message: o.flags.History.Message,
		Environment: o.environment(), Config: text, Result: sluice.HistorySucceeded,
	}
	if runErr != nil {
		entry.Result = sluice.HistoryFailed
	}
	if r != nil {
		entry.ResourceChanges = make(map[string]int, len(r.Changes))
		for op, n := range r.Changes {
			entry.ResourceChanges[string(op)] = n
		}
	}
	// An interrupted operation is recorded like any other.
	return o.stack.WriteHistory(context.WithoutCancel(ctx), entry)
}

// environment describes how the operation was called. It has no values of variables.
func (o *operation) environment() map[string]string {
	env := o.flags.History.Caller()
	env["sluice.version"] = sluice.Version
	if o.flags.Plan.File != "" {
		env["updatePlan"] = "true"
	}
	if o.project.Runtime != "" {
		env["runtime.name"] = o.project.Runtime
	}
	for name, on := range map[string]bool{
		"skip-preview": o.flags.Confirmation.SkipPreview, "yes": o.flags.Confirmation.Yes, "diff": o.flags.Display.Diff(), "continue-on-error": o.flags.Run.ContinueOnError,
	} {
		if on {
			env["pulumi.flag."+name] = strconv.FormatBool(on)
		}
	}
	return env
}
