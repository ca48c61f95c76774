package display

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// The keys and values that mark special values in JSON (protocol.md 2.1, state.md section 2).
const (
	secretMark    = "1b47061264138c4ac30d75fd1eb44270"
	assetMark     = "c44067f5952c0a294b673a41bacd8c17"
	archiveMark   = "0def7320c3a5731c473e5ecbe6d01bc7"
	referenceMark = "5cf8f73096256a8f31e491e813e4eb8e"
	elidedText    = "<contents elided>"
)

// unknownTexts are the texts that represent unknown values (protocol.md 2.2).
var unknownTexts = map[property.UnknownKind]string{
	property.UnknownString:  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
	property.UnknownBool:    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
	property.UnknownNumber:  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
	property.UnknownArray:   "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
	property.UnknownAsset:   "030794c1-ac77-496b-92df-f27374a8bd58",
	property.UnknownArchive: "e48ece36-62e2-4504-bad9-02848725956a",
	property.UnknownObject:  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}

// jsonValue returns a value in the form of events (protocol.md 9.2): a secret is an object that only marks a secret,
// and the texts of assets are left out. With showSecrets, the object of a secret has its plain text.
func jsonValue(v property.Value, showSecrets bool) any {
	inner, shown := visible(v, showSecrets)
	if !shown {
		return map[string]any{property.SignatureKey: secretMark, "ciphertext": maskedText}
	}
	if _, secret := v.Unwrap(); secret {
		text, err := json.Marshal(jsonPlain(inner, showSecrets))
		if err != nil {
			return map[string]any{property.SignatureKey: secretMark, "ciphertext": maskedText}
		}
		return map[string]any{property.SignatureKey: secretMark, "plaintext": string(text)}
	}
	return jsonPlain(inner, showSecrets)
}

