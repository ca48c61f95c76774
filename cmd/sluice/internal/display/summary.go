package display

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// summaryPrinter formats the counts at the end of an operation, and the dangers of a preview.
type summaryPrinter struct{ steps stepPrinter }

// section shows the counts (protocol.md 10.6). It leaves them out after mandatory violations, because they would look like success. Of a failed preview
// it counts only the errors, because the remaining changes are unknown.
//
// That of a preview orders changes by danger, and has details of the dangerous ones.
func (p summaryPrinter) section(m *model, l *why.Log) string {
	if m.summary == nil {
		return ""
	}
	if m.policies.mandatory() {
		return strings.TrimPrefix(p.ending(m.summary), "\n")
	}
	if m.isPartial() {
		text := ""
		if n := m.errored(); n > 0 {
			text = p.steps.style.bold("Resources:") + "\n    " + p.steps.style.paint(red, Errored(n, p.steps.aborts)) + "\n"
		}
		return strings.TrimPrefix(text+p.ending(m.summary), "\n")
	}
	var b strings.Builder
	b.WriteString(p.steps.style.bold("Resources:") + "\n")
	var d dangers
	if l != nil && m.summary.IsPreview && m.summary.Result == stages.Succeeded {
		d = dangersOf(l)
	}
	leftOver, word := d.leftOver, "old to delete"
	if !m.summary.IsPreview {
		leftOver, word = m.leftOver, "old deleted"
	}
	if leftOver > 0 {
		w := wordsFor(stages.OpDeleteReplaced)
		b.WriteString("    " + p.steps.style.paint(w.colour, fmt.Sprintf("%s%d %s", w.mark, leftOver, word)) + " (replaced by an earlier operation)\n")
	}
	total, kinds := 0, 0
	changes := m.changes()
	for _, op := range summaryOrder {
		n := changes[op]
		if n == 0 {
			continue
		}
		w := wordsFor(op)
		word := w.changed
		if m.summary.IsPreview {
			word = w.planned
		}
		if remain := min(m.remaining, n); op == stages.OpReplace && !m.summary.IsPreview && remain > 0 {
			b.WriteString("    " + p.remainingLine(remain, m.importedRemaining()) + "\n")
			if n == remain {
				total, kinds = total+n, kinds+1
				continue
			}
			total, kinds, n = total+remain, kinds+1, n-remain
		}
		b.WriteString("    " + p.steps.style.paint(w.colour, fmt.Sprintf("%s%d %s%s", w.mark, n, word, possiblyOf(m.summary.Possible[op], n))) + p.countText(&d, op) + "\n")
		if op == stages.OpReplace {
			for _, text := range p.deleteFirstLines(&d) {
				b.WriteString(dangerIndent + text + "\n")
			}
		}
		total, kinds = total+n, kinds+1
	}
	if text := unchangedLine(total, kinds, m); text != "" {
		b.WriteString("    " + text + "\n")
	}
	for _, text := range p.protectedLines(&d) {
		b.WriteString("    " + text + "\n")
	}
	if n := m.errored(); n > 0 {
		b.WriteString("    " + p.steps.style.paint(red, Errored(n, p.steps.aborts)) + "\n")
	}
	if total+leftOver == 0 && m.summary.Changes[stages.OpSame] == 0 && m.errored() == 0 {
		b.WriteString("    no changes\n")
	}
	b.WriteString(p.ending(m.summary))
	return b.String()
}

// remainingLine counts replaced resources whose old objects are still there, because the operation did not reach the end phase.
func (p summaryPrinter) remainingLine(n, imported int) string {
	w := wordsFor(stages.OpCreateReplacement)
	return p.steps.style.paint(w.colour, w.mark+Remaining(n, imported))
}

// RenamedOf describes how many unchanged resources have another name than before, after their number: ", 2 of them renamed".
func RenamedOf(renamed, unchanged int) string {
	switch renamed {
	case 0:
		return ""
	case unchanged:
		return ", renamed"
	}
	return fmt.Sprintf(", %d of them renamed", renamed)
}

func unchangedLine(total, kinds int, m *model) string {
	var parts []string
	unchanged, absent := m.unchanged(), m.absent
	if kinds > 1 {
		parts = append(parts, format.Plural(total, "change", "changes"))
	}
	if unchanged > 0 {
		text := fmt.Sprintf("%d unchanged", unchanged)
		parts = append(parts, text+RenamedOf(len(m.renamed), unchanged))
	}
	if absent > 0 {
		parts = append(parts, Absent(absent))
	}
	return strings.Join(parts, ". ")
}

