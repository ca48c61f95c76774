package policycheck

import (
	"context"
	"fmt"
	"slices"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// batch is the number of resources that are checked at the same time.
const batch = 64

// Check lets the packs judge the resources of a state: each one by its recorded inputs, and all together by their outputs. Old copies that
// wait for their deletion are left out. report is called for each violation, and for each remediation, which changes nothing; violations by
// no resource are those of the stack root. mask has the secrets to mask in messages. Check returns the number of mandatory violations. Its
// error is that of a pack that could not judge.
func Check(
	ctx context.Context, s *state.Snapshot, root urn.URN, packs []source.PolicyAnalyzer, mask *redact.Set, report func(stages.Event),
) (mandatory int, err error) {
	c := checker{packs: packs, mask: mask, providers: map[urn.ProviderRef]*state.Resource{}, known: map[urn.URN]bool{}, root: root}
	for _, r := range s.Resources {
		if r.Delete {
			continue
		}
		c.resources, c.known[r.URN] = append(c.resources, r), true
		if r.Type.IsProvider() {
			c.providers[urn.ProviderRef{URN: r.URN, ID: r.ID}] = r
		}
	}
	tell := func(found []stages.Event) {
		for _, e := range found {
			if v, is := e.(stages.PolicyViolation); is && v.Level == stages.Mandatory {
				mandatory++
			}
			report(e)
		}
	}
	for part := range slices.Chunk(c.resources, batch) {
		for _, one := range iter.Map(part, func(r **state.Resource) findings { return c.resource(ctx, *r) }) {
			if one.err != nil {
				return mandatory, mask.Error(one.err) // the errors of the others have mostly the same cause
			}
			tell(one.events)
		}
	}
	for _, one := range iter.Map(packs, func(pack *source.PolicyAnalyzer) findings { return c.stack(ctx, *pack) }) {
		if one.err != nil {
			return mandatory, mask.Error(one.err)
		}
		tell(one.events)
	}
	return mandatory, nil
}

// findings are what the packs say of a resource, or a pack of the stack.
type findings struct {
	events []stages.Event
	err    error // of a pack that could not judge
}

// checker has what all checks of a state share. It does not change while they run.
type checker struct {
	packs     []source.PolicyAnalyzer
	mask      *redact.Set
	resources []*state.Resource
	known     map[urn.URN]bool // those of resources
	providers map[urn.ProviderRef]*state.Resource
	root      urn.URN
}

// analysis describes a resource with its inputs or its outputs.
func (c *checker) analysis(r *state.Resource, properties property.Map) stages.Analysis {
	a := stages.Analysis{URN: r.URN, Type: r.Type, Name: r.URN.Name(), Properties: properties, Options: stages.AnalysisOptions{
		Protect: r.Protect, IgnoreChanges: r.IgnoreChanges, AdditionalSecretOutputs: r.AdditionalSecretOutputs, Aliases: r.Aliases,
		CustomTimeouts: r.CustomTimeouts.Value(), Parent: r.Parent,
	}}
	if ref, err := urn.ParseProviderRef(r.Provider); err == nil {
		if p := c.providers[ref]; p != nil {
			a.Provider = &stages.ProviderState{URN: p.URN, Type: p.Type, Name: p.URN.Name(), Properties: p.Inputs.WithoutInternal()}
		}
	}
	return a
}

// resource returns the events about one resource: the remediations of all packs, then their violations.
func (c *checker) resource(ctx context.Context, r *state.Resource) (out findings) {
	for _, pack := range c.packs {
		info := pack.Info()
		answer, err := pack.Remediate(ctx, c.analysis(r, r.Inputs))
		if err != nil {
			return findings{err: fmt.Errorf("%s cannot remediate %s: %w", info.Name, r.URN, err)}
		}
		for _, rem := range answer.Remediations {
			switch {
			case rem.Diagnostic != "":
				out.events = append(out.events, c.violation(info, r.URN, stages.Violation{Policy: rem.Policy, Message: rem.Diagnostic, Level: stages.Advisory}))
			case rem.Properties != nil:
				out.events = append(out.events, stages.PolicyRemediation{Policy: info.PolicyName(rem.Policy), URN: r.URN, Before: r.Inputs, After: *rem.Properties})
			}
		}
	}
	analysis := c.analysis(r, r.Inputs.WithoutInternal())
	for _, pack := range c.packs {
		info := pack.Info()
		answer, err := pack.Analyze(ctx, analysis)
		if err != nil {
			return findings{err: fmt.Errorf("%s cannot judge %s: %w", info.Name, r.URN, err)}
		}
		for _, v := range answer.Enforced() {
			out.events = append(out.events, c.violation(info, r.URN, v))
		}
	}
	return out
}

// stack returns what a pack finds in all resources together.
func (c *checker) stack(ctx context.Context, pack source.PolicyAnalyzer) (out findings) {
	all := make([]stages.StackResource, len(c.resources))
	for i, r := range c.resources {
		all[i] = stages.StackResource{
			Analysis:     c.analysis(r, r.Outputs.WithoutInternal()),
			Dependencies: r.Dependencies, PropertyDependencies: r.PropertyDependencies,
		}
	}
	info := pack.Info()
	answer, err := pack.AnalyzeStack(ctx, all)
	if err != nil {
		return findings{err: fmt.Errorf("%s cannot judge the stack: %w", info.Name, err)}
	}
	for _, v := range answer.Enforced() {
		at := c.root
		if c.known[v.URN] {
			at = v.URN
		}
		out.events = append(out.events, c.violation(info, at, v))
	}
	return out
}

// violation returns the event for a violation, without secrets in its message.
func (c *checker) violation(info stages.AnalyzerInfo, at urn.URN, v stages.Violation) stages.PolicyViolation {
	v.Message = c.mask.Mask(v.Message)
	return info.ViolationAt(at, v)
}
