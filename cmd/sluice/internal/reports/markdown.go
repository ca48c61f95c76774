package reports

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
)

// Limits on parts of a report in Markdown, so that one does not use the room of all others.
const (
	maxDetail = 6_000 // bytes of the details of one resource
	maxNames  = 200   // bytes of a name
	maxLine   = 500   // bytes of a line of a diff
	maxKinds  = 12    // kinds of resources that are only counted
)

// WriteMarkdown writes a comment for a pull request of at most limit bytes: failures and dangerous changes come first, details are folded, and the
// parts without room are counted.
func WriteMarkdown(out io.Writer, d *Document, limit int) error {
	m := markdown{d: d, left: limit}
	_, err := io.WriteString(out, m.text())
	return err
}

type markdown struct {
	d    *Document
	left int // bytes
}

// reserve is the room kept for the line about omitted parts.
const reserve = 1_000

func (m *markdown) text() string {
	var b strings.Builder
	head := m.head()
	m.left -= len(head) + reserve
	b.WriteString(head)
	b.WriteString(m.part(m.failure(), m.left/3))
	b.WriteString(m.part(m.messages(), m.left/3))
	causes := m.part(m.rootCauses(), m.left/3) + m.part(m.renames(), m.left/3)
	resources := m.resources()
	tail := m.part(m.policies(), m.left) + m.part(m.outputs(), m.left) + m.part(m.criticalPath(), m.left)
	b.WriteString(resources)
	b.WriteString(causes)
	b.WriteString(tail)
	return b.String()
}

// part returns a text if there is room for it, else "".
func (m *markdown) part(text string, most int) string {
	if len(text) > min(most, m.left) {
		return ""
	}
	m.left -= len(text)
	return text
}

func (m *markdown) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", markdownText(short(m.d.Operation.title())))
	tally := tallyOf(m.d)
	var counts []string
	for _, c := range tally.changes() {
		counts = append(counts, "**"+c.text+"**")
	}
	if unchanged := tally.unchanged(); unchanged != "" {
		counts = append(counts, unchanged)
	}
	if len(counts) == 0 {
		counts = []string{"nothing changes"}
	}
	b.WriteString(strings.Join(counts, ", "))
	if when := m.d.Operation.when(); when != "" {
		b.WriteString(" — " + when)
	}
	b.WriteString("\n\n")
	if m.d.Operation.Message != "" {
		b.WriteString(quoted(markdownText(short(display.CleanLine(m.d.Operation.Message)))))
	}
	if m.d.Summary.MaybeCorrupt {
		b.WriteString(quoted("The outcome of an operation on a resource is not known: refresh the stack."))
	}
	return b.String()
}

func quoted(text string) string { return "> " + text + "\n\n" }

// short cuts a name to maxNames.
func short(text string) string { return cutText(text, maxNames) }

// cutText returns the beginning of a text, in bytes.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// failure describes why the operation has failed.
func (m *markdown) failure() string {
	if m.d.Failure == "" {
		return ""
	}
	return fenced("", cutLines(textLines(m.d.Failure), maxDetail))
}

// Limits on lists.
const (
	maxCauses  = 10
	maxRenames = 20
)

// rootCauses returns the root causes that add something to the rows of the resources.
func (m *markdown) rootCauses() string {
	texts, more := m.d.rootCauses(maxCauses)
	if len(texts) == 0 {
		return ""
	}
	out := "#### Root causes\n\n"
	for _, text := range texts {
		out += "- " + markdownText(cutText(text, maxLine)) + "\n"
	}
	if more > 0 {
		out += "- and " + format.Thousands(more) + " more\n"
	}
	return out + "\n"
}

// renames returns the aliases to paste.
func (m *markdown) renames() string {
	all := m.d.aliases()
	if len(all) == 0 {
		return ""
	}
	out := "#### Renamed?\n\nWhat is deleted looks like what is created. An alias keeps a resource under its new name:\n\n"
	for _, r := range all[:min(len(all), maxRenames)] {
		out += "- " + markdownText(cutText(r.text(), maxLine)) + ": " + code(display.CleanLine(r.Alias)) + "\n"
	}
	if more := len(all) - maxRenames; more > 0 {
		out += "- and " + format.Thousands(more) + " more\n"
	}
	return out + "\n"
}

