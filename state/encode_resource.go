package state

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// fields appends object members and leaves out those with zero values. err is the first error.
type fields struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call that it belongs to
	options property.StateOptions
	b       []byte
	err     error
}

// newFields begins an object.
func newFields(ctx context.Context, o EncoderOptions) fields {
	so := property.StateOptions{Encrypter: o.Encrypter, Crypter: o.Crypter}
	switch {
	case o.Plaintext:
		so.Secrets = property.SecretsPlaintext
	case o.Masked:
		so.Secrets = property.SecretsMasked
	}
	return fields{ctx: ctx, options: so, b: []byte{'{'}}
}

func (w *fields) name(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, `":`...)
}

// always appends a flag even if it is false.
func (w *fields) always(name string, on bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, on)
}

func (w *fields) flag(name string, on bool) {
	if on {
		w.always(name, on)
	}
}

func (w *fields) text(name, s string) {
	if s != "" {
		w.name(name)
		w.b = appendString(w.b, s)
	}
}

func (w *fields) time(name string, t time.Time) {
	if !t.IsZero() {
		w.name(name)
		w.b = appendTime(w.b, t)
	}
}

func (w *fields) properties(name string, m property.Map) {
	if m.Len() > 0 {
		w.value(name, property.Of(m))
	}
}

func (w *fields) value(name string, v property.Value) {
	if v.IsNull() || w.err != nil {
		return
	}
	w.name(name)
	b, err := property.AppendStateValue(w.ctx, w.b, v, w.options)
	if err != nil {
		w.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	w.b = b
}

func (w *fields) timeouts(t Timeouts) {
	if t == (Timeouts{}) {
		return
	}
	w.name("customTimeouts")
	opening := byte('{')
	for _, f := range [...]struct {
		name    string
		seconds float64
	}{{"create", t.Create}, {"update", t.Update}, {"delete", t.Delete}, {"read", t.Read}} {
		if f.seconds == 0 {
			continue
		}
		w.b = append(w.b, opening, '"')
		w.b = append(w.b, f.name...)
		w.b = append(w.b, `":`...)
		b, err := property.AppendStateValue(w.ctx, w.b, property.Number(f.seconds), w.options)
		if err != nil {
			w.err = fmt.Errorf("customTimeouts: %w", err)
			return
		}
		w.b, opening = b, ','
	}
	w.b = append(w.b, '}')
}

func (w *fields) stackTrace(frames []StackFrame) {
	if len(frames) == 0 {
		return
	}
	w.name("stackTrace")
	for i, f := range frames {
		w.b = append(w.b, separator(i), '{')
		if f.SourcePosition != "" {
			w.b = append(w.b, `"sourcePosition":`...)
			w.b = appendString(w.b, f.SourcePosition)
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}

func list[S ~string](w *fields, name string, ss []S) {
	if len(ss) > 0 {
		w.name(name)
		w.b = appendList(w.b, ss)
	}
}

// lists writes a map of lists; a nil list is null and an empty one [].
func lists[S ~string](w *fields, name string, m map[string][]S) {
	if len(m) == 0 {
		return
	}
	w.name(name)
	opening := byte('{')
	for _, k := range slices.SortedFunc(maps.Keys(m), strings.Compare) {
		w.b = append(w.b, opening)
		w.b = append(appendString(w.b, k), ':')
		w.b, opening = appendList(w.b, m[k]), ','
	}
	w.b = append(w.b, '}')
}

func appendList[S ~string, L ~[]S](b []byte, ss L) []byte {
	if ss == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, s := range ss {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, string(s))
	}
	return append(b, ']')
}

// EncodePlan returns the content of a plan file: one JSON document without an envelope, indented by 4 spaces and ending in
// a newline ([steps.md 12.1]). Secrets are encrypted as in states, unknown values have their own mark. Equal plans have
// equal texts, except for new ciphertexts.
//
// [steps.md 12.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#121-the-file
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
