package rooms

import (
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Omissions is the room of the resources that a program declares and does not register, because something failed. Any stage may
// read it; [OmissionsWriter] writes it. It is safe for concurrent use.
type Omissions struct {
	mu        sync.Mutex
	causes    map[urn.URN]urn.URN // of the resources, by their new and former names
	decisions []*stages.Decision
}

// OmissionsWriter records the resources that a program does not register. Only the monitor has it.
type OmissionsWriter struct {
	rooms     *Rooms
	omissions *Omissions
}

func newOmissions(rooms *Rooms) (*Omissions, *OmissionsWriter) {
	o := &Omissions{causes: map[urn.URN]urn.URN{}}
	return o, &OmissionsWriter{rooms, o}
}

// Add records that the program declares a resource and does not register it, because others were not made, or because an expression of the
// program failed if no others are given. The resource is skipped; the cause is [Failures.FirstCause] of the others. Add returns the URN of the
// resource. A refresh or a destroy makes nothing, and skips nothing.
func (w *OmissionsWriter) Add(req *stages.RegisterRequest, because []urn.URN) urn.URN {
	rooms := w.rooms
	who := urn.Subject{Stack: rooms.root.Stack(), Project: rooms.root.Project(), Type: req.Type, Name: req.Name, Parent: req.Parent}
	u := who.URN()
	if rooms.Mode != stages.ModeUpdate {
		return u
	}
	cause, failed := rooms.Failures.FirstCause(because...)
	failed = failed || len(because) == 0
	if _, known := rooms.Failures.Of(u); known || !failed || rooms.Names.IsSeen(u) {
		return u
	}
	d := &stages.Decision{Rank: stages.Rank{Seq: stages.EndPhaseSeq}, StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: u, Type: req.Type, Reason: stages.Reason{Kind: stages.ReasonOmitted, Cause: cause},
	}, Declared: u}
	names := []urn.URN{u}
	if old := rooms.Names.recordedFor(who, req.Aliases); old != nil {
		names = append(names, old.URN)
		d.Op, d.Old, d.New, d.Provider = stages.OpSame, old, old, old.Provider
	}
	w.omissions.add(d, names, cause)
	return u
}

// add adds a decision once. The first cause of a name stays.
func (o *Omissions) add(d *stages.Decision, names []urn.URN, cause urn.URN) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.causes[d.URN]; known {
		return
	}
	o.decisions = append(o.decisions, d)
	for _, u := range names {
		if _, known := o.causes[u]; !known {
			o.causes[u] = cause
		}
	}
}

// causeOf is [Failures.Of] for omitted resources.
func (o *Omissions) causeOf(u urn.URN) (cause urn.URN, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	cause, ok = o.causes[u]
	return cause, ok
}

// areAny reports whether the program has omitted something.
func (o *Omissions) areAny() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.decisions) > 0
}

// all returns the decisions about omitted resources, in no particular order.
func (o *Omissions) all() []*stages.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.decisions)
}
