package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

type stateGetFlags struct {
	stack             string
	json, showSecrets bool
}

func newStateGetCommand(open *session.Opener) *cobra.Command {
	var f stateGetFlags
	cmd := &cobra.Command{
		Use:     "get [resource]",
		Short:   "Show the recorded state of a resource",
		Long:    "Show what the state of a stack has of a resource: its URN, ID, inputs and outputs. Nothing is read from the cloud.",
		Example: "  sluice state get logs\n  sluice state get 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs' --json",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return getFromState(cmd.Context(), open, args, f)
		},
	}
	flags.AddStack(cmd.Flags(), &f.stack)
	flags.AddJSON(cmd.Flags(), &f.json, "write JSON")
	cmd.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "show secret values")
	return cmd
}

func getFromState(ctx context.Context, open *session.Opener, args []string, f stateGetFlags) error {
	t := open.Terminal
	if len(args) == 0 && !t.Interactive() {
		return exit.Usagef("missing resource: without a terminal, write its URN or name")
	}
	s, err := open.State(ctx, f.stack)
	if err != nil {
		return err
	}
	load := s.State.LoadSealed
	if f.showSecrets {
		load = s.State.Load
	}
	snapshot, err := load(ctx)
	if err != nil {
		return err
	}
	r, err := recorded(ctx, open, snapshot, args)
	if err != nil {
		return err
	}
	if f.json {
		return format.JSON(t.Data(), newResourceDocument(r, f.showSecrets))
	}
	_, err = fmt.Fprint(t.Out, recordedText(r, snippetText(snapshot, r), f.showSecrets))
	return err
}

// recorded returns the resource that the argument names, or the one that the user chooses. Of several copies it returns the live
// one.
func recorded(ctx context.Context, open *session.Opener, s *state.Snapshot, args []string) (*state.Resource, error) {
	if len(args) == 0 {
		return stateedit.Choose(ctx, open.Terminal, "Which resource do you want to see?", state.Live(s))
	}
	found, err := state.Find(s, args[0])
	if err != nil {
		return nil, err
	}
	chosen := found[0]
	for _, r := range found {
		if !r.Delete {
			chosen = r
		}
	}
	if len(found) > 1 {
		open.Terminal.Warn("the state has %d copies of the resource; `sluice stack export` shows all of them", len(found))
	}
	return chosen, nil
}

// resourceDocument is a resource in JSON, with Pulumi's keys and those of checkpoints.
type resourceDocument struct {
	URN             string         `json:"urn"`
	ID              string         `json:"id"`
	Type            string         `json:"type"`
	Parent          string         `json:"parent,omitempty"`
	Provider        string         `json:"provider,omitempty"`
	Dependencies    []string       `json:"dependencies,omitempty"`
	Protect         bool           `json:"protect,omitempty"`
	Inputs          map[string]any `json:"inputs"`
	Outputs         map[string]any `json:"outputs"`
	PendingDeletion bool           `json:"pendingDeletion,omitempty"`
	SnippetID       string         `json:"snippetID,omitempty"`
}

func newResourceDocument(r *state.Resource, showSecrets bool) resourceDocument {
	out := resourceDocument{
		URN: string(r.URN), ID: r.ID, Type: string(r.Type), Parent: string(r.Parent), Provider: r.Provider, Protect: r.Protect,
		Inputs: plainProperties(r.Inputs, showSecrets), Outputs: plainProperties(r.Outputs, showSecrets), PendingDeletion: r.Delete, SnippetID: r.SnippetID,
	}
	for _, u := range r.Dependencies {
		out.Dependencies = append(out.Dependencies, string(u))
	}
	return out
}

// isInternal reports whether a property is internal to an SDK or a provider.
func isInternal(key string) bool { return strings.HasPrefix(key, "__") }

func plainProperties(m property.Map, showSecrets bool) map[string]any {
	out := make(map[string]any, m.Len())
	for key, v := range m.All() {
		if !isInternal(key) {
			out[key] = display.PlainJSON(v, showSecrets)
		}
	}
	return out
}

func recordedText(r *state.Resource, snippet string, showSecrets bool) string {
	var b strings.Builder
	row := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-10s%s\n", title+":", format.Printable(text))
		}
	}
	row("Type", string(r.Type))
	row("URN", string(r.URN))
	row("ID", r.ID)
	row("Parent", string(r.Parent))
	row("Provider", r.Provider)
	row("Snippet", snippet)
	if r.Protect {
		row("Protected", "yes")
	}
	if r.Delete {
		row("Old copy", state.DescribeCopy(r))
	}
	b.WriteString(propertiesText("Inputs", r.Inputs, showSecrets))
	b.WriteString(propertiesText("Outputs", r.Outputs, showSecrets))
	return b.String()
}

// propertiesText returns a title and a line for each property, "" if there are none.
func propertiesText(title string, m property.Map, showSecrets bool) string {
	width := 0
	for key := range m.All() {
		if !isInternal(key) {
			width = max(width, len([]rune(key)))
		}
	}
	if width == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title + ":\n")
	for key, v := range m.All() {
		if !isInternal(key) {
			text := strings.ReplaceAll(outputText(v, showSecrets), "\n", "\n"+strings.Repeat(" ", width+6))
			fmt.Fprintf(&b, "    %-*s  %s\n", width, format.Printable(key), text)
		}
	}
	return b.String()
}
