package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
)

// JobSummary is a short report in Markdown for the page of a job: counts, failures, and the changes with the most dangerous first. It is safe for
// concurrent use.
type JobSummary struct {
	mu sync.Mutex
	facts
	tree *tree.Tree
}

// NewJobSummary begins a summary with the title of the options.
func NewJobSummary(o Options) *JobSummary {
	o.Color, o.Diff = false, false
	return &JobSummary{facts: newFacts(o), tree: tree.New()}
}

// Observe takes account of an event.
func (j *JobSummary) Observe(e stages.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.m.observe(e)
	j.tree.Observe(e)
}

// Markdown returns the summary, in at most room bytes; "" if that is too little for any.
func (j *JobSummary) Markdown(e Ending, room int) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ending = e
	title := cleanLine(strings.TrimSuffix(j.p.Title, ":"))
	if e.Failed != "" {
		title += ": failed"
	}
	text := "### " + escapeMarkdown(title) + "\n\n" + j.counts() + "\n"
	if len(text) > room {
		return ""
	}
	failure, _ := j.failureSection()
	text += fenced(strings.Split(strings.TrimSuffix(failure, "\n"), "\n"), (room-len(text))/2)
	return text + fenced(j.dangerous(), room-len(text))
}

// counts returns "1 deleted, 2 created, 3 unchanged, 1 errored".
func (j *JobSummary) counts() string {
	var parts []string
	if s := j.m.summary; s != nil {
		for _, op := range summaryOrder {
			n, w := s.Changes[op], wordsFor(op)
			word := w.changed
			if s.IsPreview {
				word = w.planned
			}
			if n > 0 && word != "" && !(s.IsPreview && s.Result == stages.Failed) {
				parts = append(parts, fmt.Sprintf("**%d %s**", n, word))
			}
		}
		if n := j.m.unchanged(); n > 0 {
			parts = append(parts, fmt.Sprintf("%d unchanged", n))
		}
	}
	if n := j.m.errored(); n > 0 {
		parts = append(parts, fmt.Sprintf("**%d errored**", n))
	}
	return cmp.Or(strings.Join(parts, ", "), "no changes") + "\n"
}

// dangerous returns the rows of what changes, with the most dangerous first. Equal ones share a row.
func (j *JobSummary) dangerous() []string {
	var changes []*tree.Node
	var collect func(n *tree.Node)
	collect = func(n *tree.Node) {
		for c := range n.Children() {
			if c.Status == tree.Failed || c.Status == tree.Running || c.Status == tree.Done && c.Step.Op != stages.OpSame && j.p.shows(c.Step) {
				changes = append(changes, c)
			}
			collect(c)
		}
	}
	collect(j.tree.Top)
	groups := j.p.groups(changes)
	danger := func(g []*tree.Node) int {
		if g[0].Status != tree.Done {
			return -1
		}
		return g[0].Step.Op.Danger()
	}
	slices.SortStableFunc(groups, func(a, b []*tree.Node) int { return cmp.Compare(danger(a), danger(b)) })
	var out []string
	for _, g := range groups {
		r := j.p.treeRow("", g)
		if g[0].Status == tree.Failed {
			r.fate = j.p.failed(g[0].Step, nil, g[0].Took) // what went wrong is above
		}
		out = append(out, strings.TrimRight(r.mark+" "+r.kind+" "+r.name+" "+r.fate, " "))
	}
	return out
}

// fenced returns lines as a block of code, in at most room bytes. It leaves out the last lines if there are too many, and everything if none fits.
func fenced(lines []string, room int) string {
	text := strings.Join(lines, "\n")
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	room -= 2*len(fence) + len("text\n\n\n\n") + len("... and 1000000000 lines more\n")
	var b strings.Builder
	for i, l := range lines {
		if b.Len()+len(l)+1 > room {
			if i == 0 {
				return ""
			}
			fmt.Fprintf(&b, "... and %s more\n", plural(len(lines)-i, "line", "lines"))
			break
		}
		b.WriteString(l + "\n")
	}
	return fence + "text\n" + b.String() + fence + "\n\n"
}

// escapeMarkdown makes a text show as it is.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>#|!&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
