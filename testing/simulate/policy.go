package simulate

import (
	"context"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

const remedied = "remedied"

// analyzers returns the policies of the operation. Each call takes time.
func (a *attempt) analyzers(s Schedule) []stages.Analyzer {
	judges := &judges{attempt: a, limit: a.op.AnalyzeLimit, asked: map[urn.URN]int{}, violated: map[urn.URN]bool{}}
	a.judges = judges
	var all []stages.Analyzer
	for i, p := range a.op.Policies {
		all = append(all, analyzer{Policy: p, name: fmt.Sprintf("pack %d", i), judges: judges, pause: a.pauses(s)})
	}
	return all
}

// judges is the common state of the policies of an attempt.
type judges struct {
	attempt *attempt
	limit   int

	mu       sync.Mutex // guards the rest
	asked    map[urn.URN]int
	violated map[urn.URN]bool // resources that must not be created or updated
	stack    bool             // the stack violates a mandatory policy
}

// ask counts the policies that check a resource at once; "" stands for the stack.
func (j *judges) ask(u urn.URN) (end func()) {
	j.mu.Lock()
	j.asked[u]++
	asked := j.asked[u]
	j.mu.Unlock()
	if j.limit > 0 && asked > j.limit {
		j.attempt.mu.Lock()
		j.attempt.fault("%d policies judge %q at once", asked, u)
		j.attempt.mu.Unlock()
	}
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.asked[u]--
	}
}

// forbids reports whether a resource violates a mandatory policy.
func (j *judges) forbids(u urn.URN) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.violated[u]
}

func (j *judges) forbid(u urn.URN) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if u == "" {
		j.stack = true
	} else {
		j.violated[u] = true
	}
}

// hasMandatory reports whether anything violates a mandatory policy.
func (j *judges) hasMandatory() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stack || len(j.violated) > 0
}

// analyzer is one running policy.
type analyzer struct {
	Policy
	name   string
	judges *judges
	pause  func()
}

// Info implements [stages.Analyzer].
func (a analyzer) Info() stages.AnalyzerInfo {
	p := stages.PolicyInfo{Name: "p", Level: stages.Mandatory, Type: stages.ResourcePolicy}
	switch a.Do {
	case Advise, AdviseOnStack:
		p.Level = stages.Advisory
	case Remedy:
		p.Level = stages.Remediate
	}
	if a.Do == AdviseOnStack || a.Do == MandateOnStack {
		p.Type = stages.StackPolicy
	}
	return stages.AnalyzerInfo{Name: a.name, Policies: []stages.PolicyInfo{p}}
}

// Remediate implements [stages.Analyzer].
func (a analyzer) Remediate(_ context.Context, r stages.Analysis) (stages.Remedies, error) {
	a.pause()
	if a.Do != Remedy || !a.concerns(r.URN, r.Properties) {
		return stages.Remedies{}, nil
	}
	now := r.Properties.With(a.Property, property.String(remedied))
	return stages.Remedies{Remediations: []stages.Remediation{{Policy: "p", Properties: &now}}}, nil
}

// Analyze implements [stages.Analyzer].
func (a analyzer) Analyze(_ context.Context, r stages.Analysis) (stages.Findings, error) {
	defer a.judges.ask(r.URN)()
	a.pause()
	a.judges.attempt.mustBeRemedied("a policy judges", r.URN, r.Properties)
	level := stages.Advisory
	switch {
	case a.Do != Advise && a.Do != Mandate, !a.concerns(r.URN, r.Properties):
		return stages.Findings{}, nil
	case a.Do == Mandate:
		level = stages.Mandatory
		a.judges.forbid(r.URN)
	}
	return stages.Findings{Violations: []stages.Violation{{Policy: "p", Message: "it has " + a.Property, Level: level}}}, nil
}

// AnalyzeStack implements [stages.Analyzer].
func (a analyzer) AnalyzeStack(_ context.Context, rs []stages.StackResource) (stages.Findings, error) {
	defer a.judges.ask("")()
	a.pause()
	var out stages.Findings
	level := stages.Advisory
	if a.Do == MandateOnStack {
		level = stages.Mandatory
	}
	if a.Do != AdviseOnStack && a.Do != MandateOnStack {
		return out, nil
	}
	for _, r := range rs {
		if a.concerns(r.URN, r.Properties) {
			out.Violations = append(out.Violations, stages.Violation{Policy: "p", Message: "it has " + a.Property, Level: level, URN: r.URN})
			if level == stages.Mandatory {
				a.judges.forbid("")
			}
		}
	}
	return out, nil
}

// Cancel implements [stages.Analyzer].
func (a analyzer) Cancel(context.Context) error { return nil }

// mustBeRemedied reports a fault if inputs are not remedied.
func (a *attempt) mustBeRemedied(what string, u urn.URN, inputs property.Map) {
	for _, p := range a.op.Policies {
		if p.Do != Remedy || !p.concerns(u, inputs) {
			continue
		}
		if v, _ := inputs.At(p.Property).Unwrap(); !v.IsString() || v.AsString() != remedied {
			a.mu.Lock()
			a.fault("%s %s with inputs that a policy remedies: %v", what, u, inputs.At(p.Property))
			a.mu.Unlock()
		}
	}
}
