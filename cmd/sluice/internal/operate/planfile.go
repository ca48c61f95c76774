package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// readPlan reads the file of --plan, and returns nil if path is empty. It returns an error before the operation has
// done anything.
func readPlan(ctx context.Context, path string, secrets secrets.Manager) (*state.Plan, error) {
	if path == "" {
		return nil, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("%w, the file that --plan names", err)) // clients look for "error: open" and the name
	}
	plan, err := sluice.DecodePlan(ctx, path, content, secrets)
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("--plan: %w", err))
	}
	return plan, nil
}

// SavePlan writes the plan of a preview to the file of --save-plan.
func SavePlan(ctx context.Context, j *Job, r *sluice.Result) error {
	if j.Flags.Plan.Save == "" || r.Plan == nil {
		return nil
	}
	return savePlan(ctx, j, r, j.Flags.Plan.Save)
}

func savePlan(ctx context.Context, j *Job, r *sluice.Result, path string) error {
	plan := *r.Plan
	plan.Config = make(map[string]json.RawMessage, len(j.values))
	for k, v := range j.values {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(workspace.JSONForm(v)); err != nil {
			return err
		}
		plan.Config[k.String()] = bytes.TrimSpace(text.Bytes())
	}
	content, err := sluice.EncodePlan(ctx, &plan, j.secrets, j.Flags.Display.ShowSecrets())
	if err != nil {
		return err
	}
	// A plan can hold secrets in plain text.
	if err := private.Write(path, content); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if !j.Flags.Display.JSON() {
		fmt.Fprintf(j.Terminal.Out, j.Terminal.Named("\nThe plan is in %s. Run `sluice up --plan %s%s` to do what it says and nothing more.\n"), path, path, choosing(j))
	}
	return nil
}

// choosing returns the flags that choose resources, with a space before each: a plan of some resources is for an update of them.
func choosing(j *Job) (text string) {
	for _, words := range j.Flags.Targeting.Choosing(quoted) {
		text += " " + words
	}
	return text
}
