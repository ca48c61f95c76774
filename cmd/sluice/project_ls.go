package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
)

func newProjectListCommand(open *session.Opener) *cobra.Command {
	var organization string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the projects that have stacks in the backend",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listProjects(cmd.Context(), open, organization, asJSON)
		},
	}
	cmd.Flags().StringVarP(&organization, "organization", "o", "", "list the projects of this organization of a service")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

// projectEntry is a project in JSON listings.
type projectEntry struct {
	Name         string `json:"name"`
	Organization string `json:"organization,omitempty"` // of a service
	Stacks       int    `json:"stackCount"`
}

func listProjects(ctx context.Context, open *session.Opener, organization string, asJSON bool) error {
	s, err := open.AnySession(ctx)
	if err != nil {
		return err
	}
	hosted := service.Handles(s.BackendURL)
	if organization != "" && !hosted {
		return exit.Usagef("%s is not a service, and has no organizations: omit --organization", backend.MaskURL(s.BackendURL))
	}
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Organization: organization})
	if err != nil {
		return err
	}
	projects := projectsOf(stacks, hosted)
	if asJSON {
		return format.JSON(open.Terminal.Data(), projects)
	}
	var b strings.Builder
	row := func(name, organization, stacks string) {
		if hosted {
			stacks = fmt.Sprintf("%-20s  %s", organization, stacks)
		}
		fmt.Fprintf(&b, "%-30s  %s\n", format.Printable(name), stacks)
	}
	row("NAME", "ORGANIZATION", "STACKS")
	for _, p := range projects {
		row(p.Name, p.Organization, fmt.Sprint(p.Stacks))
	}
	_, err = fmt.Fprint(open.Terminal.Out, b.String())
	return err
}

// projectsOf counts the stacks of each project, in the order of the stacks. Stores of the old layout name no projects: their stacks are left
// out. Projects of a service have an organization.
func projectsOf(stacks []backend.Listing, hosted bool) []projectEntry {
	out := []projectEntry{}
	places := map[projectEntry]int{}
	for _, l := range stacks {
		if l.Ref.Project == "" {
			continue
		}
		p := projectEntry{Name: l.Ref.Project}
		if hosted {
			p.Organization = l.Ref.Organization()
		}
		place, known := places[p]
		if !known {
			place = len(out)
			places[p] = place
			out = append(out, p)
		}
		out[place].Stacks++
	}
	return out
}
