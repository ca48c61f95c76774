package display

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Sight is what can be seen of an operation at one moment.
type Sight struct {
	Tree      *tree.Tree
	Title     string // "Updating (dev)"
	IsPreview bool
	Elapsed   time.Duration
	Expected  int    // resources that change, 0 if that is not known
	Done      int    // resources that have changed
	Remaining int    // resources that are replaced while their old objects are still there
	Waiting   int    // resources that are expected to change and have not begun to
	Running   int    // steps of custom resources
	Errored   int    // resources
	Doing     string // what is waited for while nothing runs; "" if something does
	Limit     string // what calls wait for: "limit x"; "" if nothing
	Left      string // how long it will still take: "about 2 min left"; "" if nobody knows
	Note      string // the last ephemeral message

	p       stepPrinter
	m       *model
	said    []string // about the operation as a whole, oldest first
	now     time.Time
	opened  *openedStep
	decided *why.Log // what was decided, or what the preview before has decided; nil if that is not known
}

// openedStep is the step that was last looked at, with its properties and reasons: to compare large values for each drawing would take too long.
type openedStep struct {
	urn      urn.URN
	op       stages.Op
	old, new *state.Resource
	decided  *why.Log
	width    int
	lines    []string
}

func (o *openedStep) look(p stepPrinter, s stages.StepInfo, decided *why.Log, width int) []string {
	if o.urn != s.URN || o.op != s.Op || o.old != s.Old || o.new != s.New || o.decided != decided || o.width != width {
		*o = openedStep{s.URN, s.Op, s.Old, s.New, decided, width, fitLines(slices.Concat(textLines(p.block(s, 0)), p.reasons(s, decided)), width, true)}
	}
	return o.lines
}

// reasons returns the lines of the chain of reasons of a change, from the resource back to what it comes from.
func (p stepPrinter) reasons(s stages.StepInfo, decided *why.Log) []string {
	if decided == nil || s.Op == stages.OpSame {
		return nil
	}
	e := decided.Why(s.URN)
	if e == nil {
		return nil
	}
	var b strings.Builder
	o := WhyOptions{Out: &b, Color: p.Color, URNs: p.ShowURNs, Runtime: p.Runtime, Refresh: p.IsRefresh}
	if p.Width != nil {
		o.Width = p.Width()
	}
	_ = WriteExplanation(o, e) // a builder takes everything
	return append([]string{"", p.style.bold("Reasons:")}, textLines(b.String())...)
}

func textLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// Look calls f with what can be seen now. The sight is valid until f returns.
func (r *Report) Look(f func(Sight)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.p.Now()
	s := Sight{
		Tree: r.tree, Title: strings.TrimSuffix(r.p.Title, ":"), IsPreview: r.p.IsPreview, Elapsed: max(now.Sub(r.m.started), 0),
		Expected: r.p.Expected, Done: r.m.done, Remaining: r.m.remaining, Waiting: r.m.waiting(r.p.Expected), Running: len(r.m.running), Errored: r.m.errored(), Note: r.note, said: r.said, p: r.p, m: r.m, now: now, opened: &r.opened, decided: cmp.Or(r.ending.Log, r.p.Planned),
	}
	switch {
	case r.isBeginning():
		s.Doing = r.p.Beginning
	case s.Running > 0:
	case r.p.WaitsFor != "":
		s.Doing = r.waits(now)
	}
	if r.p.Left != nil {
		s.Left = r.p.Left(now)
	}
	if len(r.m.limits) > 0 {
		s.Limit = limitNames(r.m.limits)
	}
	f(s)
}

// Said returns the last lines about the operation as a whole, broken between words for so many cells.
func (s Sight) Said(width int) []string {
	if len(s.said) == 0 {
		return nil
	}
	return fitLines(strings.Split(strings.Join(s.said, "\n"), "\n"), width, true)
}

// Slowest describes the steps that have run for longest, at most so many, the one that began first at the beginning.
func (s Sight) Slowest(most int) []string {
	var out []string
	for _, r := range s.m.running[:min(most, len(s.m.running))] {
		out = append(out, s.p.describe(*r, s.now))
	}
	return out
}

// Row is what a screen shows of a resource, without colours but for the mark and the fate.
type Row struct {
	Mark, Kind, Name, Fate string
	Runs                   bool
}

