package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// incoming are the options for answers: all typed values are decoded.
func incoming(preview bool) property.WireOptions {
	return property.WireOptions{Unknowns: keptIf(preview), KeepSecrets: true, KeepReferences: true}
}

// keptIf keeps unknowns in previews. Otherwise an unknown in an answer is a mistake of the provider, and one in the inputs
// of a create or an update would be lost silently.
func keptIf(preview bool) property.UnknownPolicy {
	if preview {
		return property.KeepUnknowns
	}
	return property.RejectUnknowns
}

// keptElseDropped is for values that are only compared or checked: old values, and new ones in Check and Diff. Outside
// previews an unknown comes from a resource that failed or was skipped, and its dependents are checked before they are
// skipped, too (steps.md 9.4).
func keptElseDropped(preview bool) property.UnknownPolicy {
	if preview {
		return property.KeepUnknowns
	}
	return property.DropUnknowns
}

func withOutputs(o property.WireOptions) property.WireOptions {
	o.Outputs = property.KeepOutputs
	return o
}

func elided(o property.WireOptions) property.WireOptions {
	o.ElideAssets = true
	return o
}

// plainWire is the form of configuration for CheckConfig and DiffConfig: secrets unwrapped, references downgraded.
func plainWire(preview bool) property.WireOptions {
	return property.WireOptions{Unknowns: keptIf(preview)}
}

// An answer may have unknowns outside of previews, too: a component has no values of children that are not created
// because the run is a refresh or has targets. These unknowns are dropped.
func componentIncoming(preview bool) property.WireOptions {
	o := withOutputs(incoming(preview))
	if !preview {
		o.Unknowns = property.DropUnknowns
	}
	return o
}

// encoder encodes the parts of one request and keeps the first error.
type encoder struct {
	subject subject
	plugin  string
	err     error
}

// encode encodes properties that are only sent.
func (e *encoder) encode(m property.Map, o property.WireOptions) *structpb.Struct {
	return e.encodeBy(property.PackStruct, m, o)
}

func (e *encoder) encodeBy(
	encode func(property.Map, property.WireOptions) (*structpb.Struct, error), m property.Map, o property.WireOptions,
) *structpb.Struct {
	if e.err != nil {
		return nil
	}
	s, err := encode(m, o)
	if err != nil {
		e.err = fmt.Errorf("%s: encoding for provider %s: %w", e.subject, e.plugin, err)
	}
	return s
}

// status returns the address at which the plugin may publish views during the call, and the token for it.
func (e *encoder) status(s providers.Status) (address, token string) {
	if s == nil || e.err != nil {
		return "", ""
	}
	t, err := s.Token()
	if errors.Is(err, providers.ErrUnserved) {
		return "", "" // the resource is made without views
	}
	if err != nil {
		e.err = fmt.Errorf("%s: letting provider %s publish views: %w", e.subject, e.plugin, err)
	}
	return t.Address, t.Token
}

// monitor returns the address at which the plugin can call the run's monitor, "" if there is none.
func (e *encoder) monitor(d providers.Deployment) string {
	if d.MonitorAddress == nil || e.err != nil {
		return ""
	}
	address, err := d.MonitorAddress()
	if err != nil {
		e.err = fmt.Errorf("%s: letting provider %s call back: %w", e.subject, e.plugin, err)
	}
	return address
}

func failures(list []*pulumirpc.CheckFailure) []providers.CheckFailure {
	var out []providers.CheckFailure
	for _, f := range list {
		reason := cmp.Or(strings.TrimSpace(f.GetReason()), "the provider gives no reason")
		out = append(out, providers.CheckFailure{Property: f.GetProperty(), Reason: redact.Cut(reason, redact.MaxMessage)})
	}
	return out
}

// seconds writes a timeout in the form of Go durations; "" is the default.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(s, 'f', -1, 64) + "s"
}

func aliases(list []urn.Alias) []*pulumirpc.Alias {
	var out []*pulumirpc.Alias
	for _, a := range list {
		if a.URN != "" {
			out = append(out, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(a.URN)}})
			continue
		}
		spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: string(a.Type), Stack: a.Stack, Project: a.Project}
		switch {
		case a.NoParent:
			spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
		case a.Parent != "":
			spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
		}
		out = append(out, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}})
	}
	return out
}

// hooks writes the bindings of hooks. The kinds of hooks are written in several ways ("before_create", "BeforeCreate",
// "beforeCreate") by different SDKs.
func hooks(byKind map[string][]string) *pulumirpc.ConstructRequest_ResourceHooksBinding {
	if len(byKind) == 0 {
		return nil
	}
	out := &pulumirpc.ConstructRequest_ResourceHooksBinding{}
	fields := map[string]*[]string{
		"beforecreate": &out.BeforeCreate, "aftercreate": &out.AfterCreate, "beforeupdate": &out.BeforeUpdate,
		"afterupdate": &out.AfterUpdate, "beforedelete": &out.BeforeDelete, "afterdelete": &out.AfterDelete,
		"onerror": &out.OnError,
	}
	for kind, names := range byKind {
		if field, ok := fields[strings.ToLower(strings.ReplaceAll(kind, "_", ""))]; ok {
			*field = names
		}
	}
	return out
}

// diffResponse reads an answer. Unknown kinds of changes are updates; unknown numbers of "changes" are left for the
// engine to refuse.
func diffResponse(answer *pulumirpc.DiffResponse) providers.DiffResponse {
	out := providers.DiffResponse{
		Changes: providers.DiffChanges(answer.GetChanges()), ReplaceKeys: answer.GetReplaces(),
		StableKeys: answer.GetStables(), ChangedKeys: answer.GetDiffs(), DeleteBeforeReplace: answer.GetDeleteBeforeReplace(),
	}
	if !answer.GetHasDetailedDiff() {
		return out
	}
	out.DetailedDiff = make(map[string]providers.PropertyDiff, len(answer.GetDetailedDiff()))
	for path, d := range answer.GetDetailedDiff() {
		kind := providers.DiffKind(d.GetKind())
		if kind < providers.DiffAdd || kind > providers.DiffUpdateReplace {
			kind = providers.DiffUpdate
		}
		out.DetailedDiff[path] = providers.PropertyDiff{Kind: kind, InputDiff: d.GetInputDiff()}
	}
	return out
}
