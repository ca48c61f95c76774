package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
)

func newPluginListCommand(t *terminal.Terminal) *cobra.Command {
	var project, asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the plugins that are found here",
		Long: "List the plugins that are found here, in the order in which they are preferred: those that the project names, those\n" +
			"on $PATH, and those that were installed.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			places, err := plugins.Find(t)
			if err != nil {
				return err
			}
			entries, err := pluginEntries(cmd.Context(), places, project)
			if err != nil {
				return err
			}
			if asJSON {
				return format.JSON(t.Data(), entries)
			}
			return writePlugins(t, entries)
		},
	}
	cmd.Flags().BoolVarP(&project, "project", "p", false, "list the plugins that the program of this directory needs")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

// pluginEntry is a plugin in JSON listings (protocol.md 10.3), with its place.
type pluginEntry struct {
	Name         string  `json:"name"`
	Kind         string  `json:"kind"`
	Version      *string `json:"version"`
	Size         int64   `json:"size"`
	InstallTime  *string `json:"installTime"`
	LastUsedTime *string `json:"lastUsedTime"`
	Source       string  `json:"source"` // "project", "path", "cache"; for needed plugins also "builtin" and "missing"
	Path         string  `json:"path,omitempty"`

	installed, used time.Time
}

func pluginEntries(ctx context.Context, places *plugins.Places, project bool) ([]pluginEntry, error) {
	entries := []pluginEntry{}
	if !project {
		for _, l := range places.All() {
			entries = append(entries, entryOf(string(l.Kind), l.Name, l.Version, &l.Location))
		}
		return entries, nil
	}
	needs, err := places.Needed(ctx)
	for _, n := range needs {
		e := entryOf(string(n.Kind), n.Name, n.Version, n.Location)
		if n.Builtin {
			e.Source = "builtin"
		}
		entries = append(entries, e)
	}
	return entries, err
}

func entryOf(kind, name, version string, at *plugin.Location) pluginEntry {
	e := pluginEntry{Kind: kind, Name: name, Source: "missing"}
	if version != "" {
		e.Version = &version
	}
	if at == nil {
		return e
	}
	e.Source, e.Path = string(at.Source), at.Path()
	if at.Source != plugin.FromCache {
		return e
	}
	d := install.Describe(at.Directory)
	e.Size, e.installed, e.used = d.Size, d.Installed, d.LastUsed
	e.InstallTime, e.LastUsedTime = timeOrNull(d.Installed), timeOrNull(d.LastUsed)
	return e
}

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := format.Time(t)
	return &text
}

func writePlugins(t *terminal.Terminal, entries []pluginEntry) error {
	var total int64
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tVERSION\tSIZE\tINSTALLED\tLAST USED\tPLACE")
	for _, e := range entries {
		total += e.Size
		version, size, installed, used, place := "n/a", "n/a", "n/a", "n/a", e.Source
		if e.Version != nil {
			version = *e.Version
		}
		if e.Source == string(plugin.FromCache) {
			size, installed, used = format.Bytes(e.Size), format.Ago(time.Since(e.installed)), "never"
			if !e.used.IsZero() {
				used = format.Ago(time.Since(e.used))
			}
		} else if e.Path != "" {
			place = filepath.Dir(e.Path)
		}
		cells := []string{format.Printable(e.Name), e.Kind, version, size, installed, used, place}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	fmt.Fprintf(w, "\nTOTAL of what was installed: %s\n", format.Bytes(total))
	return w.Flush()
}