// messages returns the errors and warnings about no resource that are not among the causes of a failure.
func (m *markdown) messages() string {
	var lines []line
	for _, x := range m.d.untold() {
		if x.Severity == "error" || x.Severity == "warning" {
			lines = append(lines, said(x)...)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return fenced("", cutLines(lines, maxDetail))
}

// minAlike is the number of resources from which those that differ only in their names share a row.
const minAlike = 11

// entry is a row of the list of changes.
type entry struct {
	resources []*Resource
	folded    string // with the details, "" if there are none
}

// entries returns the rows of the changes, the most dangerous first. Large groups of equal resources without details share a row.
func (m *markdown) entries() []*entry {
	var out []*entry
	alike := map[string]*entry{}
	for _, r := range m.d.byDanger() {
		e := &entry{resources: []*Resource{r}, folded: m.folded(r)}
		if e.folded == "" {
			look := r.fate(m.d.Operation.Preview) + "\x00" + string(r.Type) + "\x00" + r.why()
			if first := alike[look]; first != nil {
				first.resources = append(first.resources, r)
				continue
			}
			alike[look] = e
		}
		out = append(out, e)
	}
	var apart []*entry
	for _, e := range out {
		if len(e.resources) >= minAlike {
			apart = append(apart, e)
			continue
		}
		for _, r := range e.resources {
			apart = append(apart, &entry{[]*Resource{r}, e.folded})
		}
	}
	return apart
}

// resources writes the changes: first as many rows as there is room for, then the details of as many of these as there is room for.
func (m *markdown) resources() string {
	all := m.entries()
	rows := make([]string, 0, len(all))
	for _, e := range all {
		row := m.row(e)
		if len(row)+2 > m.left {
			break
		}
		m.left -= len(row)
		rows = append(rows, row)
	}
	for i := range rows {
		if folded := all[i].folded; folded != "" && len(folded)-len(rows[i]) <= m.left {
			m.left -= len(folded) - len(rows[i])
			rows[i] = folded
		}
	}
	out := strings.Join(rows, "")
	var rest []*Resource
	for _, e := range all[len(rows):] {
		rest = append(rest, e.resources...)
	}
	if len(rest) > 0 {
		out += "\n" + m.counted(rest)
	}
	if out != "" {
		out += "\n"
	}
	return out
}

// row writes resources on one line.
func (m *markdown) row(e *entry) string {
	r := e.resources[0]
	name := code(short(display.CleanLine(r.Name)))
	if n := len(e.resources); n > 1 {
		names := make([]string, 0, 3)
		for _, one := range e.resources[:cap(names)] {
			names = append(names, code(short(display.CleanLine(one.Name))))
		}
		name = "× " + format.Thousands(n) + " (" + strings.Join(names, ", ") + ", …)"
	}
	text := fmt.Sprintf("- **%s** %s %s", markdownText(short(r.fate(m.d.Operation.Preview))), code(short(display.ShortType(r.Type))), name)
	if why := r.why(); why != "" {
		text += " " + markdownText(cutText(why, maxLine))
	}
	return text + "\n"
}

// folded returns a resource with its details, "" if it has none.
func (m *markdown) folded(r *Resource) string {
	var lines []line
	for _, c := range r.Changes {
		lines = append(lines, diffLines(c)...)
	}
	if r.More > 0 {
		lines = append(lines, line{" ", fmt.Sprintf("and %d more", r.More)})
	}
	var messages []line
	if r.Error != "" {
		messages = said(Message{"error", r.Error})
	}
	for _, x := range r.Messages {
		messages = append(messages, said(x)...)
	}
	if len(lines)+len(messages) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary><b>%s</b> <code>%s</code> <b>%s</b> %s</summary>\n\n", htmlText(r.fate(m.d.Operation.Preview)),
		html.EscapeString(short(display.ShortType(r.Type))), htmlText(short(display.CleanLine(r.Name))), withCode(cutText(r.why(), maxLine)))
	if r.Position != "" {
		b.WriteString(code(display.CleanLine(r.Position)) + "\n\n")
	}
	if len(messages) > 0 {
		b.WriteString(fenced("", cutLines(messages, maxDetail/2)))
	}
	if len(lines) > 0 {
		b.WriteString(fenced("diff", cutLines(lines, maxDetail)))
	}
	return b.String() + "</details>\n\n"
}

// said returns the lines of a message.
func said(m Message) []line { return textLines(m.Severity + ": " + m.Text) }

func textLines(text string) []line {
	var out []line
	for text := range strings.SplitSeq(text, "\n") {
		out = append(out, line{"", text})
	}
	return out
}

// counted counts the resources without room, by operation.
func (m *markdown) counted(rest []*Resource) string {
	kinds := map[string]int{}
	for _, r := range rest {
		kinds[display.Done(r.Operation, m.d.Operation.Preview)+" "+code(short(display.ShortType(r.Type)))]++
	}
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
	text := fmt.Sprintf("…and %s that have no room here: ", format.PluralThousands(len(rest), "resource", "resources"))
	for i, name := range names {
		part := format.Thousands(kinds[name]) + " × " + name
		if i == maxKinds || len(text)+len(part) > reserve-100 {
			text += fmt.Sprintf("; and %s of other kinds", format.PluralThousands(countOf(kinds, names[i:]), "resource", "resources"))
			break
		}
		if i > 0 {
			text += ", "
		}
		text += part
	}
	return text + "\n"
}

func countOf(kinds map[string]int, names []string) int {
	n := 0
	for _, name := range names {
		n += kinds[name]
	}
	return n
}

func (m *markdown) policies() string {
	var b strings.Builder
	for _, v := range m.d.Policies {
		fmt.Fprintf(&b, "- **%s** %s %s: %s\n", v.Level, code(short(display.CleanLine(v.Policy))), code(short(subject(v.URN))),
			markdownText(short(display.CleanLine(display.Clean(v.Text)))))
	}
	if b.Len() == 0 {
		return ""
	}
	return "#### Policies\n\n" + b.String() + "\n"
}

func (m *markdown) outputs() string {
	var lines []line
	for _, c := range m.d.Outputs {
		lines = append(lines, diffLines(c)...)
	}
	if len(lines) == 0 {
		return ""
	}
	return "<details><summary>Outputs</summary>\n\n" + fenced("diff", cutLines(lines, maxDetail)) + "</details>\n"
}

// maxSteps is the number of steps of the critical path that are written: the last ones.
const maxSteps = 30

// criticalPath returns the chain of steps that ended last.
func (m *markdown) criticalPath() string {
	all := m.d.CriticalPath
	if len(all) < 2 {
		return ""
	}
	out := fmt.Sprintf("<details><summary>Critical path: %s</summary>\n\n", format.PluralThousands(len(all), "step", "steps"))
	if more := len(all) - maxSteps; more > 0 {
		out += "- " + format.Thousands(more) + " before\n"
		all = all[more:]
	}
	for _, s := range all {
		out += fmt.Sprintf("- %s %s: %s, after waiting %s\n", display.Doing(s.Operation), code(short(subject(s.URN))), ofSeconds(s.Seconds), ofSeconds(s.Waited))
	}
	return out + "\n</details>\n"
}

// cutLines returns the first lines for which there is room, each cut to a readable length.
func cutLines(lines []line, most int) []line {
	var out []line
	for i, l := range lines {
		l.text = cutText(l.text, maxLine)
		if most -= len(l.sign) + len(l.text) + 2; most < 0 {
			return append(out, line{" ", fmt.Sprintf("… %s more", format.PluralThousands(len(lines)-i, "line", "lines"))})
		}
		out = append(out, l)
	}
	return out
}

// fenced writes lines as a code block that no text in them ends.
func fenced(language string, lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		sign := l.sign
		if sign == "~" {
			sign = "!" // so that hosts colour it
		}
		if sign != "" {
			sign += " "
		}
		b.WriteString(strings.TrimRight(sign+l.text, " ") + "\n")
	}
	text := b.String()
	fence := strings.Repeat("`", max(longestRun(text)+1, 3))
	return fence + language + "\n" + text + fence + "\n\n"
}

