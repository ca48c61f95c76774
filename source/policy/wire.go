package policy

import (
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// encode encodes properties for a pack. It keeps unknowns and secrets. References to resources become plain IDs, because
// the SDKs of policy packs do not support references.
func encode(m property.Map) (*structpb.Struct, error) {
	return property.PackStruct(m, property.WireOptions{Unknowns: property.KeepUnknowns, KeepSecrets: true})
}

func analyzeRequest(r stages.Analysis) (*pulumirpc.AnalyzeRequest, error) {
	x, err := analyzerResource(r)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AnalyzeRequest{
		Urn: x.GetUrn(), Type: x.GetType(), Name: x.GetName(), Properties: x.GetProperties(), Options: x.GetOptions(), Provider: x.GetProvider(),
	}, nil
}

func analyzeStackRequest(rs []stages.StackResource) (*pulumirpc.AnalyzeStackRequest, error) {
	req := &pulumirpc.AnalyzeStackRequest{}
	for _, r := range rs {
		x, err := analyzerResource(r.Analysis)
		if err != nil {
			return nil, err
		}
		x.Parent, x.Dependencies = string(r.Options.Parent), urn.Strings(r.Dependencies)
		x.PropertyDependencies = map[string]*pulumirpc.AnalyzerPropertyDependencies{}
		for name, on := range r.PropertyDependencies {
			if len(on) > 0 {
				x.PropertyDependencies[name] = &pulumirpc.AnalyzerPropertyDependencies{Urns: urn.Strings(on)}
			}
		}
		req.Resources = append(req.Resources, x)
	}
	return req, nil
}

func analyzerResource(r stages.Analysis) (*pulumirpc.AnalyzerResource, error) {
	properties, err := encode(r.Properties)
	if err != nil {
		return nil, fmt.Errorf("encoding %s for policy packs: %w", r.URN, err)
	}
	o := r.Options
	out := &pulumirpc.AnalyzerResource{
		Urn: string(r.URN), Type: string(r.Type), Name: r.Name, Properties: properties,
		Options: &pulumirpc.AnalyzerResourceOptions{
			Protect: o.Protect, IgnoreChanges: o.IgnoreChanges, DeleteBeforeReplaceDefined: o.DeleteBeforeReplace != nil,
			DeleteBeforeReplace: o.DeleteBeforeReplace != nil && *o.DeleteBeforeReplace, AdditionalSecretOutputs: o.AdditionalSecretOutputs,
			Aliases: urn.Strings(o.Aliases), Parent: string(o.Parent),
			CustomTimeouts: &pulumirpc.AnalyzerResourceOptions_CustomTimeouts{
				Create: o.CustomTimeouts.Create, Update: o.CustomTimeouts.Update, Delete: o.CustomTimeouts.Delete, Read: o.CustomTimeouts.Read,
			},
		},
	}
	if p := r.Provider; p != nil {
		inputs, err := encode(p.Properties)
		if err != nil {
			return nil, fmt.Errorf("encoding %s for policy packs: %w", p.URN, err)
		}
		out.Provider = &pulumirpc.AnalyzerProviderResource{Urn: string(p.URN), Type: string(p.Type), Name: p.Name, Properties: inputs}
	}
	return out, nil
}

func findings(answer *pulumirpc.AnalyzeResponse) stages.Findings {
	out := stages.Findings{NotApplicable: notApplicable(answer.GetNotApplicable())}
	for _, d := range answer.GetDiagnostics() {
		out.Violations = append(out.Violations, stages.Violation{
			Policy: d.GetPolicyName(), Message: terminal.Plain(d.GetMessage()), Level: levelOf(d.GetEnforcementLevel()),
			Severity: severityOf(d.GetSeverity()), URN: urn.URN(d.GetUrn()),
		})
	}
	return out
}

func notApplicable(list []*pulumirpc.PolicyNotApplicable) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.GetPolicyName())
	}
	return out
}

// levelOf reads a level. An unknown level is read as the strictest, so that an older engine does not weaken a newer pack.
func levelOf(l pulumirpc.EnforcementLevel) stages.EnforcementLevel {
	if _, known := pulumirpc.EnforcementLevel_name[int32(l)]; !known {
		return stages.Mandatory
	}
	return stages.EnforcementLevel(l)
}

func severityOf(s pulumirpc.PolicySeverity) string {
	switch s {
	case pulumirpc.PolicySeverity_POLICY_SEVERITY_LOW:
		return "low"
	case pulumirpc.PolicySeverity_POLICY_SEVERITY_MEDIUM:
		return "medium"
	case pulumirpc.PolicySeverity_POLICY_SEVERITY_HIGH:
		return "high"
	case pulumirpc.PolicySeverity_POLICY_SEVERITY_CRITICAL:
		return "critical"
	}
	return ""
}
