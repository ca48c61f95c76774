package display

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// diagnosticsSection lists the messages by resource, in the order of the first message of each resource.
func (p stepPrinter) diagnosticsSection(m *model) string {
	var b strings.Builder
	told := map[string]bool{}
	for _, u := range m.speakers {
		lines := m.diagnostics[u].notes()
		for _, d := range m.diagnostics[u].list {
			if d.Severity != stages.Debug || p.Debug {
				lines = append(lines, once(told, d.Severity, p.message(d))...)
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

// once leaves out the details of an error, which are all lines but the first, if another error had the same details: a
// plugin that dies makes many operations fail for one reason.
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

// beginning returns the beginning of a text with a line that says how long the whole text is, in bytes, and how much of it came.
func beginning(text string, came, size int) string {
	shows := "them"
	if came < size {
		shows = byteSize(came) + " of them"
	}
	return strings.ToValidUTF8(text, "") + fmt.Sprintf("\n... (%s in all; --show-full-output shows %s)", byteSize(size), shows)
}

// outputsSection shows the stack's outputs. For a failed run it shows only those that are certain.
func (p stepPrinter) outputsSection(m *model) string {
	if p.SuppressOutputs || m.summary == nil {
		return ""
	}
	printer := &diffPrinter{showSecrets: p.ShowSecrets, full: p.ShowFullOutput}
	printer.stackOutputs(m.summary.OldOutputs, m.summary.Outputs)
	if len(printer.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.style.bold("Outputs:") + "\n")
	for _, l := range printer.lines {
		b.WriteString("  " + strings.Repeat("    ", l.depth) + p.style.paint(l.mark.colour(), string(l.mark)+" "+l.text) + "\n")
	}
	return b.String()
}

// summarySection shows the counts (protocol.md 10.6). A report with mandatory violations ends without them, because
// they would look like success.
func (p stepPrinter) summarySection(m *model) string {
	if m.summary == nil {
		return ""
	}
	if m.policies.mandatory() {
		return strings.TrimPrefix(p.ending(m.summary), "\n")
	}
	var b strings.Builder
	b.WriteString(p.style.bold("Resources:") + "\n")
	total, kinds := 0, 0
	for _, op := range summaryOrder {
		n := m.summary.Changes[op]
		if n == 0 {
			continue
		}
		w := wordsFor(op)
		word := w.changed
		if m.summary.IsPreview {
			word = w.planned
		}
		b.WriteString("    " + p.style.paint(w.colour, fmt.Sprintf("%s%d %s", w.mark, n, word)) + "\n")
		total, kinds = total+n, kinds+1
	}
	if text := unchangedLine(total, kinds, m.unchanged(), m.absent); text != "" {
		b.WriteString("    " + text + "\n")
	}
	if n := m.errored(); n > 0 {
		b.WriteString("    " + p.style.paint(red, fmt.Sprintf("%d errored", n)) + "\n")
	}
	if total == 0 && m.summary.Changes[stages.OpSame] == 0 && m.errored() == 0 {
		b.WriteString("    no changes\n")
	}
	b.WriteString(p.ending(m.summary))
	return b.String()
}

func unchangedLine(total, kinds, unchanged, absent int) string {
	var parts []string
	if kinds > 1 {
		parts = append(parts, plural(total, "change", "changes"))
	}
	if unchanged > 0 {
		parts = append(parts, fmt.Sprintf("%d unchanged", unchanged))
	}
	if absent > 0 {
		parts = append(parts, fmt.Sprintf("%d not part of the operation", absent))
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
		text += "\n" + p.style.paint(yellow, fmt.Sprintf("error: %s canceled before it was complete", cmp.Or(p.Noun, "operation"))) + "\n" // clients look for it
	}
	waited := p.limitWaits(s.LimitWaits)
	if s.IsPreview {
		return text + waited
	}
	seconds := time.Duration(math.Ceil(s.Duration.Seconds())) * time.Second
	return text + "\n" + p.style.bold("Duration: ") + seconds.String() + "\n" + strings.TrimPrefix(waited, "\n")
}

// limitWaits says how long calls have waited for limits.
func (p stepPrinter) limitWaits(waits []providers.LimitWait) string {
	text := ""
	for _, w := range waits {
		text += fmt.Sprintf("%s%s for the limit %s (%s)\n", p.style.bold("Waited: "), w.Time.Round(100*time.Millisecond), cleanLine(w.Limit),
			plural(w.Calls, "call", "calls"))
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}
