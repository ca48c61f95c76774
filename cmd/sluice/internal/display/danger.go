package display

import (
	"fmt"
	"maps"
	"slices"

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
