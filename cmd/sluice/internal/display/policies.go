package display

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// policyModel holds the events about policies, in their order.
type policyModel struct {
	violations   []stages.PolicyViolation
	remediations []stages.PolicyRemediation
}

// mandatory reports whether a violation has made the operation fail.
func (m policyModel) mandatory() bool {
	return slices.ContainsFunc(m.violations, func(v stages.PolicyViolation) bool { return v.Level == stages.Mandatory })
}

// policyPrinter formats the results of policies.
type policyPrinter struct{ steps stepPrinter }

// section lists the policy packs with their violations and remediations (protocol.md 10.6).
func (p policyPrinter) section(m *model) string {
	if m.summary == nil || len(m.summary.Policies) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.steps.style.bold("Policies:") + "\n")
	for _, pack := range byName(m.summary.Policies) {
		p.pack(&b, m.policies, pack)
	}
	return b.String()
}

// namedPack has the policy packs of one name and version. Events do not distinguish them.
type namedPack struct {
	name, version string
	directories   []string
}

// byName returns the packs in their order, those of one name and version as one.
func byName(packs []stages.AnalyzerInfo) []namedPack {
	var out []namedPack
	for _, pack := range packs {
		i := slices.IndexFunc(out, func(x namedPack) bool { return x.name == pack.Name && x.version == pack.Version })
		if i < 0 {
			i = len(out)
			out = append(out, namedPack{name: pack.Name, version: pack.Version})
		}
		if pack.Directory != "" {
			out[i].directories = append(out[i].directories, cleanLine(pack.Directory))
		}
	}
	return out
}

func (p policyPrinter) pack(b *strings.Builder, m policyModel, pack namedPack) {
	ofPack := func(n stages.PolicyName) bool { return n.Pack == pack.name && n.Version == pack.version }
	violations := slices.DeleteFunc(slices.Clone(m.violations), func(v stages.PolicyViolation) bool { return !ofPack(v.Policy) })
	remediations := slices.DeleteFunc(slices.Clone(m.remediations), func(r stages.PolicyRemediation) bool {
		return !ofPack(r.Policy) || property.EqualMaps(r.Before, r.After)
	})
	mark := "✅"
	for _, v := range violations {
		if v.Level == stages.Mandatory {
			mark = "❌"
			break
		}
		mark = "⚠️"
	}
	title := cleanLine(pack.name)
	if pack.version != "" {
		title += "@v" + cleanLine(pack.version)
	}
	if len(pack.directories) > 0 {
		title += " (local: " + strings.Join(pack.directories, "; ") + ")"
	}
	fmt.Fprintf(b, "    %s %s\n", mark, title)
	p.remediated(b, remediations)
	slices.SortStableFunc(violations, compareViolations)
	for _, v := range violations {
		p.violation(b, v)
	}
}

// compareViolations orders violations by importance, independent of their order of arrival.
func compareViolations(a, b stages.PolicyViolation) int {
	return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(severityRank(b.Severity), severityRank(a.Severity)),
		cmp.Compare(a.Policy.Name, b.Policy.Name), cmp.Compare(a.URN, b.URN))
}

func severityRank(s string) int {
	return slices.Index([]string{"", "low", "medium", "high", "critical"}, s)
}

const policyIndent = "        "

func (p policyPrinter) violation(b *strings.Builder, v stages.PolicyViolation) {
	tag := v.Level.String()
	if v.Severity != "" {
		tag += ", severity " + cleanLine(v.Severity)
	}
	colour := yellow
	if v.Level == stages.Mandatory {
		colour = red
	}
	fmt.Fprintf(b, "%s- %s  %s%s\n", policyIndent, p.steps.style.paint(colour, "["+tag+"]"), cleanLine(v.Policy.Name), p.judged(v.URN))
	text := v.Message
	if len(text) > maxMessage && !p.steps.ShowFullOutput {
		text = beginning(text[:maxMessage], len(text), redact.Whole(text))
	}
	for line := range strings.SplitSeq(strings.TrimSpace(clean(text)), "\n") {
		if line != "" {
			b.WriteString(policyIndent + "  " + line + "\n")
		}
	}
}

// judged returns the name of the resource of a policy event.
func (p policyPrinter) judged(u urn.URN) string {
	if u == "" {
		return ""
	}
	if p.steps.ShowURNs {
		return "  (" + cleanLine(string(u)) + ")"
	}
	return fmt.Sprintf("  (%s: %s)", shortType(u.Type()), cleanLine(u.Name()))
}

// remediated lists remediations: a count for each policy, or each one with its changes.
func (p policyPrinter) remediated(b *strings.Builder, list []stages.PolicyRemediation) {
	tag := p.steps.style.paint(green, "[remediate]")
	if p.steps.Diff || p.steps.ShowRemediations {
		slices.SortStableFunc(list, func(x, y stages.PolicyRemediation) int { return cmp.Compare(x.URN, y.URN) })
		for _, r := range list {
			fmt.Fprintf(b, "%s- %s  %s%s\n", policyIndent, tag, cleanLine(r.Policy.Name), p.judged(r.URN))
			printer := newDiffPrinter(p.steps.ShowSecrets, p.steps.ShowFullOutput)
			printer.compareMaps(0, nil, r.Before, r.After, nil)
			b.WriteString(painted(p.steps.style, policyIndent+"  ", printer.out.lines))
		}
		return
	}
	count := map[string]int{}
	for _, r := range list {
		count[r.Policy.Name]++
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(b, "%s- %s  %s  (%s)\n", policyIndent, tag, cleanLine(name), format.Plural(count[name], "resource", "resources"))
	}
}

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
