package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// stackSnippet is a snippet in the JSON of a stack.
type stackSnippet struct {
	UUID string `json:"uuid"`
	Name string `json:"name"`
	Type string `json:"type"`
	// Resources are the URNs of the resources that the snippet has made.
	Resources  []string           `json:"resources"`
	References map[string]urn.URN `json:"references,omitempty"`
	Code       string             `json:"code,omitempty"` // it may have secrets in the clear
}

// snippetsOf describes the snippets of a state. Their code is left out unless secrets are shown.
func snippetsOf(s *state.Snapshot, showSecrets bool) []stackSnippet {
	var list []stackSnippet
	for _, one := range state.ReadSnippets(s) {
		out := stackSnippet{UUID: one.UUID, Name: one.Name, Type: string(one.Type), Resources: []string{}, References: one.References}
		for _, r := range s.Resources {
			if r.SnippetID == one.UUID {
				out.Resources = append(out.Resources, string(r.URN))
			}
		}
		if showSecrets {
			out.Code = one.Code
		}
		list = append(list, out)
	}
	return list
}

// writeSnippets lists the snippets of a state, if there are any.
func writeSnippets(w io.Writer, s *state.Snapshot, showSecrets bool) error {
	list := snippetsOf(s, showSecrets)
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nSnippets, from which only Pulumi makes resources (%d):\n", len(list))
	for _, one := range list {
		resources := fmt.Sprintf("%d resources", len(one.Resources))
		if len(one.Resources) == 1 {
			resources = "1 resource"
		}
		fmt.Fprintf(&b, "    %s %s, %s\n", format.Printable(one.Type), format.Printable(one.Name), resources)
		for line := range strings.Lines(strings.TrimRight(one.Code, "\n")) {
			fmt.Fprintf(&b, "        %s\n", printable.Line(strings.TrimRight(line, "\n")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// snippetText names the snippet that has made a resource; "" if none has.
func snippetText(s *state.Snapshot, r *state.Resource) string {
	list := state.ReadSnippets(s)
	at := slices.IndexFunc(list, func(one state.Snippet) bool { return one.UUID == r.SnippetID })
	if r.SnippetID == "" || at < 0 {
		return r.SnippetID
	}
	return fmt.Sprintf("%s (%s)", list[at].Name, list[at].UUID)
}
