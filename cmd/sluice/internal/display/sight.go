package display

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Sight is the visible state of an operation at one moment.
type Sight struct {
	Tree      *tree.Tree
	Title     string // "Updating (dev)"
	IsPreview bool
	Elapsed   time.Duration
	Expected  int    // resources that change, 0 if that is unknown
	Done      int    // resources that have changed
	Remaining int    // replaced resources whose old objects are still there
	Waiting   int    // resources that are expected to change and have not begun
	Running   int    // steps of custom resources
	Errored   int    // resources
	Doing     string // what the operation waits for while no step runs; "" if one runs
	Limit     string // what calls wait for: "limit x"; "" for none
	Left      string // estimated remaining time: "about 2 min left"; "" if there is no estimate
	Note      string // the last ephemeral message

	p       stepPrinter
	m       *model
	said    []string // about the operation as a whole, oldest first
	now     time.Time
	opened  *openedStep
	decided *why.Log // decisions of the operation, or of the preceding preview; nil if they are unknown
}

// openedStep caches the last opened step with its properties and reasons: to compare large values for each drawing would take too long.
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
		*o = openedStep{s.URN, s.Op, s.Old, s.New, decided, width, fitLines(slices.Concat(textLines(blockPrinter{p}.text(s, 0)), reasonLines(p, s, decided)), width, true)}
	}
	return o.lines
}

// reasonLines returns the lines of the chain of reasons of a change, from the resource back to the root cause.
func reasonLines(p stepPrinter, s stages.StepInfo, decided *why.Log) []string {
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
	_ = WriteExplanation(o, e) // a builder returns no error
	return append([]string{"", p.style.bold("Reasons:")}, textLines(b.String())...)
}

func textLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// Remarks returns the last lines about the operation as a whole, broken between words to a width in cells.
func (s Sight) Remarks(width int) []string {
	if len(s.said) == 0 {
		return nil
	}
	return fitLines(strings.Split(strings.Join(s.said, "\n"), "\n"), width, true)
}

// Slowest describes the running steps that began first, the earliest first, at most so many. It leaves out the steps of some resources.
func (s Sight) Slowest(most int, leaveOut func(urn.URN) bool) []string {
	var out []string
	for _, r := range s.m.running {
		if len(out) == most {
			break
		}
		if !leaveOut(r.step.URN) {
			out = append(out, s.p.describe(*r, s.now))
		}
	}
	return out
}

// Row is the row of a resource on a screen. Only the mark and the fate have colours.
type Row struct {
	Mark, Kind, Name, Fate string
	Runs                   bool
}

// Row returns the row of a resource. A component is shown as running until everything in it is done.
func (s Sight) Row(n *tree.Node) Row {
	opens := n.IsOpen() && !s.IsPreview
	if n.Status != tree.Running && !opens {
		row := treePrinter{steps: s.p}.row("", []*tree.Node{n})
		switch {
		case n.Status == tree.Failed && n.Err == nil && n.Note != "":
			row.fate += " error: " + firstLine(n.Note)
		case n.Status == tree.Done && n.Outcome() == stages.OpSame:
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

// Outcomes formats how many resources have had each outcome: "12 created, 3 unchanged".
func (s Sight) Outcomes(done tree.Tally) string {
	var parts []string
	for _, op := range append(ByDanger(), stages.OpCreateReplacement, tree.Renamed, stages.OpSame) {
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
		parts = append(parts, format.Plural(n, word, word))
	}
	return strings.Join(parts, ", ")
}

// ByName returns the order of siblings by types and names.
func (s Sight) ByName() func(a, b *tree.Node) int { return byKindAndName() }

// ByDanger returns the order of siblings by the most dangerous change at or below them, then by types and names.
func (s Sight) ByDanger() func(a, b *tree.Node) int {
	danger, byName := s.danger(), byKindAndName()
	return func(a, b *tree.Node) int { return cmp.Or(cmp.Compare(danger(a), danger(b)), byName(a, b)) }
}

// danger returns the rank of a resource by the most dangerous change at or below it: 0 is a delete. Unrealized changes come after all other
// changes, and unchanged resources last.
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

// quiet counts the planned changes below nodes that were unrealized the last time, by kind.
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

// Details returns the lines about one resource, broken to a width in cells: its properties, the chain of reasons, times and messages.
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
				for _, text := range (messagePrinter{s.p}).lines(d) {
					out = append(out, fitLines([]string{"    " + text}, width, true)...)
				}
			}
		}
	}
	return out
}
