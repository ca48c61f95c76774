package display

import (
	"io"

	"github.com/sluice-iac/sluice/stages"
)

// PolicyResults collects the events of policy packs outside of an operation. It is not safe for concurrent use.
type PolicyResults struct{ model policyModel }

// Observe processes an event.
func (r *PolicyResults) Observe(e stages.Event) {
	switch e := e.(type) {
	case stages.PolicyViolation:
		r.model.violations = append(r.model.violations, e)
	case stages.PolicyRemediation:
		r.model.remediations = append(r.model.remediations, e)
	}
}

// Write writes the packs with their violations and remediations to o.Out, as operations show them.
func (r *PolicyResults) Write(o Options, packs []stages.AnalyzerInfo) error {
	m := &model{policies: r.model, summary: &stages.Summary{Policies: packs}}
	_, err := io.WriteString(o.Out, policyPrinter{stepPrinter{Options: o, style: style{o.Color}}}.section(m))
	return err
}