// countText is the text after the count of one kind of change: ": 8 aws:s3:Bucket, 4 aws:rds:Instance", or the order of
// replacements.
func (p summaryPrinter) countText(d *dangers, op stages.Op) string {
	text := ""
	if op == stages.OpReplace {
		switch first, last := d.replacements(); {
		case first > 0 && last > 0:
			text = fmt.Sprintf(" (%d create first, %d delete first)", first, last)
		case first > 0:
			text = " (create first, then delete)"
		case last > 0:
			text = " (delete first, then create"
			if order, ok := d.onlyOrder(); ok {
				text += orderText(": %s", order)
			}
			text += ")"
		}
	}
	if d.total < minTyped || len(d.types[op]) == 0 {
		return text
	}
	counts := d.types[op]
	types := slices.SortedFunc(maps.Keys(counts), func(a, b urn.Type) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for i, t := range types {
		if i == maxTypesShown && !p.steps.ShowFullOutput {
			parts = append(parts, format.Plural(len(types)-i, "other type", "other types"))
			break
		}
		name := shortType(t)
		if len(types) > 1 {
			name = fmt.Sprintf("%d %s", counts[t], name)
		}
		parts = append(parts, name)
	}
	return text + ": " + strings.Join(parts, ", ")
}

// deleteFirstLines describe the replacements that delete first: the reason, and the dependents that are deleted too.
func (p summaryPrinter) deleteFirstLines(d *dangers) []string {
	if _, ok := d.onlyOrder(); ok {
		return nil
	}
	names := resourceNames{p.steps.ShowURNs}
	alone := map[stages.Order][]urn.URN{}
	taking := slices.Sorted(maps.Keys(d.along))
	for _, u := range d.deleteFirst {
		if len(d.along[u]) == 0 {
			alone[d.order[u]] = append(alone[d.order[u]], u)
		}
	}
	slices.SortStableFunc(taking, func(a, b urn.URN) int {
		return cmp.Or(cmp.Compare(len(d.along[b]), len(d.along[a])), natural.Compare(a.Name(), b.Name()))
	})
	var lines []string
	for i, u := range taking {
		if i == maxDeleteFirst && !p.steps.Diff {
			lines = append(lines, fmt.Sprintf("and %s with others; --diff shows them", format.Plural(len(taking)-i, "replacement", "replacements")))
			break
		}
		along := d.along[u]
		text := names.all([]urn.URN{u}) + " is deleted first" + orderText(" (%s)", d.order[u])
		lines = append(lines, text+", and with it "+names.first(along, maxAlongShown))
	}
	for _, order := range slices.Sorted(maps.Keys(alone)) {
		be := "are"
		if len(alone[order]) == 1 {
			be = "is"
		}
		lines = append(lines, names.counted(alone[order])+" "+be+" deleted first"+orderText(" (%s)", order))
	}
	return lines
}

// protectedLines describe the changes to protected resources.
func (p summaryPrinter) protectedLines(d *dangers) []string {
	names := resourceNames{p.steps.ShowURNs}
	var parts []string
	for _, op := range slices.SortedFunc(maps.Keys(d.protected), func(a, b stages.Op) int {
		return cmp.Or(cmp.Compare(a.Danger(), b.Danger()), cmp.Compare(a, b))
	}) {
		us := d.protected[op]
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(us), cmp.Or(wordsFor(op).planned, "to "+wordsFor(op).plan), names.first(us, maxNamesShown)))
	}
	var lines []string
	if len(parts) > 0 {
		lines = append(lines, p.steps.style.paint(red, "! protected: ")+strings.Join(parts, ", "))
	}
	if n := len(d.unprotected); n > 0 {
		lines = append(lines, p.steps.style.paint(yellow, "! no longer protected: ")+names.counted(d.unprotected))
	}
	return lines
}

func (p summaryPrinter) ending(s *stages.Summary) string {
	text := ""
	if len(s.Lost) > 0 {
		text += "\n" + p.steps.style.paint(yellow, "The outcome of operations on these resources is unknown: check what exists before the next update.") + "\n"
		for _, u := range s.Lost {
			text += "    " + string(u) + "\n"
		}
	}
	if s.Result == stages.Canceled {
		cancelled := "cancelled"
		if p.steps.Command == "pulumi" {
			cancelled = "canceled" // client programs look for it
		}
		text += "\n" + p.steps.style.paint(yellow, fmt.Sprintf("error: %s %s before it was complete", cmp.Or(p.steps.Noun, "operation"), cancelled)) + "\n"
	}
	waited := limitWaits(p.steps.style, s.LimitWaits)
	if s.IsPreview {
		return text + waited
	}
	seconds := time.Duration(math.Ceil(s.Duration.Seconds())) * time.Second
	return text + "\n" + p.steps.style.bold("Duration: ") + seconds.String() + "\n" + strings.TrimPrefix(waited, "\n")
}

// limitWaits describes how long calls have waited for limits.
func limitWaits(st style, waits []providers.LimitWait) string {
	text := ""
	for _, w := range waits {
		text += fmt.Sprintf("%s%s for the limit %s (%s)\n", st.bold("Waited: "), w.Time.Round(100*time.Millisecond), cleanLine(w.Limit),
			format.Plural(w.Calls, "call", "calls"))
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}
