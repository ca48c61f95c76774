package state

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// EncodePlan returns the content of a plan file: one JSON document without an envelope, indented by 4 spaces and ending in
// a newline (steps.md 12.1). Secrets are encrypted as in states, unknown values have their own mark. Equal plans have
// equal texts, except for new ciphertexts.
func EncodePlan(ctx context.Context, p *Plan, o EncoderOptions) ([]byte, error) {
	b := appendManifest([]byte(`{"manifest":`), p.Manifest)
	if len(p.Config) > 0 {
		b = append(b, `,"config":`...)
		opening := byte('{')
		for _, key := range sortedKeys(p.Config) {
			b = append(appendString(append(b, opening), key), ':')
			b, opening = append(b, p.Config[key]...), ','
		}
		b = append(b, '}')
	}
	if len(p.Resources) > 0 {
		b = append(b, `,"resourcePlans":`...)
		opening := byte('{')
		for _, u := range slices.Sorted(maps.Keys(p.Resources)) {
			b = append(appendString(append(b, opening), string(u)), ':')
			text, err := encodePlanned(ctx, p.Resources[u], o)
			if err != nil {
				return nil, fmt.Errorf("encode the plan of %s: %w", u, err)
			}
			b, opening = append(b, text...), ','
		}
		b = append(b, '}')
	}
	return indent(append(b, '}'))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// encodePlanned writes the members in the order of Pulumi, where all of them are optional but "state".
// It ignores "uncertain", which is our own.
func encodePlanned(ctx context.Context, r *PlannedResource, o EncoderOptions) ([]byte, error) {
	w := newFields(ctx, o)
	if r.Goal != nil {
		w.name("goal")
		w.plannedGoal(r.Goal)
	}
	list(&w, "steps", r.Ops)
	w.name("state")
	if r.Outputs == nil {
		w.b = append(w.b, "null"...)
	} else {
		w.object(*r.Outputs)
	}
	w.text("seed", base64.StdEncoding.EncodeToString(r.Seed))
	if r.Uncertain {
		w.always("uncertain", true)
	}
	return append(w.b, '}'), w.err
}

func (w *fields) plannedGoal(g *PlannedGoal) {
	w.b = append(w.b, '{')
	w.name("type")
	w.b = appendString(w.b, string(g.Type))
	w.name("name")
	w.b = appendString(w.b, g.Name)
	w.always("custom", g.Custom)
	w.name("inputDiff")
	w.plannedDiff(g.Inputs)
	w.name("outputDiff")
	w.plannedDiff(g.Outputs)
	w.text("parent", string(g.Parent))
	w.always("protect", g.Protect)
	list(w, "dependencies", g.Dependencies)
	w.text("provider", g.Provider)
	lists(w, "propertyDependencies", g.PropertyDependencies)
	if g.DeleteBeforeReplace != nil {
		w.always("deleteBeforeReplace", *g.DeleteBeforeReplace)
	}
	list(w, "ignoreChanges", g.IgnoreChanges)
	list(w, "additionalSecretOutputs", g.AdditionalSecretOutputs)
	w.structuredAliases(g.Aliases)
	w.text("id", g.ImportID)
	w.timeouts(g.CustomTimeouts)
	if g.CustomTimeouts == (Timeouts{}) {
		w.name("customTimeouts")
		w.b = append(w.b, "{}"...)
	}
	w.b = append(w.b, '}')
}

func (w *fields) plannedDiff(d PlannedDiff) {
	w.b = append(w.b, '{')
	w.properties("adds", d.Adds)
	list(w, "deletes", d.Deletes)
	w.properties("updates", d.Updates)
	w.b = append(w.b, '}')
}

func (w *fields) object(m property.Map) {
	if w.err != nil {
		return
	}
	w.b, w.err = property.AppendState(w.ctx, w.b, m, w.options)
}

// structuredAliases writes aliases with Pulumi's names for their members.
func (w *fields) structuredAliases(as []urn.Alias) {
	if len(as) == 0 {
		return
	}
	w.name("structuredAliases")
	for i, a := range as {
		w.b = append(w.b, separator(i))
		opening := byte('{')
		for _, f := range [...][2]string{
			{"URN", string(a.URN)}, {"Name", a.Name}, {"Type", string(a.Type)}, {"Project", a.Project}, {"Stack", a.Stack}, {"Parent", string(a.Parent)},
		} {
			w.b = append(appendString(append(w.b, opening), f[0]), ':')
			w.b, opening = appendString(w.b, f[1]), ','
		}
		w.b = append(w.b, fmt.Sprintf(`,"NoParent":%t}`, a.NoParent)...)
	}
	w.b = append(w.b, ']')
}