// Row returns what is shown of a resource. A component runs until all that is in it is done.
func (s Sight) Row(n *tree.Node) Row {
	opens := n.IsOpen() && !s.IsPreview
	if n.Status != tree.Running && !opens {
		row := treePrinter{s.p}.row("", []*tree.Node{n})
		switch {
		case n.Status == tree.Failed && n.Err == nil && n.Note != "":
			row.fate += " error: " + firstLine(n.Note)
		case n.Status == tree.Done && n.Step.Op == stages.OpSame:
			row.mark, row.fate = "  ", s.p.style.paint(grey, "unchanged")
		}
		return Row{Mark: row.mark, Kind: row.kind, Name: row.name, Fate: row.fate}
	}
	op := n.Doing
	if opens {
		op = n.Step.Op
	}
	w := wordsFor(op)
	fate := s.p.style.paint(w.colour, s.p.doing(op))
	if took := s.now.Sub(n.Since); took >= time.Second && !opens {
		fate += " " + took.Truncate(time.Second).String()
	}
	return Row{s.p.style.paint(w.colour, w.mark), shortType(n.URN.Type()), cleanLine(n.URN.Name()), fate + s.p.diffSummary(n.Step), true}
}

// Outcomes says how many resources have come to what: "12 created, 3 unchanged".
func (s Sight) Outcomes(done tree.Tally) string {
	var parts []string
	for _, op := range append(ByDanger(), stages.OpCreateReplacement, stages.OpSame) {
		n := done.Of(op)
		if n == 0 {
			continue
		}
		w := wordsFor(op)
		word := w.done
		switch {
		case op == stages.OpSame:
			word = "unchanged"
		case op == stages.OpCreateReplacement && s.IsPreview:
			word = "to " + wordsFor(stages.OpReplace).plan
		case op == stages.OpCreateReplacement:
			word = "created anew, with the old one still there"
		case s.IsPreview:
			word = "to " + w.plan
		}
		parts = append(parts, plural(n, word, word))
	}
	return strings.Join(parts, ", ")
}

// ByName returns the order of siblings by types and names.
func (s Sight) ByName() func(a, b *tree.Node) int { return byKindAndName() }

// ByDanger returns the order of siblings by what is done to them and to what is below them, the most dangerous first, and then by types and names.
func (s Sight) ByDanger() func(a, b *tree.Node) int {
	danger, byName := s.danger(), byKindAndName()
	return func(a, b *tree.Node) int { return cmp.Or(cmp.Compare(danger(a), danger(b)), byName(a, b)) }
}

// danger returns the order of resources by what is done to them and to what is below them: 0 is a delete. What is only possible and did not
// happen the last time comes after all other changes, and what is unchanged comes last.
func (s Sight) danger() func(n *tree.Node) int {
	quiet := s.quiet()
	return func(n *tree.Node) int {
		least := stages.LeastDanger + 1
		for _, x := range n.Below.Done {
			switch danger := x.Op.Danger(); {
			case danger == stages.LeastDanger: // it is unchanged
			case x.N > quiet[n][x.Op]:
				least = min(least, danger)
			default:
				least = min(least, stages.LeastDanger)
			}
		}
		return least
	}
}

// quiet counts what is planned below nodes and did not happen the last time, by what is to be done.
func (s Sight) quiet() map[*tree.Node]map[stages.Op]int {
	out := map[*tree.Node]map[stages.Op]int{}
	for u := range s.p.Unrealized {
		n := s.Tree.Node(u)
		if n == nil || n.Status != tree.Done || !s.p.isUnrealized(n.Step) {
			continue
		}
		for at := n; at != nil; at = at.Parent {
			if out[at] == nil {
				out[at] = map[stages.Op]int{}
			}
			out[at][n.Step.Op]++
		}
	}
	return out
}

// Details returns the lines about one resource, of so many cells where words allow it: its properties, the chain of reasons, times and messages.
func (s Sight) Details(u urn.URN, width int) []string {
	n := s.Tree.Node(u)
	if n == nil {
		return nil
	}
	row := s.Row(n)
	out := append(fitLines([]string{row.Mark + " " + row.Kind + " " + row.Name + " " + row.Fate}, width, true), "")
	if n.Step.Op != "" {
		out = append(out, s.opened.look(s.p, n.Step, s.decided, width)...)
	}
	if of := s.m.diagnostics[u]; of != nil {
		out = append(out, "", "Messages:")
		for _, d := range of.list {
			if d.Severity != stages.Debug || s.p.Debug {
				for _, text := range s.p.message(d) {
					out = append(out, fitLines([]string{"    " + text}, width, true)...)
				}
			}
		}
	}
	return out
}
