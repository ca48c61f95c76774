package display

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// diagnosticsSection lists the messages by resource, in the order of the first message of each resource. It leaves out the messages whose
// numbers are in told and, if the operation has failed for another reason, the echoes of SDKs.
func (p stepPrinter) diagnosticsSection(m *model, told map[int]bool, failed bool) string {
	var b strings.Builder
	details := map[string]bool{}
	for _, u := range m.speakers {
		lines := m.diagnostics[u].notes()
		list := m.diagnostics[u].list
		if failed && !p.ShowFullOutput {
			list, lines = withoutEchoes(list, lines)
		}
		for _, d := range list {
			if (d.Severity != stages.Debug || p.Debug) && !told[d.number] {
				for _, text := range once(details, d.Severity, p.message(d)) {
					if d.Severity == stages.Error || d.Severity == stages.Warning { // other lines are as the program wrote them
						text = strings.TrimPrefix(p.fitted("    "+text), "    ")
					}
					lines = append(lines, text)
				}
			}
		}
		if len(lines) == 0 {
			continue
		}
		b.WriteString("  " + p.style.bold(p.speaker(u)) + ":\n")
		for _, text := range lines {
			b.WriteString("    " + text + "\n")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return p.style.bold("Diagnostics:") + "\n" + strings.TrimSuffix(b.String(), "\n")
}

// once leaves out the details of an error, all lines but the first, if another error had the same details: a plugin that exits makes many
// operations fail for one reason.
func once(told map[string]bool, severity stages.Severity, lines []string) []string {
	if severity != stages.Error || len(lines) < 2 {
		return lines
	}
	details := strings.Join(lines[1:], "\n")
	if told[details] {
		return []string{lines[0] + " (as above)"}
	}
	told[details] = true
	return lines
}

func (p stepPrinter) speaker(u urn.URN) string {
	if u == "" {
		return "stack"
	}
	if p.ShowURNs {
		return cleanLine(string(u))
	}
	return shortType(u.Type()) + " (" + cleanLine(u.Name()) + ")"
}

func (p stepPrinter) message(d message) []string {
	text := d.Message
	if len(text) < d.came {
		text = beginning(text, d.came, d.size)
	}
	text = strings.TrimRight(clean(text), "\n")
	switch d.Severity {
	case stages.Error:
		text = p.style.paint(red, "error: ") + text
	case stages.Warning:
		text = p.style.paint(yellow, "warning: ") + text
	case stages.Debug:
		text = p.style.paint(grey, "debug: ") + text
	}
	return strings.Split(text, "\n")
}

// beginning returns the beginning of a text with a line about the size of the whole text in bytes, and the part of it that has arrived.
func beginning(text string, came, size int) string {
	shows := "them"
	if came < size {
		shows = byteSize(came) + " of them"
	}
	return strings.ToValidUTF8(text, "") + fmt.Sprintf("\n... (%s in all; --show-full-output shows %s)", byteSize(size), shows)
}

// outputs selects the outputs of the stack to show, and their form.
type outputs int

const (
	allOutputs     outputs = iota // with marks at those that changed
	changedOutputs                // only those that change
	firstOutputs                  // all, without marks: the stack is new
)

// outputsOf selects the outputs to show. A preview is about changes, and an update about its results. In a diff, everything new has a mark.
func (p stepPrinter) outputsOf(m *model) outputs {
	switch {
	case m.newStack && !p.Diff:
		return firstOutputs
	case p.IsPreview && !p.ShowSames:
		return changedOutputs
	}
	return allOutputs
}

// outputsSection shows the stack's outputs. For a failed run it shows only those that are certain.
func (p stepPrinter) outputsSection(m *model) string {
	if p.SuppressOutputs || m.summary == nil {
		return ""
	}
	printer := &diffPrinter{showSecrets: p.ShowSecrets, full: p.ShowFullOutput}
	printer.stackOutputs(m.summary.OldOutputs, m.summary.Outputs, p.outputsOf(m))
	if len(printer.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.style.bold("Outputs:") + "\n")
	b.WriteString(painted(p.style, "  ", printer.lines))
	return b.String()
}

// summarySection shows the counts (protocol.md 10.6). It leaves them out after mandatory violations, because they would look like success.
//
// That of a preview orders changes by danger, and has details of the dangerous ones.
func (p stepPrinter) summarySection(m *model, l *why.Log) string {
	if m.summary == nil {
		return ""
	}
	if m.policies.mandatory() {
		return strings.TrimPrefix(p.ending(m.summary), "\n")
	}
	var b strings.Builder
	b.WriteString(p.style.bold("Resources:") + "\n")
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
		b.WriteString("    " + p.style.paint(w.colour, fmt.Sprintf("%s%d %s", w.mark, leftOver, word)) + " (replaced by an earlier operation)\n")
	}
	total, kinds := 0, 0
	for _, op := range summaryOrder {
		n := m.summary.Changes[op]
		if n == 0 || m.summary.IsPreview && m.summary.Result == stages.Failed {
			continue // after a failed preview, the remaining changes are unknown
		}
		w := wordsFor(op)
		word := w.changed
		if m.summary.IsPreview {
			word = w.planned
		}
		if remain := min(m.remaining, n); op == stages.OpReplace && !m.summary.IsPreview && remain > 0 {
			b.WriteString("    " + p.remainingLine(remain) + "\n")
			if n == remain {
				total, kinds = total+n, kinds+1
				continue
			}
			total, kinds, n = total+remain, kinds+1, n-remain
		}
		b.WriteString("    " + p.style.paint(w.colour, fmt.Sprintf("%s%d %s%s", w.mark, n, word, possiblyOf(m.summary.Possible[op], n))) + p.countText(&d, op) + "\n")
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
		b.WriteString("    " + p.style.paint(red, Errored(n, p.aborts)) + "\n")
	}
	if total+leftOver == 0 && m.summary.Changes[stages.OpSame] == 0 && m.errored() == 0 {
		if m.summary.IsPreview && m.summary.Result == stages.Failed {
			return strings.TrimPrefix(p.ending(m.summary), "\n")
		}
		b.WriteString("    no changes\n")
	}
	b.WriteString(p.ending(m.summary))
	return b.String()
}

// remainingLine counts replaced resources whose old objects are still there, because the operation did not reach the end phase.
func (p stepPrinter) remainingLine(n int) string {
	w := wordsFor(stages.OpCreateReplacement)
	return p.style.paint(w.colour, w.mark+Remaining(n))
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
		parts = append(parts, plural(total, "change", "changes"))
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

func (p stepPrinter) ending(s *stages.Summary) string {
	text := ""
	if len(s.Lost) > 0 {
		text += "\n" + p.style.paint(yellow, "The outcome of operations on these resources is unknown: check what exists before the next update.") + "\n"
		for _, u := range s.Lost {
			text += "    " + string(u) + "\n"
		}
	}
	if s.Result == stages.Canceled {
		cancelled := "cancelled"
		if p.Command == "pulumi" {
			cancelled = "canceled" // client programs look for it
		}
		text += "\n" + p.style.paint(yellow, fmt.Sprintf("error: %s %s before it was complete", cmp.Or(p.Noun, "operation"), cancelled)) + "\n"
	}
	waited := limitWaits(p.style, s.LimitWaits)
	if s.IsPreview {
		return text + waited
	}
	seconds := time.Duration(math.Ceil(s.Duration.Seconds())) * time.Second
	return text + "\n" + p.style.bold("Duration: ") + seconds.String() + "\n" + strings.TrimPrefix(waited, "\n")
}

// limitWaits describes how long calls have waited for limits.
func limitWaits(st style, waits []providers.LimitWait) string {
	text := ""
	for _, w := range waits {
		text += fmt.Sprintf("%s%s for the limit %s (%s)\n", st.bold("Waited: "), w.Time.Round(100*time.Millisecond), cleanLine(w.Limit),
			plural(w.Calls, "call", "calls"))
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}