func jsonPlain(v property.Value, showSecrets bool) any {
	switch {
	case v.IsUnknown():
		return unknownTexts[v.AsUnknown().Kind]
	case v.IsBool():
		return v.AsBool()
	case v.IsNumber():
		if f := v.AsNumber(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return nil // JSON has no such number
	case v.IsString():
		return v.AsString()
	case v.IsArray():
		out := make([]any, 0, v.AsArray().Len())
		for _, e := range v.AsArray().All() {
			out = append(out, jsonValue(e, showSecrets))
		}
		return out
	case v.IsMap():
		return jsonMap(v.AsMap(), showSecrets)
	case v.IsAsset():
		return jsonAsset(v.AsAsset(), elidedText)
	case v.IsArchive():
		return jsonArchive(v.AsArchive(), jsonMap(v.AsArchive().Members, showSecrets))
	case v.IsReference():
		return jsonReference(v.AsReference(), showSecrets)
	}
	return nil
}

func jsonMap(m property.Map, showSecrets bool) map[string]any {
	out := make(map[string]any, m.Len())
	for k, v := range m.All() {
		out[k] = jsonValue(v, showSecrets)
	}
	return out
}

// jsonAsset returns an asset with a text in place of its own.
func jsonAsset(a property.Asset, text string) any {
	out := map[string]any{property.SignatureKey: assetMark, "hash": a.Hash}
	switch a.Kind {
	case property.KindText:
		out["text"] = text
	case property.KindPath:
		out["path"] = a.Path
	case property.KindURI:
		out["uri"] = a.URI
	}
	return out
}

// jsonArchive returns an archive with its members in their form.
func jsonArchive(a property.Archive, members any) any {
	out := map[string]any{property.SignatureKey: archiveMark, "hash": a.Hash}
	switch a.Kind {
	case property.KindMembers:
		out["assets"] = members
	case property.KindPath:
		out["path"] = a.Path
	case property.KindURI:
		out["uri"] = a.URI
	}
	return out
}

func jsonReference(r property.Reference, showSecrets bool) any {
	out := map[string]any{property.SignatureKey: referenceMark, "urn": string(r.URN), "packageVersion": r.PackageVersion}
	if !r.ID.IsNull() {
		out["id"] = jsonValue(r.ID, showSecrets)
	}
	return out
}

// eventState is a resource in the form of step events.
type eventState struct {
	Type           string         `json:"type"`
	URN            string         `json:"urn"`
	Custom         bool           `json:"custom,omitempty"`
	Delete         bool           `json:"delete,omitempty"`
	ID             string         `json:"id"`
	Parent         string         `json:"parent"`
	Protect        bool           `json:"protect,omitempty"`
	Taint          bool           `json:"taint,omitempty"`
	External       bool           `json:"external,omitempty"`
	RetainOnDelete bool           `json:"retainOnDelete,omitempty"`
	Inputs         map[string]any `json:"inputs"`
	Outputs        map[string]any `json:"outputs"`
	Provider       string         `json:"provider"`
	InitErrors     []string       `json:"initErrors,omitempty"`
	HideDiffs      []string       `json:"hideDiffs,omitempty"`
}

func newEventState(r *state.Resource) *eventState {
	if r == nil {
		return nil
	}
	return &eventState{
		Type: string(r.Type), URN: string(r.URN), Custom: r.Custom, Delete: r.Delete, ID: r.ID, Parent: string(r.Parent),
		Protect: r.Protect, Taint: r.Taint, External: r.External, RetainOnDelete: r.RetainOnDelete,
		Inputs: jsonMap(r.Inputs, false), Outputs: jsonMap(r.Outputs, false),
		Provider: r.Provider, InitErrors: r.InitErrors, HideDiffs: r.HideDiff,
	}
}

// eventMetadata describes a step in an event.
type eventMetadata struct {
	Op           string               `json:"op"`
	URN          string               `json:"urn"`
	Type         string               `json:"type"`
	Old          *eventState          `json:"old" jsonschema:"nullable"`
	New          *eventState          `json:"new" jsonschema:"nullable"`
	Keys         []string             `json:"keys,omitempty"`
	Diffs        []string             `json:"diffs,omitempty"`
	DetailedDiff map[string]eventDiff `json:"detailedDiff" jsonschema:"nullable"` // null: the provider returned none
	Logical      bool                 `json:"logical,omitempty"`
	Provider     string               `json:"provider"`
	eventExtensions
}

func (m *eventMetadata) time(written time.Time) time.Time {
	if m.At.IsZero() {
		return written
	}
	return m.At
}

func (m *eventMetadata) step(ctx context.Context) (stages.StepInfo, error) {
	s := stages.StepInfo{
		Op: stages.Op(m.Op), URN: urn.URN(m.URN), Type: urn.Type(m.Type), Keys: m.Keys, Diffs: m.Diffs, Provider: m.Provider,
		Internal: urn.URN(m.URN).IsDefaultProvider(), CurrentURN: m.CurrentURN,
	}
	if !s.URN.IsValid() {
		return s, fmt.Errorf("%q is not a URN", m.URN)
	}
	if m.Why != nil {
		s.Reason = stages.Reason{Kind: m.Why.Kind, Properties: m.Why.Properties, Cause: m.Why.Cause, By: m.Why.By}
	}
	s.Reason.Possible = m.Possible
	if m.DetailedDiff != nil {
		s.DetailedDiff = make(map[string]providers.PropertyDiff, len(m.DetailedDiff))
		for path, d := range m.DetailedDiff {
			s.DetailedDiff[path] = providers.PropertyDiff{Kind: diffKind(d.Kind), InputDiff: d.InputDiff}
		}
	}
	var err error
	if s.Old, err = m.state(ctx, m.Old); err != nil {
		return s, err
	}
	s.New, err = m.state(ctx, m.New)
	return s, err
}

// diffKind is the inverse of [providers.DiffKind.String].
func diffKind(text string) providers.DiffKind {
	for k := providers.DiffAdd; k <= providers.DiffUpdateReplace; k++ {
		if k.String() == text {
			return k
		}
	}
	return providers.DiffUpdate
}

func (m *eventMetadata) state(ctx context.Context, s *eventState) (*state.Resource, error) {
	if s == nil {
		return nil, nil
	}
	r := &state.Resource{
		Type: urn.Type(s.Type), URN: urn.URN(s.URN), Custom: s.Custom, Delete: s.Delete, ID: s.ID, Parent: urn.URN(s.Parent), Protect: s.Protect,
		Taint: s.Taint, External: s.External, RetainOnDelete: s.RetainOnDelete, Provider: s.Provider, InitErrors: s.InitErrors,
		HideDiff: s.HideDiffs, Dependencies: m.Dependencies, PropertyDependencies: m.PropertyDependencies, SourcePosition: m.SourcePosition,
	}
	var err error
	if r.Inputs, err = loggedMap(ctx, s.Inputs); err != nil {
		return nil, fmt.Errorf("the inputs of %s: %w", s.URN, err)
	}
	if r.Outputs, err = loggedMap(ctx, s.Outputs); err != nil {
		return nil, fmt.Errorf("the outputs of %s: %w", s.URN, err)
	}
	return r, nil
}

// loggedMap is the inverse of [jsonMap], except for secrets.
func loggedMap(ctx context.Context, m map[string]any) (property.Map, error) {
	if len(m) == 0 {
		return property.Map{}, nil
	}
	v, err := property.FromJSON(ctx, m, property.StateDecodeOptions{Decrypter: loggedSecrets{}})
	return v.AsMap(), err
}

// eventExtensions are sluice's extensions of the description of a step.
type eventExtensions struct {
	Reason string       `json:"reason,omitempty"` // why the step is taken, in words
	Why    *eventReason `json:"why,omitempty"`    // the same as data
	// Possible is the reason why the change is only possible.
	Possible *stages.Possibility `json:"possible,omitempty"`
	At       time.Time           `json:"at,omitzero"` // when the step began or ended
	// Dependencies are the direct dependencies of the resource, and PropertyDependencies those of each input.
	Dependencies         []urn.URN            `json:"dependencies,omitempty"`
	PropertyDependencies map[string][]urn.URN `json:"propertyDependencies,omitempty"`
	SourcePosition       string               `json:"sourcePosition,omitempty"` // where the program declares the resource
	// CurrentURN is the URN of the resource whose old object the step removes, if the program has renamed it.
	CurrentURN urn.URN `json:"currentUrn,omitempty"`
}

// eventReason is a reason as data.
type eventReason struct {
	Kind       stages.ReasonKind `json:"kind"`
	Properties []string          `json:"properties,omitempty"` // whose difference is the reason
	Cause      urn.URN           `json:"cause,omitempty"`      // the other resource that is the reason
	By         stages.Decider    `json:"decidedBy,omitempty"`
}

func newEventExtensions(s stages.StepInfo, at time.Time) eventExtensions {
	out := eventExtensions{Reason: s.Reason.String(), Possible: s.Reason.Possible, At: at, CurrentURN: s.CurrentURN}
	if r := s.Reason; r.Kind != stages.ReasonNone {
		out.Why = &eventReason{r.Kind, r.Properties, r.Cause, r.By}
	}
	if r := cmp.Or(s.New, s.Old); r != nil {
		out.Dependencies, out.SourcePosition = r.Dependencies, r.SourcePosition
		for name, on := range r.PropertyDependencies {
			if len(on) == 0 {
				continue
			}
			if out.PropertyDependencies == nil {
				out.PropertyDependencies = map[string][]urn.URN{}
			}
			out.PropertyDependencies[name] = on
		}
	}
	return out
}

type eventDiff struct {
	Kind      string `json:"diffKind"`
	InputDiff bool   `json:"inputDiff"`
}

func newEventMetadata(s stages.StepInfo, at time.Time) eventMetadata {
	m := eventMetadata{
		Op: string(s.Op), URN: string(s.URN), Type: string(s.Type), Old: newEventState(s.Old), New: newEventState(s.New),
		Keys: s.Keys, Diffs: s.Diffs, Logical: s.Op.IsLogical(), Provider: s.Provider, eventExtensions: newEventExtensions(s, at),
	}
	if m.Type == "" {
		m.Type = string(s.URN.Type())
	}
	if s.DetailedDiff != nil {
		m.DetailedDiff = make(map[string]eventDiff, len(s.DetailedDiff))
		for path, d := range s.DetailedDiff {
			m.DetailedDiff[path] = eventDiff{d.Kind.String(), d.InputDiff}
		}
	}
	return m
}

// sortedOps returns the keys of changes in a fixed order.
func sortedOps(changes map[stages.Op]int) []stages.Op { return slices.Sorted(maps.Keys(changes)) }

// PlainJSON returns a value for people and scripts. A secret is the text "[secret]" or, if secrets are shown, its
// content. Nothing else marks values as secret. An unknown, which occurs only in a state of another tool, is a text. Assets and archives have their
// marks, and the texts of assets are not left out.
func PlainJSON(v property.Value, showSecrets bool) any {
	inner, shown := visible(v, showSecrets)
	switch {
	case !shown:
		return maskedText
	case inner.IsUnknown():
		return "[unknown]"
	case inner.IsArray():
		out := make([]any, 0, inner.AsArray().Len())
		for _, e := range inner.AsArray().All() {
			out = append(out, PlainJSON(e, showSecrets))
		}
		return out
	case inner.IsMap():
		out := make(map[string]any, inner.AsMap().Len())
		for k, e := range inner.AsMap().All() {
			out[k] = PlainJSON(e, showSecrets)
		}
		return out
	case inner.IsAsset():
		return jsonAsset(inner.AsAsset(), inner.AsAsset().Text)
	case inner.IsArchive():
		return jsonArchive(inner.AsArchive(), PlainJSON(property.Of(inner.AsArchive().Members), showSecrets))
	}
	return jsonPlain(inner, showSecrets)
}
