package display

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// messagePrinter formats the messages of an operation.
type messagePrinter struct{ steps stepPrinter }

// section lists the messages by resource, in the order of the first message of each resource. It leaves out the messages whose
// numbers are in shown and, if the operation has failed for another reason, the echoes of SDKs.
func (p messagePrinter) section(m *model, shown map[int]bool, failed bool) string {
	var b strings.Builder
	details := map[string]bool{}
	for _, u := range m.speakers {
		lines := m.diagnostics[u].notes()
		list := m.diagnostics[u].list
		if failed && !p.steps.ShowFullOutput {
			list, lines = withoutEchoes(list, lines)
		}
		for _, d := range list {
			if (d.Severity != stages.Debug || p.steps.Debug) && !shown[d.number] {
				for _, text := range once(details, d.Severity, p.lines(d)) {
					if d.Severity == stages.Error || d.Severity == stages.Warning { // other lines are as the program wrote them
						text = strings.TrimPrefix(p.steps.layout().fitted("    "+text), "    ")
					}
					lines = append(lines, text)
				}
			}
		}
		if len(lines) == 0 {
			continue
		}
		b.WriteString("  " + p.steps.style.bold(p.speaker(u)) + ":\n")
		for _, text := range lines {
			b.WriteString("    " + text + "\n")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return p.steps.style.bold("Diagnostics:") + "\n" + strings.TrimSuffix(b.String(), "\n")
}

// once leaves out the details of an error, all lines but the first, if another error had the same details: a plugin that exits makes many
// operations fail for one reason.
func once(shown map[string]bool, severity stages.Severity, lines []string) []string {
	if severity != stages.Error || len(lines) < 2 {
		return lines
	}
	details := strings.Join(lines[1:], "\n")
	if shown[details] {
		return []string{lines[0] + " (as above)"}
	}
	shown[details] = true
	return lines
}

// speaker names the resource of messages.
func (p messagePrinter) speaker(u urn.URN) string {
	if u == "" {
		return "stack"
	}
	if p.steps.ShowURNs {
		return cleanLine(string(u))
	}
	return shortType(u.Type()) + " (" + cleanLine(u.Name()) + ")"
}

// lines returns the lines of a message.
func (p messagePrinter) lines(d message) []string {
	text := d.Message
	if len(text) < d.came {
		text = beginning(text, d.came, d.size)
	}
	text = strings.TrimRight(clean(text), "\n")
	switch d.Severity {
	case stages.Error:
		text = p.steps.style.paint(red, "error: ") + text
	case stages.Warning:
		text = p.steps.style.paint(yellow, "warning: ") + text
	case stages.Debug:
		text = p.steps.style.paint(grey, "debug: ") + text
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
