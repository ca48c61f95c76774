package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/state"
)

func newStateRepairCommand(open *session.Opener) *cobra.Command {
	var f stateedit.Flags
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Repair a state that other commands refuse",
		Long: "Repair a state that fails the integrity check: sort resources so that each comes after those that it refers to, and\n" +
			"drop references to resources that do not exist. The command first shows what it is going to do. It does not change a\n" +
			"valid state, or one that it cannot repair in this way.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return stateedit.Run(cmd.Context(), open, &f, true, func(ctx context.Context, e *stateedit.Edit) error { return repair(ctx, e) })
		},
	}
	f.Add(cmd.Flags())
	return cmd
}

func repair(ctx context.Context, e *stateedit.Edit) error {
	now, done, err := state.RepairAll(e.Snapshot)
	if err != nil {
		return fmt.Errorf("%s cannot be repaired automatically: %w\ncorrect it with `sluice state edit`, or in what `sluice stack export` "+
			"writes, which `sluice stack import` takes back", e.File(ctx), err)
	}
	if done == nil {
		return reportRepairs(e, &state.Repairs{}, fmt.Sprintf("The state of %s is valid: there is nothing to repair.\n", e.Name))
	}
	plan := describeRepairs(done)
	switch {
	case e.Flags.Yes:
	case e.Terminal.Interactive() && !e.Flags.JSON:
		if err := stateedit.ConfirmPlan(ctx, e.Terminal, plan); err != nil {
			return err
		}
	default:
		if !e.Flags.JSON {
			fmt.Fprint(e.Terminal.Out, plan)
		}
		return exit.Usagef("--yes must be passed in to repair the state in non-interactive mode")
	}
	if err := e.Write(ctx, now); err != nil {
		return err
	}
	return reportRepairs(e, done, plan+fmt.Sprintf("Repaired the state of %s.\n", e.Name))
}

// describeRepairs describes what a repair does.
func describeRepairs(done *state.Repairs) string {
	var b strings.Builder
	if done.Magic {
		b.WriteString("Set anew: the manifest's magic, which does not match its version\n")
	}
	if len(done.Ordered) > 0 {
		b.WriteString("Put into order:\n")
		for _, u := range done.Ordered {
			fmt.Fprintf(&b, "  %s\n", format.Printable(string(u)))
		}
	}
	if len(done.Dropped) > 0 {
		b.WriteString("Drop references to what does not exist:\n")
		for _, c := range done.Dropped {
			fmt.Fprintf(&b, "  %s\n", format.Printable(c.String()))
		}
	}
	if len(done.Renamed) > 0 {
		b.WriteString("Rename, as parents are missing or renamed:\n")
		for _, r := range done.Renamed {
			fmt.Fprintf(&b, "  %s\n  -> %s\n", format.Printable(string(r.From)), format.Printable(string(r.To)))
		}
	}
	return b.String()
}

func reportRepairs(e *stateedit.Edit, done *state.Repairs, text string) error {
	if !e.Flags.JSON {
		_, err := fmt.Fprint(e.Terminal.Out, text)
		return err
	}
	r := repairReport{Stack: e.Name, Magic: done.Magic, Ordered: []string{}, Dropped: []string{}, Renamed: []stateedit.Changed{}}
	for _, u := range done.Ordered {
		r.Ordered = append(r.Ordered, string(u))
	}
	for _, c := range done.Dropped {
		r.Dropped = append(r.Dropped, c.String())
	}
	for _, n := range done.Renamed {
		r.Renamed = append(r.Renamed, stateedit.Changed{URN: string(n.From), NewURN: string(n.To)})
	}
	return format.JSON(e.Terminal.Data(), r)
}

// repairReport describes a repair, for scripts.
type repairReport struct {
	Stack   string              `json:"stack"`
	Magic   bool                `json:"magic"`
	Ordered []string            `json:"ordered"`
	Dropped []string            `json:"dropped"`
	Renamed []stateedit.Changed `json:"renamed"`
}
