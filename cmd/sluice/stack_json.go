package main

import (
	"context"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
)

// stackDocument is a stack in JSON, with Pulumi's keys.
type stackDocument struct {
	Organization string            `json:"organization,omitempty"`
	Project      string            `json:"project,omitempty"`
	Stack        string            `json:"stack"`
	Backend      string            `json:"backend"`
	Tags         map[string]string `json:"tags"`
	Manifest     *stackManifest    `json:"manifest,omitempty"` // nil before the first deployment
	Resources    []stackResource   `json:"resources"`
	Outputs      map[string]any    `json:"outputs"`
	// LastUpdate is an extension by sluice: the last operation on the stack.
	LastUpdate *stackUpdate `json:"lastUpdate,omitempty"`
	// Pending is an extension by sluice: the operations that have not ended.
	Pending []stackPending `json:"pendingOperations,omitempty"`
	// Snippets are those that 'pulumi do' has written.
	Snippets []stackSnippet `json:"snippets,omitempty"`
}

type stackUpdate struct {
	Kind            string         `json:"kind"`
	Result          string         `json:"result"`
	StartTime       string         `json:"startTime"`
	EndTime         string         `json:"endTime"`
	ResourceChanges map[string]int `json:"resourceChanges,omitempty"`
}

type stackManifest struct {
	Time    string        `json:"time,omitempty"`
	Version string        `json:"pulumiVersion,omitempty"` // of the engine that wrote the state
	Plugins []stackPlugin `json:"plugins,omitempty"`
}

type stackPlugin struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Version string `json:"version,omitempty"`
}

type stackResource struct {
	URN    string `json:"urn"`
	Type   string `json:"type"`
	Name   string `json:"name"`
	ID     string `json:"id,omitempty"`
	Parent string `json:"parent,omitempty"`
}

type stackPending struct {
	URN       string `json:"urn"`
	Operation string `json:"operation"`
	UnderWay  bool   `json:"underWay,omitempty"` // another command is running it
}

// stackContents is the recorded content of a stack. snapshot and latest are nil before the first deployment.
type stackContents struct {
	snapshot *state.Snapshot
	outputs  property.Map
	latest   *backend.Update
}

// writeStackJSON writes a summary of a stack for scripts.
func writeStackJSON(ctx context.Context, s *session.Stack, c stackContents, showSecrets bool) error {
	tags, err := s.State.Tags(ctx)
	if err != nil {
		return err
	}
	if tags == nil {
		tags = map[string]string{}
	}
	d := stackDocument{
		Organization: s.Ref.Organization(), Project: s.Ref.Project, Stack: s.Ref.Name, Backend: backend.MaskURL(s.Session.BackendURL), Tags: tags,
		Resources: []stackResource{}, Outputs: make(map[string]any, c.outputs.Len()),
	}
	for name, v := range c.outputs.All() {
		d.Outputs[name] = display.PlainJSON(v, showSecrets)
	}
	if u := c.latest; u != nil {
		d.LastUpdate = &stackUpdate{u.Kind, u.Result, format.Time(u.Started()), format.Time(u.Ended()), u.ResourceChanges}
	}
	if c.snapshot != nil {
		d.describe(c.snapshot)
		d.Snippets = snippetsOf(c.snapshot, showSecrets)
	}
	return format.JSON(s.Session.Terminal.Data(), d)
}

// describe adds the recorded resources.
func (d *stackDocument) describe(s *state.Snapshot) {
	if m := s.Manifest; !m.Time.IsZero() {
		d.Manifest = &stackManifest{Time: format.Time(m.Time), Version: m.Version}
		for _, p := range m.Plugins {
			d.Manifest.Plugins = append(d.Manifest.Plugins, stackPlugin{Name: p.Name, Kind: p.Type, Version: p.Version})
		}
	}
	for _, r := range s.Resources {
		d.Resources = append(d.Resources, stackResource{
			URN: string(r.URN), Type: string(r.Type), Name: r.URN.Name(), ID: r.ID, Parent: string(r.Parent),
		})
	}
	for _, op := range s.Pending {
		d.Pending = append(d.Pending, stackPending{URN: string(op.Resource.URN), Operation: string(op.Type), UnderWay: op.UnderWay})
	}
}
