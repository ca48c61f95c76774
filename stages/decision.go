package stages

import (
	"cmp"
	"math"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Decision is one step that was decided on ([steps.md 8]): what is to be done to one resource, and why. It is immutable once it has
// been emitted. Its result is an [Outcome].
//
// [steps.md 8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#8-steps
type Decision struct {
	// StepInfo describes the step. New is the wanted state; the resulting state is in the outcome.
	StepInfo
	Rank
	Kind DecisionKind
	// Answers is true for the decision whose end answers its registration.
	Answers bool
	// Declared is the URN under which the program of this run has registered the resource. A resource that stays as it is
	// keeps its old name.
	Declared urn.URN
	// Superseded is the recorded state that an import replaces, also if Old does not name it because a delete-before-replace of
	// something else deletes it.
	Superseded *state.Resource
	// Resolves is the URN of the interrupted creates that are resolved once the step has recorded something; "" for almost all
	// decisions.
	Resolves urn.URN
	// Import is the object that an import without a program records, nil for other steps.
	Import *ImportOrder
	// View is the view step that a provider has published, nil for other steps.
	View *ViewOrder
}

// Rank is the place of a decision in the order of a run: that of the plan, of logs and of errors. It never depends on timing.
type Rank struct {
	// Seq is the number of the registration, or [EndPhaseSeq]. Place is the place among the decisions of the registration, and
	// Sub that of a view among those that were published during one step.
	Seq, Place, Sub int
}

// DecisionKind distinguishes decisions with the same Op.
type DecisionKind uint8

// The kinds of decisions.
const (
	// Plain is a step as its Op defines it.
	Plain DecisionKind = iota
	// Kept leaves a recorded state as it is, although the program may declare something else.
	Kept
	// Provisional is Kept because something refers to the state. It takes effect only if no registration continues the state.
	Provisional
	// Uncreated is a resource that is declared and not created, because it is not part of the operation.
	Uncreated
	// DeletedFirst is the delete of a delete-before-replace: the state stays and waits for its replacement.
	DeletedFirst
	// NotCalled is a create of a preview without a call of the provider, which would refuse it.
	NotCalled
)

// IsKept reports whether the decision leaves a recorded state as it is.
func (d *Decision) IsKept() bool { return d.Kind == Kept || d.Kind == Provisional }

// IsRead reports whether the decision reads a resource that the stack does not manage.
func (d *Decision) IsRead() bool { return d.Op == OpRead || d.Op == OpReadReplacement }

// ImportOrder is one object that an import without a program records.
type ImportOrder struct {
	ImportRequest
	Provider urn.URN // of the provider resource, "" for none
	Seed     []byte  // of its Check
}

// ViewOrder is the data of a view step, which has no call.
type ViewOrder struct {
	Op     Op // as it was published: a step of a refresh has another one
	Status providers.ViewStatus
	Err    error   // of the provider
	Owner  urn.URN // the resource that the view belongs to
}

// Fate is how a decision ended.
type Fate string

// The fates of decisions. fateMoves has the allowed changes.
const (
	// FateDone is a success. In a preview it is a step that could be done.
	FateDone Fate = ""
	// FateNotReached has not begun. At the end of a run it means that the run stopped before the step.
	FateNotReached Fate = "not-reached"
	// FateBegun is under way.
	FateBegun Fate = "begun"
	// FateFailed was tried and failed.
	FateFailed Fate = "failed"
	// FateSkipped was not tried, because something that it depends on failed.
	FateSkipped Fate = "skipped"
)

// fateMoves has the fates that may follow each fate. A step that carries a state forward succeeds without having begun, and a
// refused step fails without having begun.
var fateMoves = map[Fate][]Fate{
	FateNotReached: {FateBegun, FateSkipped, FateFailed, FateDone},
	FateBegun:      {FateDone, FateFailed},
}

// MayBecome reports whether one fate may follow another.
func (f Fate) MayBecome(next Fate) bool {
	for _, to := range fateMoves[f] {
		if to == next {
			return true
		}
	}
	return false
}

// Outcome is the result of a decision.
type Outcome struct {
	Fate Fate
	// Made is the state that the step has produced, also if it has failed half way; nil if it has not produced any.
	Made *state.Resource
	// Found is the step as a refresh found it; nil for other steps.
	Found *StepInfo
}

// Step is a decision with its outcome.
type Step struct {
	*Decision
	Outcome
}

// Shown returns the step as it is reported: with the state that it has produced, or the result of a refresh.
func (s Step) Shown() StepInfo {
	info := s.StepInfo
	if s.Found != nil {
		info = *s.Found
	}
	if s.Made != nil {
		info.New = s.Made
	}
	return info
}

// EndPhaseSeq is the number of decisions that are made after all registrations.
const EndPhaseSeq = math.MaxInt

// ImportPlace is the place of an import's steps among those of its registration: before the steps that the comparison with the
// imported object requires.
const ImportPlace = -2

// CarriedForwardStep leaves a recorded state as it is.
func CarriedForwardStep(res *state.Resource) *Decision {
	return &Decision{StepInfo: StepInfo{
		Op: OpSame, URN: res.URN, Type: res.Type, Old: res, New: res, Provider: res.Provider, Internal: res.URN.IsDefaultProvider(),
		Reason: Reason{Kind: ReasonNotTargeted},
	}, Kind: Kept}
}

// Decided is one decision of a run, whether or not its step was executed, once the run is over.
type Decided struct {
	*StepInfo
	Fate Fate
	// FailedDependency is the failed resource because of which it was skipped.
	FailedDependency urn.URN
	// Declared is the registration that it was decided with, "" if there is none.
	Declared urn.URN
	// Wanted is the state that was decided on. [StepInfo.New] may be another one if the step has failed half way.
	Wanted *state.Resource
}

// Compare returns a negative number if a comes before b, a positive one if it comes after b, and 0 if both are the same.
func (a Rank) Compare(b Rank) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Sub, b.Sub))
}

// ForView makes a step for a view of the decision's resource.
func (d *Decision) ForView(op Op) *Decision {
	return &Decision{
		StepInfo: StepInfo{Op: op, Internal: d.Internal, Reason: Reason{Kind: ReasonView, Cause: d.URN}}, Rank: d.Rank,
		View: &ViewOrder{Op: op, Owner: d.URN},
	}
}