// code writes a text on one line as code.
func code(text string) string {
	if text == "" {
		return ""
	}
	mark := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return mark + text + mark
}

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// markdownText escapes one of our own texts with names in it. Text in backticks becomes code; an unpaired backtick is literal.
func markdownText(text string) string {
	return inCode(text, func(plain string) string {
		return unlinked(plain, func(r rune) string {
			if strings.ContainsRune("\\*_[]<>~#|&!`", r) {
				return "\\" + string(r)
			}
			return string(r)
		})
	}, code)
}

// htmlText escapes a text for HTML within Markdown, in which services look for references too.
func htmlText(text string) string {
	return unlinked(text, func(r rune) string { return html.EscapeString(string(r)) })
}

var (
	// reference matches the texts that services link: "@user", issues, merge requests and others, "#1", "!1", `~"label"`, and "GH-1". A link would
	// notify its user or mark its issue.
	reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[@#!~%$&][\pL\pN_"]|\b[Gg][Hh]-[0-9]`) })
	// notLinked separates the sign from the name. An HTML entity for the sign would not prevent the link, as services scan the rendered text.
	notLinked = "<!-- -->"
)

// unlinked escapes a text so that services link nothing in it.
func unlinked(text string, escape func(rune) string) string {
	var b strings.Builder
	breaks := map[int]bool{} // the bytes before which notLinked is written
	for _, at := range reference().FindAllStringIndex(text, -1) {
		_, last := utf8.DecodeLastRuneInString(text[at[0]:at[1]])
		breaks[at[1]-last] = true
	}
	for at, r := range text {
		if breaks[at] {
			b.WriteString(notLinked)
		}
		b.WriteString(escape(r))
	}
	return b.String()
}

// withCode escapes a text for HTML. Text in backticks becomes code.
func withCode(text string) string {
	return inCode(text, htmlText, func(text string) string { return "<code>" + html.EscapeString(text) + "</code>" })
}

// inCode applies code to the text in backticks, and plain to the rest.
func inCode(text string, plain, code func(string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "`")
		inner, after, closed := strings.Cut(rest, "`")
		if !found || !closed || inner == "" {
			b.WriteString(plain(text))
			return b.String()
		}
		b.WriteString(plain(before) + code(inner))
		text = after
	}
}
