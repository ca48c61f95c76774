package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackListCommand(open *session.Opener) *cobra.Command {
	var f stackFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the stacks of the project",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listStacks(cmd.Context(), open, f, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "list the stacks of all projects")
	cmd.Flags().StringVarP(&f.project, "project", "p", "", "list the stacks of this project")
	cmd.Flags().StringVarP(&f.tag, "tag", "t", "", "list the stacks with this tag: its name, or its name and value as in NAME=VALUE")
	cmd.Flags().StringVarP(&f.organization, "organization", "o", "", "list the stacks of this organization; self-managed backends have none but \"organization\"")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

// stackFilter selects the stacks to list.
type stackFilter struct {
	all               bool
	project           string // "" is that of this directory, unless all are listed
	tag, organization string // "" is any
}

// backend returns the filter in the form of backends.
func (f stackFilter) backend() backend.Filter {
	name, value, _ := strings.Cut(f.tag, "=")
	return backend.Filter{Project: f.project, Organization: f.organization, Tag: name, Value: value}
}

// stackEntry is a stack in JSON listings (state.md 7.4).
type stackEntry struct {
	Name          string `json:"name"`
	Current       bool   `json:"current"`
	LastUpdate    string `json:"lastUpdate,omitempty"`
	ResourceCount *int   `json:"resourceCount,omitempty"`
	URL           string `json:"url,omitempty"`
}

func listStacks(ctx context.Context, open *session.Opener, f stackFilter, asJSON bool) error {
	session := open.Session
	if f.all || f.project != "" {
		session = open.AnySession
	}
	s, err := session(ctx)
	if err != nil {
		return err
	}
	switch {
	case f.all && f.project != "":
		return exit.Usagef("only one of --all and --project may be given")
	case !f.all && f.project == "":
		f.project = s.Project.Name
	}
	stacks, err := s.Backend.Stacks(ctx, f.backend())
	if err != nil {
		return err
	}
	current, err := s.Selected()
	if err != nil {
		return err
	}
	selected, _ := s.Backend.Resolve(current) // a selection that is invalid here selects nothing
	if asJSON {
		return format.JSON(open.Terminal.Data(), stackEntries(s, stacks, selected))
	}
	var b strings.Builder
	row := func(name, update, count, page string) {
		if page != "" {
			count = fmt.Sprintf("%-14s  %s", count, page)
		}
		fmt.Fprintf(&b, "%-30s  %-20s  %s\n", name, update, count)
	}
	heading := ""
	if stackPage(s, backend.Ref{}) != "" {
		heading = "URL"
	}
	row("NAME", "LAST UPDATE", "RESOURCE COUNT", heading)
	for _, l := range stacks {
		name := s.NameOf(l.Ref)
		if l.Ref == selected {
			name += "*"
		}
		update, count := "n/a", "n/a"
		switch {
		case l.Err != nil:
			update = "unreadable"
			open.Terminal.Warn("stack %s: %v", s.NameOf(l.Ref), l.Err)
		case l.Summary.Deployed:
			count = strconv.Itoa(l.Summary.Resources)
			if !l.Summary.Time.IsZero() { // an imported or copied state may have no time
				update = format.Ago(time.Since(l.Summary.Time))
			}
		}
		row(name, update, count, stackPage(s, l.Ref))
	}
	_, err = fmt.Fprint(open.Terminal.Out, b.String())
	return err
}

// stackPage returns the address of the page of a stack, "" if there is none, or it is unknown.
func stackPage(s *session.Session, ref backend.Ref) string {
	if b, has := s.Backend.(backend.Pages); has {
		return b.StackPage(ref)
	}
	return ""
}

func stackEntries(s *session.Session, stacks []backend.Listing, selected backend.Ref) []stackEntry {
	out := make([]stackEntry, 0, len(stacks))
	for _, l := range stacks {
		e := stackEntry{Name: s.NameOf(l.Ref), Current: l.Ref == selected, URL: stackPage(s, l.Ref)}
		if l.Err != nil {
			s.Terminal.Warn("stack %s: %v", e.Name, l.Err)
		} else if l.Summary.Deployed {
			if !l.Summary.Time.IsZero() {
				e.LastUpdate = format.Time(l.Summary.Time)
			}
			e.ResourceCount = &l.Summary.Resources
		}
		out = append(out, e)
	}
	return out
}
