package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// readPlan reads the file of --plan. Nothing has been done yet when it is refused.
func (o *operation) readPlan(ctx context.Context) error {
	if o.flags.Plan.File == "" {
		return nil
	}
	content, err := os.ReadFile(o.flags.Plan.File)
	if err != nil {
		return exit.AsUsage(fmt.Errorf("--plan: %w", err))
	}
	plan, err := sluice.DecodePlan(ctx, o.flags.Plan.File, content, o.secrets)
	if err != nil {
		return exit.AsUsage(fmt.Errorf("--plan: %w", err))
	}
	o.plan = plan
	return nil
}

// makesPlan tells whether previews are to say what they allow.
func (o *operation) makesPlan() bool {
	return o.flags.Plan.Save != "" || o.flags.Plan.Strict && o.plan == nil
}

// savePlan writes the file of --save-plan.
func (o *operation) savePlan(ctx context.Context, r *sluice.Result) error {
	path := o.flags.Plan.Save
	if path == "" || r.Plan == nil {
		return nil
	}
	plan := *r.Plan
	plan.Config = make(map[string]json.RawMessage, len(o.values))
	for k, v := range o.values {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(workspace.JSONForm(v)); err != nil {
			return err
		}
		plan.Config[k.String()] = bytes.TrimSpace(text.Bytes())
	}
	content, err := sluice.EncodePlan(ctx, &plan, o.secrets, o.flags.Display.ShowSecrets())
	if err != nil {
		return err
	}
	// A plan can hold secrets in plain text.
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if !o.flags.Display.JSON {
		fmt.Fprintf(o.cli.Out, "\nThe plan is in %s. Run `sluice up --plan %s` to do what it says and nothing more.\n", path, path)
	}
	return nil
}
