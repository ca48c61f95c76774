package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

func newStackListCommand(c *cli) *cobra.Command {
	var all, asJSON bool
	var project string
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the stacks of the project",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.listStacks(cmd.Context(), all, project, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "list the stacks of all projects")
	cmd.Flags().StringVarP(&project, "project", "p", "", "list the stacks of this project")
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	return cmd
}

// stackEntry is a stack in JSON listings (state.md 7.4).
type stackEntry struct {
	Name          string `json:"name"`
	Current       bool   `json:"current"`
	LastUpdate    string `json:"lastUpdate,omitempty"`
	ResourceCount *int   `json:"resourceCount,omitempty"`
}

func (c *cli) listStacks(ctx context.Context, all bool, project string, asJSON bool) error {
	s, err := c.openProject(ctx)
	if err != nil {
		return err
	}
	switch {
	case all && project != "":
		return exit.Usagef("only one of --all and --project may be given")
	case all:
		project = ""
	case project == "":
		project = s.project.Name
	}
	stacks, err := s.backend.Stacks(ctx, project)
	if err != nil {
		return err
	}
	current, err := s.selected()
	if err != nil {
		return err
	}
	selected, _ := s.backend.Resolve(current) // an old selection that means nothing here selects nothing
	if asJSON {
		return format.JSON(c.Out, s.stackEntries(stacks, selected))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s  %-20s  %s\n", "NAME", "LAST UPDATE", "RESOURCE COUNT")
	for _, l := range stacks {
		name := l.Ref.Display(s.project.Name)
		if l.Ref == selected {
			name += "*"
		}
		update, count := "n/a", "n/a"
		switch {
		case l.Err != nil:
			update = "corrupt"
			c.Warn("stack %s: %v", l.Ref.Display(s.project.Name), l.Err)
		case l.Summary.Deployed:
			update, count = format.Ago(time.Since(l.Summary.Time)), strconv.Itoa(l.Summary.Resources)
		}
		fmt.Fprintf(&b, "%-30s  %-20s  %s\n", name, update, count)
	}
	_, err = fmt.Fprint(c.Out, b.String())
	return err
}

func (s *session) stackEntries(stacks []sluice.StackListing, selected sluice.StackRef) []stackEntry {
	out := make([]stackEntry, 0, len(stacks))
	for _, l := range stacks {
		e := stackEntry{Name: l.Ref.Display(s.project.Name), Current: l.Ref == selected}
		if l.Err != nil {
			s.cli.Warn("stack %s: %v", e.Name, l.Err)
		} else if l.Summary.Deployed {
			e.LastUpdate = format.Time(l.Summary.Time)
			e.ResourceCount = &l.Summary.Resources
		}
		out = append(out, e)
	}
	return out
}
