package display

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on the dangers in the summary of a preview.
const (
	minTyped       = 11 // changes from which the summary counts them by type
	maxTypesShown  = 5
	maxDeleteFirst = 5 // replacements that delete dependents
	maxAlongShown  = 8 // dependents that are deleted with one replacement
	dangerIndent   = "        "
)

// dangers are the dangerous changes in the summary of a preview. The zero value has none.
type dangers struct {
	types       map[stages.Op]map[urn.Type]int
	total       int
	createFirst int
	deleteFirst []urn.URN                // replaced by their own decision, in ascending order
	order       map[urn.URN]stages.Order // of the resources in deleteFirst
	along       map[urn.URN][]urn.URN    // the dependents that are deleted with each of them
	protected   map[stages.Op][]urn.URN  // protected resources that change
	unprotected []urn.URN
	leftOver    int // old objects of earlier replacements that are deleted or forgotten
}

// dangersOf finds the dangers of an operation in one pass over its decisions.
func dangersOf(l *why.Log) dangers {
	d := dangers{
		types: map[stages.Op]map[urn.Type]int{}, order: map[urn.URN]stages.Order{}, along: map[urn.URN][]urn.URN{}, protected: map[stages.Op][]urn.URN{},
	}
	causes := map[urn.URN]urn.URN{} // of deleted dependents
	for i := range l.Decisions {
		s := &l.Decisions[i]
		switch {
		case s.Internal:
			continue
		case s.Op == stages.OpSame && unprotects(s):
			d.unprotected = append(d.unprotected, s.URN)
			continue
		case s.Reason == stages.ReasonReplaced && s.Op != stages.OpReplace:
			d.leftOver++
			continue
		case s.Op.Danger() == stages.LeastDanger || s.Op == stages.OpRefresh:
			continue
		}
		if d.types[s.Op] == nil {
			d.types[s.Op] = map[urn.Type]int{}
		}
		d.types[s.Op][s.URN.Type()]++
		d.total++
		if s.Protected {
			d.protected[s.Op] = append(d.protected[s.Op], s.URN)
		}
		switch {
		case s.Reason == stages.ReasonDependency:
			causes[s.URN] = s.Cause
		case s.Op != stages.OpReplace || s.Reason == stages.ReasonImport || s.Reason == stages.ReasonReadOther:
		case s.DeleteFirst:
			d.deleteFirst = append(d.deleteFirst, s.URN)
			d.order[s.URN] = s.Order
		default:
			d.createFirst++
		}
	}
	d.gather(causes)
	return d
}

func unprotects(d *why.Decision) bool { return d.Protected && slices.Contains(d.Names, "protect") }

// gather lists the direct and indirect dependents that are deleted with each replacement.
func (d *dangers) gather(causes map[urn.URN]urn.URN) {
	ends := make(map[urn.URN]urn.URN, len(causes)) // where the chain of causes ends
	for _, u := range slices.Sorted(maps.Keys(causes)) {
		end, way := u, []urn.URN(nil)
		for {
			if known, ok := ends[end]; ok {
				end = known
				break
			}
			cause, ok := causes[end]
			if !ok || len(way) > len(causes) {
				break
			}
			way = append(way, end)
			end = cause
		}
		for _, v := range way {
			ends[v] = end
		}
		d.along[end] = append(d.along[end], u)
	}
}

// replacements returns how many resources are replaced in each order.
func (d *dangers) replacements() (createFirst, deleteFirst int) {
	deleteFirst = len(d.deleteFirst)
	for _, along := range d.along {
		deleteFirst += len(along)
	}
	return d.createFirst, deleteFirst
}

// onlyOrder returns the common reason why all replacements delete first, if there is one and no dependents are deleted.
func (d *dangers) onlyOrder() (stages.Order, bool) {
	if len(d.along) > 0 || d.createFirst > 0 || len(d.deleteFirst) == 0 {
		return "", false
	}
	first := d.order[d.deleteFirst[0]]
	for _, u := range d.deleteFirst {
		if d.order[u] != first {
			return "", false
		}
	}
	return first, true
}

// countText is the text after the count of one kind of change: ": 8 aws:s3:Bucket, 4 aws:rds:Instance", or the order of
// replacements.
func (p stepPrinter) countText(d *dangers, op stages.Op) string {
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
		if i == maxTypesShown && !p.ShowFullOutput {
			parts = append(parts, plural(len(types)-i, "other type", "other types"))
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
func (p stepPrinter) deleteFirstLines(d *dangers) []string {
	if _, ok := d.onlyOrder(); ok {
		return nil
	}
	w := &whyPrinter{WhyOptions: WhyOptions{URNs: p.ShowURNs}, style: p.style}
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
		if i == maxDeleteFirst && !p.Diff {
			lines = append(lines, fmt.Sprintf("and %s with others; --diff shows them", plural(len(taking)-i, "replacement", "replacements")))
			break
		}
		along := d.along[u]
		text := w.names([]urn.URN{u}) + " is deleted first" + orderText(" (%s)", d.order[u])
		lines = append(lines, text+", and with it "+w.listText(along, maxAlongShown))
	}
	for _, order := range slices.Sorted(maps.Keys(alone)) {
		be := "are"
		if len(alone[order]) == 1 {
			be = "is"
		}
		lines = append(lines, w.namesText(alone[order])+" "+be+" deleted first"+orderText(" (%s)", order))
	}
	return lines
}

// protectedLines describe the changes to protected resources.
func (p stepPrinter) protectedLines(d *dangers) []string {
	w := &whyPrinter{WhyOptions: WhyOptions{URNs: p.ShowURNs}, style: p.style}
	var parts []string
	for _, op := range slices.SortedFunc(maps.Keys(d.protected), func(a, b stages.Op) int {
		return cmp.Or(cmp.Compare(a.Danger(), b.Danger()), cmp.Compare(a, b))
	}) {
		us := d.protected[op]
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(us), cmp.Or(wordsFor(op).planned, "to "+wordsFor(op).plan), w.listText(us, maxNamesShown)))
	}
	var lines []string
	if len(parts) > 0 {
		lines = append(lines, p.style.paint(red, "! protected: ")+strings.Join(parts, ", "))
	}
	if n := len(d.unprotected); n > 0 {
		lines = append(lines, p.style.paint(yellow, "! no longer protected: ")+w.namesText(d.unprotected))
	}
	return lines
}

// orders are the reasons why a replacement deletes first.
var orders = map[stages.Order]string{
	stages.OrderOption:      "deleteBeforeReplace",
	stages.OrderProvider:    "its provider asks for that",
	stages.OrderName:        "there cannot be two of its name",
	stages.OrderInterrupted: "an earlier operation has deleted it",
}

// orderText formats the reason why a replacement deletes first, "" if it is unknown.
func orderText(format string, order stages.Order) string {
	if text := orders[order]; text != "" {
		return fmt.Sprintf(format, text)
	}
	return ""
}
