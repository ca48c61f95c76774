package drift

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/readtimes"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// moved returns the drift that a refresh has found.
func moved(ctx context.Context, s *session.Stack, found *sluice.Result) (*Document, error) {
	doc := &Document{Stack: s.Ref.Name, Project: s.Ref.Project, Resources: []Entry{}}
	for _, step := range found.Steps() {
		if !readtimes.IsRead(step) {
			continue
		}
		doc.Read++
		if step.Op == stages.OpSame || step.Op == stages.OpRefresh {
			continue
		}
		e := Entry{URN: step.URN, Type: step.URN.Type(), Name: step.URN.Name(), Gone: step.Op == stages.OpDelete}
		if !e.Gone {
			var err error
			if e.Changes, err = changesOf(ctx, step); err != nil {
				return nil, err
			}
		}
		doc.Resources = append(doc.Resources, e)
	}
	slices.SortFunc(doc.Resources, func(a, b Entry) int { return strings.Compare(string(a.URN), string(b.URN)) })
	doc.Moved = len(doc.Resources)
	return doc, nil
}

// place is the path of a property that has drifted.
type place struct {
	text   string
	path   property.Path
	inputs bool // it is a path in the inputs, not in the outputs
}

// placesOf returns the paths that the provider names. If it reports only that the object has changed, they are the differences
// between the recorded and the read values.
func placesOf(step stages.StepInfo) []place {
	texts := slices.Sorted(maps.Keys(step.DetailedDiff))
	if len(texts) == 0 {
		texts = slices.Sorted(slices.Values(step.Diffs))
	}
	var out []place
	for _, text := range texts {
		path, err := property.ParsePath(text)
		if err != nil {
			path = property.Path{property.Key(text)}
		}
		out = append(out, place{text, path, step.DetailedDiff[text].InputDiff})
	}
	if len(out) > 0 || step.Old == nil || step.New == nil {
		return out
	}
	seen := map[string]bool{}
	for _, inputs := range []bool{false, true} {
		was, is := propertiesOf(step.Old, inputs), propertiesOf(step.New, inputs)
		for c := range property.Diff(was.StripSecretsAndOutputs(), is.StripSecretsAndOutputs(), nil).Changes() {
			if text := c.Path.String(); !seen[text] {
				seen[text] = true
				out = append(out, place{text, c.Path, inputs})
			}
		}
	}
	slices.SortFunc(out, func(a, b place) int { return strings.Compare(a.text, b.text) })
	return out
}

// changesOf returns the properties that have drifted.
func changesOf(ctx context.Context, step stages.StepInfo) ([]Change, error) {
	var out []Change
	for _, at := range placesOf(step) {
		c := Change{Path: at.text}
		path, inputs := at.path, at.inputs
		var err error
		if hasSecret(step.Old, path, inputs) || hasSecret(step.New, path, inputs) {
			c.Recorded, c.Actual = json.RawMessage(masked), json.RawMessage(masked)
			out = append(out, c)
			continue
		}
		if c.Recorded, err = valueAt(ctx, step.Old, path, inputs); err != nil {
			return nil, err
		}
		if c.Actual, err = valueAt(ctx, step.New, path, inputs); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// masked replaces both values of a property if one is secret: providers do not mark secrets in what they read.
const masked = `"[secret]"`

// propertiesOf returns the properties that a path of a diff refers to.
func propertiesOf(r *state.Resource, inputs bool) property.Map {
	switch {
	case r == nil:
		return property.Map{}
	case inputs:
		return r.Inputs
	}
	return r.Outputs
}

// hasSecret reports whether a property, a part of it, or a property around it is secret.
func hasSecret(r *state.Resource, path property.Path, inputs bool) bool {
	in := propertiesOf(r, inputs)
	for i := range path {
		v, there := in.Lookup(path[:i+1])
		if there && (v.IsSecret() || i == len(path)-1 && v.HasSecrets()) {
			return true
		}
	}
	return false
}

// valueAt returns a property as JSON, nil if there is none.
func valueAt(ctx context.Context, r *state.Resource, path property.Path, inputs bool) (json.RawMessage, error) {
	v, there := propertiesOf(r, inputs).Lookup(path)
	if !there {
		return nil, nil
	}
	text, err := property.EncodeState(ctx, property.NewMap(map[string]property.Value{"value": v}), property.StateOptions{Secrets: property.SecretsMasked})
	if err != nil {
		return nil, err
	}
	var one struct{ Value json.RawMessage }
	err = json.Unmarshal(text, &one)
	return one.Value, err
}
