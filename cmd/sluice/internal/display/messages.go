package display

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on the messages kept until they are shown, in bytes. The event log has all of them.
const (
	maxMessage  = 64 << 10 // of one message
	maxMessages = 1 << 20  // of the output of programs and plugins about one resource
	maxKept     = 16 << 20 // of each weight, about all resources
	perMessage  = 256      // the memory of a message besides its text
)

// weight decides which messages are dropped when there are too many.
type weight int

const (
	routine weight = iota // output of programs and plugins: only the end is kept
	serious               // errors and warnings: the first ones, which are often the cause, and the last ones are kept
	weights
)

// messages are those of one resource.
type messages struct {
	whole   bool // keep everything
	list    []message
	size    [weights]int // of list, in bytes
	omitted [weights]int // how many messages were left out
	lost    [weights]int // their bytes
}

// message is a message, perhaps with only the beginning of its text.
type message struct {
	stages.Diagnostic
	number int  // in the order of all messages
	came   int  // bytes of the text that have arrived
	size   int  // bytes of the whole text, which may not have arrived completely
	ended  bool // the text has ended with a newline
	gone   bool // it is about to be dropped
}

func (m *message) weight() weight {
	if m.Severity == stages.Error || m.Severity == stages.Warning {
		return serious
	}
	return routine
}

func (m *message) kept() int { return len(m.Message) + perMessage }

func (m *messages) add(d stages.Diagnostic, number int) {
	i := m.unfinished(d.StreamID)
	text := d.Message
	if i < 0 {
		d.Message = ""
		m.list = append(m.list, message{Diagnostic: d, number: number})
		i = len(m.list) - 1
		m.size[m.list[i].weight()] += perMessage
	}
	last := &m.list[i]
	last.came += len(text)
	last.size += redact.Whole(text)
	last.ended = strings.HasSuffix(text, "\n") || text == "" && last.ended
	if room := maxMessage - len(last.Message); len(text) > room && !m.whole {
		text = strings.Clone(text[:max(room, 0)]) // frees the rest
	}
	last.Message += text
	m.size[last.weight()] += len(text)
	m.trim()
}

// unfinished returns the index of the unfinished line of a stream, or -1 if there is none. Messages of other streams may have come in
// between (protocol.md 9.3).
func (m *messages) unfinished(stream int32) int {
	if stream == 0 {
		return -1
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if m.list[i].StreamID == stream {
			if m.list[i].ended {
				return -1
			}
			return i
		}
	}
	return -1
}

// trim drops the oldest output when there is too much of it. It drops enough at a time not to run for each message.
func (m *messages) trim() {
	if m.whole || m.size[routine] <= maxMessages {
		return
	}
	left := m.size[routine]
	for i := range m.list {
		if x := &m.list[i]; x.weight() == routine && left > maxMessages/2 {
			x.gone = true
			left -= x.kept()
		}
	}
	m.leaveOut()
}

// leaveOut drops the marked messages.
func (m *messages) leaveOut() {
	m.list = slices.DeleteFunc(m.list, func(x message) bool {
		if x.gone {
			w := x.weight()
			m.size[w] -= x.kept()
			m.omitted[w]++
			m.lost[w] += x.size
		}
		return x.gone
	})
}

// notes describe the dropped messages.
func (m *messages) notes() []string {
	var list []string
	for w, words := range [weights][2]string{{"earlier message", "earlier messages"}, {"error or warning", "errors and warnings"}} {
		if n := m.omitted[w]; n > 0 {
			list = append(list, fmt.Sprintf("... (%s with %s left out; --show-full-output shows them)", format.Plural(n, words[0], words[1]), byteSize(m.lost[w])))
		}
	}
	return list
}

// messagePrinter formats the messages of an operation.
type messagePrinter struct{ steps stepPrinter }

// speakers returns the resources with messages in the order of types and names, and then "". Operations run side by side, so that the order of
// their messages means nothing.
func (p messagePrinter) speakers(m *model) []urn.URN {
	byName := ByKindAndName()
	return slices.SortedFunc(maps.Keys(m.diagnostics), func(a, b urn.URN) int {
		return cmp.Or(compareBools(a == "", b == ""), byName(a, b))
	})
}

// section lists the messages by resource. It leaves out the messages whose numbers are in shown and, if the operation has failed for another reason, the
// echoes of SDKs.
func (p messagePrinter) section(m *model, shown map[int]bool, failed bool) string {
	var b strings.Builder
	details := map[string]bool{}
	for _, u := range p.speakers(m) {
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
