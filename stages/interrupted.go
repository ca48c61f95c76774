package stages

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// interruptions are the creates that earlier runs began and whose end nobody knows, by URN (state.md 9.4 R-6). They are found before
// the program starts; which of them there are does not change then.
type interruptions struct {
	byURN map[urn.URN]*interruption

	mu sync.Mutex // guards the creates of each
}

// interruption is what is to be known about the interrupted creates of one URN.
type interruption struct {
	urn urn.URN
	// open is true when one of them may have made an object that is not recorded, again when another one may be made.
	open, again bool
	creates     []*state.Resource // those that are not settled
}

// newInterruptions finds the interrupted creates among pending operations.
func newInterruptions(pending []state.Pending, again map[*state.Resource]bool, b *base) *interruptions {
	d := &interruptions{byURN: map[urn.URN]*interruption{}}
	for _, op := range pending {
		if op.Type != state.Creating {
			continue
		}
		u := op.Resource.URN
		of := d.byURN[u]
		if of == nil {
			of = &interruption{urn: u, again: true}
			d.byURN[u] = of
		}
		of.creates = append(of.creates, op.Resource)
		of.open = of.open || !isMoot(op.Resource) && !b.hasObject(op.Resource)
		of.again = of.again && (again[op.Resource] || isMoot(op.Resource))
	}
	return d
}

// isMoot tells whether the create of a resource makes nothing outside the state, so that there is nothing to be in doubt about.
func isMoot(res *state.Resource) bool {
	return !res.Custom || res.Type.IsProvider() || res.Type.Package() == builtinPackage
}

// hasObject tells whether the object of a resource is recorded under its URN.
func (b *base) hasObject(res *state.Resource) bool {
	return res.ID != "" && slices.ContainsFunc(b.all[res.URN], func(r *state.Resource) bool { return r.ID == res.ID })
}

// interruptionOf returns the interrupted creates of what a registration or a read declares, under its own URN or a former one;
// nil if there are none. The names must be locked.
func (r *Run) interruptionOf(l *Located, who urn.Subject, aliases []urn.Alias) *interruption {
	if len(r.interruptions.byURN) == 0 {
		return nil
	}
	if d := r.interruptions.byURN[l.URN]; d != nil {
		return d
	}
	for _, a := range urn.ExpandAliases(who, aliases, r.names.matched) {
		if d := r.interruptions.byURN[a]; d != nil {
			return d
		}
	}
	return nil
}

// InterruptedCreateError says that a resource was not created, because nobody knows whether an earlier operation has done it.
type InterruptedCreateError struct {
	URN urn.URN
	// Interrupted is the URN that the earlier operation knew the resource by.
	Interrupted urn.URN
}

func (e *InterruptedCreateError) Error() string {
	name := shellQuote(string(e.Interrupted))
	return fmt.Sprintf("%s is not created: an earlier operation was interrupted while creating %s, and nobody knows whether the object exists.\n"+
		"    `sluice recover` finds out, or asks\n"+
		"    --import-pending-creates %s --import-pending-creates ID  records the object that was made\n"+
		"    --pending-creates=clear   forgets what was interrupted: nothing was made\n"+
		"    --pending-creates=create  makes another object, whatever was made",
		e.URN, formerName(e), name)
}

func formerName(e *InterruptedCreateError) string {
	if e.URN == e.Interrupted {
		return "it"
	}
	return "it as " + string(e.Interrupted)
}

// doubtful says why the steps of a registration must not be taken: they would create what may exist already. A preview shows
// what would be done all the same, and that it would fail; nothing is asked of the provider. Steps that settle the doubt learn
// that they do.
func (r *Run) doubtful(d Diffed, steps []*Decision) error {
	if d.interrupted == nil || d.imported {
		return nil
	}
	for _, s := range steps {
		switch s.Op {
		case OpCreate, OpCreateReplacement, OpRead, OpReadReplacement:
		default:
			continue
		}
		switch {
		case !s.Answers:
		case d.interrupted.again:
			s.Settles = d.interrupted.urn
		case !d.interrupted.open || s.IsRead():
		case r.DryRun():
			s.Kind = Unasked
			err := &InterruptedCreateError{URN: d.URN, Interrupted: d.interrupted.urn}
			r.diagnose(d.URN, Error, codePreviewFailed, err.Error())
			r.failures.add(Failure{Seq: d.Seq, URN: d.URN, Err: err})
		default:
			return &InterruptedCreateError{URN: d.URN, Interrupted: d.interrupted.urn}
		}
	}
	return nil
}

// name is the URN of the creates; "" if there are none.
func (i *interruption) name() urn.URN {
	if i == nil {
		return ""
	}
	return i.urn
}

// settle records that the interrupted creates of a URN need not be known of any more.
func (r *Run) settle(u urn.URN) error {
	d := r.interruptions.byURN[u]
	r.interruptions.mu.Lock()
	creates := d.creates
	d.creates = nil
	r.interruptions.mu.Unlock()
	for _, begun := range creates {
		if err := r.endCreate(r.operations, begun); err != nil {
			return err
		}
	}
	return nil
}
