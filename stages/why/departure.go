package why

import (
	"maps"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Departure is how a resource left the state other than by an edit of the program.
type Departure struct {
	By DepartedBy `json:"by"`
	// From and To are the recorded names before and after a rename in the state; "" for the others.
	From urn.URN `json:"from,omitempty"`
	To   urn.URN `json:"to,omitempty"`
}

// DepartedBy is the operation with which a resource left the state.
type DepartedBy string

// The operations with which a resource leaves the state.
const (
	DepartedByRefresh DepartedBy = "refresh"
	DepartedByDelete  DepartedBy = "state-delete"
	DepartedByRename  DepartedBy = "state-rename"
)

// String returns the departure as a clause about the resource.
func (d Departure) String() string {
	switch d.By {
	case DepartedByRefresh:
		return "it is no longer there since the refresh"
	case DepartedByDelete:
		return "`state delete` has removed it from the state"
	}
	return "`state rename` has renamed " + d.From.Name() + " to " + d.To.Name() + " in the state, and the program has not"
}

// key distinguishes the root causes of departures.
func (d *Departure) key() string {
	return "\x01" + string(d.By) + "\x01" + string(d.From) + "\x01" + string(d.To)
}

// root returns the kind of root cause of a departure.
func (d *Departure) root() Root {
	if d.By == DepartedByRefresh {
		return RootOutside
	}
	return RootCommand
}

// Departures are the resources that have left the state, by the names that they had there. The new name of a rename in the state is
// among them as well.
type Departures map[urn.URN]Departure

// Explains reports whether a decision about a resource with a reason follows from the departure.
func (d Departure) Explains(u urn.URN, reason stages.ReasonKind) bool {
	switch reason {
	case stages.ReasonNew:
		return d.By != DepartedByRename || d.From == u
	case stages.ReasonNotInProgram:
		return d.By == DepartedByRename && d.To == u
	}
	return false
}

// After returns the departures after an operation, which may be partly done. None is left once the stack itself is deleted.
func (d Departures) After(l *Log) Departures {
	out := Departures{}
	maps.Copy(out, d)
	for i := range l.Decisions {
		if d := &l.Decisions[i]; d.isLoss() && d.Fate == stages.FateDone {
			out[d.URN] = Departure{By: DepartedByRefresh}
		}
	}
	for i := range l.Decisions {
		d := &l.Decisions[i]
		if d.Op == stages.OpDelete && d.Fate == stages.FateDone && d.URN.IsRootStack() {
			return nil
		}
		if d.Op == stages.OpRefresh || d.isLoss() {
			continue
		}
		switch {
		case d.Fate == stages.FateDone && d.Op != stages.OpSame:
			delete(out, d.URN) // it is recorded again, or gone for another reason
		case d.Reason == stages.ReasonVanished && d.Op == stages.OpCreate:
			out[d.URN] = Departure{By: DepartedByRefresh} // the operation has read it, and not created it again
		}
	}
	return out
}
