package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Submitted is a request of a program, a registration or a read, whose program waits for the reply.
type Submitted struct {
	*PendingReply
	Register *RegisterRequest
	Read     *ReadRequest
	Internal *Goal // made by the engine: a default provider
	// Turn is the place of a request with [Ordered] among the others; nil for a request without.
	Turn *Turn
	// Caller is the context of the waiting call; nil for requests of the engine itself.
	Caller context.Context //nolint:containedctx // the item is gone when the call is
}

// String names the item for messages about a panic.
func (s Submitted) String() string {
	switch {
	case s.Register != nil:
		return fmt.Sprintf("%s %q", s.Register.Type, s.Register.Name)
	case s.Read != nil:
		return fmt.Sprintf("%s %q", s.Read.Type, s.Read.Name)
	}
	return fmt.Sprintf("%s %q", s.Internal.Type, s.Internal.Name)
}

// PendingReply is the reply that one item owes to its request. It is given exactly once: the outcome of a step, or an error if the
// item goes no further. The pipeline rejects it if a stage fails (pipeline.Rejecter).
type PendingReply struct {
	promise *await.Promise[*RegisterReply]
	// reportsResult is false for an SDK that understands no results but success.
	reportsResult bool
	extra         *atomic.Bool // of a reply made by [Registered.Also]: it has gone into the pipeline
}

// NewPendingReply returns a reply that has not been given. reportsResult is false for an SDK that understands no results but
// success.
func NewPendingReply(reportsResult bool) *PendingReply {
	return &PendingReply{promise: await.NewPromise[*RegisterReply](), reportsResult: reportsResult}
}

// Wait returns the answer, and waits for it if necessary.
func (q *PendingReply) Wait(ctx context.Context) (*RegisterReply, error) { return q.promise.Wait(ctx) }

// WaitUnder is Wait, but ends when answering ends, with its cause.
func (q *PendingReply) WaitUnder(ctx, answering context.Context) (*RegisterReply, error) {
	return q.promise.WaitUnder(ctx, answering)
}

// Reject answers the program with the error for which the item goes no further. It does nothing if the reply has been given, or for
// nil and the zero value, for which nobody waits.
func (q *PendingReply) Reject(err error) {
	if q == nil || q.promise == nil {
		return
	}
	if err == nil || errors.Is(err, pipeline.ErrStopped) || errors.As(err, new(*ReportedError)) {
		err = ErrShutDown
	}
	q.promise.Fail(err)
}

// Answer gives the program its reply.
func (q *PendingReply) Answer(r *RegisterReply) {
	if r.Result != Success && !q.reportsResult {
		q.promise.Fail(ErrRegistrationFailed)
		return
	}
	q.promise.Resolve(r)
}

// IsGiven reports whether the reply has been given.
func (q *PendingReply) IsGiven() bool { return q.promise.Decided() }

// Identity is the part of an item that stages must not change. Identities are comparable.
type Identity struct {
	reply *PendingReply
	kind  kind
	seq   int
	urn   urn.URN
	old   *state.Resource // of a delete
}

type kind uint8

const (
	kindNone kind = iota // neither a registration nor a read
	kindRegistration
	kindRead
	kindInternal
)

// URN returns the name of the resource; "" for an item that has none yet.
func (i Identity) URN() urn.URN { return i.urn }

// Seq returns the number of the registration; 0 for an item that has none yet.
func (i Identity) Seq() int { return i.seq }

// IsSettled reports whether the item may leave the pipeline: it has no number yet, and its program has the reply.
func (i Identity) IsSettled() bool { return i.seq == 0 && i.Owes() && i.reply.IsGiven() }

// Owes reports whether the item has a reply to give.
func (i Identity) Owes() bool { return i.reply != nil && i.reply.promise != nil }

// Enters reports whether the item was made by [Registered.Also] and is emitted for the first time. Only the first call returns
// true.
func (i Identity) Enters() bool {
	return i.reply != nil && i.reply.extra != nil && i.reply.extra.CompareAndSwap(false, true)
}

// Registered is a registration whose goal is complete, or a read.
type Registered struct {
	*PendingReply
	Goal     *Goal
	Read     *ReadGoal // not nil for a read; Goal is nil then
	Internal bool      // a default provider: neither shown nor counted
}

// String names the item for messages about a panic.
func (r Registered) String() string {
	if r.Goal == nil && r.Read == nil {
		return "a registration without a goal"
	}
	s := r.Subject()
	return fmt.Sprintf("%s %q", cmp.Or(s.Type, "a resource without a type"), s.Name)
}

// Also returns an additional registration, for a stage in the slot behind register to emit. The program has no part in it and gets
// no answer. The goal is complete: its provider is registered, and "" stands for the provider of this registration. A stage with
// one worker emits it in the same place of the order of arrival each time.
func (r Registered) Also(goal *Goal) Registered {
	if goal != nil && goal.Provider == "" && goal.IsManaged() && r.Goal != nil {
		own := *goal
		own.Provider = r.Goal.Provider
		goal = &own
	}
	reply := NewPendingReply(true)
	reply.extra = &atomic.Bool{}
	return Registered{PendingReply: reply, Goal: goal}
}

// IsManaged reports whether the item is a resource that the program declares and a provider manages: no read, no component, no
// provider. Only such an item has a Goal with inputs for a provider.
func (r Registered) IsManaged() bool { return r.Goal != nil && !r.Internal && r.Goal.IsManaged() }

// Identity returns the part that stages must not change.
func (r Registered) Identity() Identity {
	i := Identity{reply: r.PendingReply}
	switch {
	case r.Goal != nil && r.Internal:
		i.kind = kindInternal
	case r.Goal != nil:
		i.kind = kindRegistration
	case r.Read != nil:
		i.kind = kindRead
	}
	return i
}

// Precedence orders the resources of a program in a way that does not depend on when they are registered: by their places in the program,
// then by URN. Where several resources cause the same change, the first in this order is named.
type Precedence struct {
	Ordinal  int    // see [Ordered]
	Position string // the source position of the registration, if the program gives one
	URN      urn.URN
}

// Compare returns a negative number if p comes first, and a positive one if other does.
func (p Precedence) Compare(other Precedence) int {
	return cmp.Or(cmp.Compare(p.Ordinal, other.Ordinal), natural.Compare(p.Position, other.Position), cmp.Compare(p.URN, other.URN))
}

// Precedence returns the place of a registration in the order of causes.
func (l Located) Precedence() Precedence {
	p := Precedence{URN: l.URN}
	if l.Goal != nil {
		p.Ordinal, p.Position = l.Goal.Ordinal, l.Goal.SourcePosition
	}
	return p
}

// Validate returns an error for an item that cannot go through the pipeline: it needs a goal with a type, and a reply for the
// program.
func (r Registered) Validate() error {
	switch {
	case !r.Identity().Owes():
		return fmt.Errorf("%s has no PendingReply; emit what came in, changed, or make one with NewPendingReply", r)
	case (r.Goal == nil) == (r.Read == nil):
		return fmt.Errorf("%s needs either a Goal or a Read", r)
	case r.Goal != nil && (r.Goal.Type == "" || r.Goal.Custom && !r.Goal.Type.IsToken()):
		return fmt.Errorf("the type %q of the resource %q is not <package>:<module>:<type>; a Goal has what the resource needs", r.Goal.Type, r.Goal.Name)
	}
	return nil
}

// Subject returns what registrations and reads have in common.
func (r Registered) Subject() Subject {
	if r.Read != nil {
		return Subject{Parent: r.Read.Parent, Type: r.Read.Type, Name: r.Read.Name, Provider: r.Read.Provider}
	}
	return Subject{Parent: r.Goal.Parent, Type: r.Goal.Type, Name: r.Goal.Name, Aliases: r.Goal.Aliases, Provider: r.Goal.Provider}
}

// ReadGoal is a resource that a program reads and does not manage ([steps.md 4.1]).
//
// [steps.md 4.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#41-reads
type ReadGoal struct {
	Type                    urn.Type
	Name                    string
	ID                      property.Value
	Parent                  urn.URN
	Properties              property.Map
	Dependencies            []urn.URN
	Provider                string
	ExtensionRef            string
	AdditionalSecretOutputs []string
	SourcePosition          string
	StackTrace              []state.StackFrame
}

// Located is a registration with its URN and the recorded state that it continues.
type Located struct {
	Registered
	// Seq numbers registrations in order of arrival, from 1. Ties are broken by it, never by completion time.
	Seq int
	URN urn.URN
	// Old is the recorded state, nil for a resource that is new. It is never a copy awaiting deletion.
	Old *state.Resource
	// Claimed is the state of the base that Old is, or was before this run refreshed it. The graph and the claims refer to it. It
	// is nil when Old was imported by this run.
	Claimed *state.Resource
	// Origin is the origin of Old.
	Origin Origin
	// Course is what the run does with the registration.
	Course Course
	// Invalid is the error for which the registration must stop after its inputs have been checked; it has been reported.
	Invalid error
	// InterruptedCreate has the interrupted creates of the resource, nil if there are none.
	InterruptedCreate *InterruptedCreate
	// Alias is the old URN under which Old was found, "" if that is its own.
	Alias urn.URN
	// Supersedes reports whether an import has put another object in the place of the recorded one.
	Supersedes bool
	// Reply is the answer to the program if no step gives it. The program gets it after the item has passed all slots, so that a
	// stage can still refuse the item.
	Reply *RegisterReply
}

// IsManaged reports whether the run makes the item what the program declares by calls of a provider: it is no read, no component,
// no provider, and neither left out, bypassed nor failed.
func (l Located) IsManaged() bool { return l.Registered.IsManaged() && l.Course == Managed }

// String names the item for messages about a panic.
func (l Located) String() string { return string(l.URN) }

// Sequence is the number of the registration: errors are listed by it.
func (l Located) Sequence() int64 { return int64(l.Seq) }

// Identity returns the part that stages must not change.
func (l Located) Identity() Identity {
	i := l.Registered.Identity()
	i.seq, i.urn = l.Seq, l.URN
	return i
}

// Course is what a run does with a registration.
type Course uint8

// The courses.
const (
	// Managed is checked, compared, and made what the program declares.
	Managed Course = iota
	// LeftOut is not part of the operation (steps.md 6.2): it stays as it is.
	LeftOut
	// Bypassed is not made what the program declares, because the run refreshes or destroys (steps.md 7.4, 7.5). It is neither
	// checked nor compared.
	Bypassed
	// RefersToSkipped is bypassed because it refers to something that is not created. For reads this is the only reason.
	RefersToSkipped
	// ImportFailed could not be imported. It is only decided, because others may wait for its decision.
	ImportFailed
	// Refused has failed in a preview, which goes on with the others. It is only decided, as with ImportFailed.
	Refused
)

// HasFailed reports whether the registration has failed before a decision about it.
func (c Course) HasFailed() bool { return c == ImportFailed || c == Refused }

// IsBypassed reports whether the registration is not made what the program declares.
func (c Course) IsBypassed() bool { return c == Bypassed || c == RefersToSkipped }

// Origin is the origin of the old state of a registration.
type Origin uint8

// The origins.
const (
	// FromBase is the recorded state that the run began with.
	FromBase Origin = iota
	// ToReread is a recorded state that is read again before anything is decided.
	ToReread
	// FromImport was recorded by this run (steps.md 4.2).
	FromImport
)

// IsRenamed reports whether the recorded state has another name.
func (l Located) IsRenamed() bool { return l.Alias != "" }

// Checked is a registration whose inputs its provider has accepted.
type Checked struct {
	Located
	// Inputs are the checked inputs; for components those of the program.
	Inputs property.Map
	// Raw is true when Check was called without old inputs (steps.md 3.5).
	Raw        bool
	Seed       []byte
	Autonaming *providers.Autonaming
	// Accepted are the inputs as the provider accepted them, before analyzers rewrote any. Plans have these.
	Accepted property.Map
	// Violation is set if the registration is not as planned. It does not count if the resource is created again.
	Violation *PlanViolation
	// Unknown is set if the program's inputs are not known well enough to make the resource. Then no provider is called about them.
	Unknown *UnknownInputError
	// DeleteFirst is true if the resource's name has no random part (steps.md 3.5).
	DeleteFirst bool
}

// Analyzed is a registration that the analyzers have passed; its inputs may have been remediated.
type Analyzed struct {
	Checked
	// Violations are those that did not stop the registration.
	Violations []Violation
	// Remediated is true when an analyzer has rewritten the inputs.
	Remediated bool
}

// Diffed is a registration that has been compared with its recorded state.
type Diffed struct {
	Analyzed
	// Compared is false when there is nothing to compare with.
	Compared bool
	Diff     providers.DiffResponse
	// MustReplace is true if the comparison requires a replacement.
	MustReplace bool
	// Triggered is true when the replacement trigger fired, which replaces without details.
	Triggered bool
	// Rechecked are the inputs for the new object of a replacement: those of a second Check without old inputs.
	Rechecked *property.Map
	Reason    Reason
	// By is the part that has compared.
	By Decider
	// DeletedByClosure is true if the closure of another resource deletes the recorded state and the comparison with it still
	// counts, because the program has another name for the resource.
	DeletedByClosure bool
}

// Replaces reports whether the resource would be replaced.
func (d Diffed) Replaces() bool {
	if d.Old == nil {
		return false
	}
	changed := d.Diff.Changes == providers.DiffSome || d.IsPending()
	return changed && (d.MustReplace || d.Triggered || d.IsPending())
}

// IsPending reports whether the resource awaits replacement: it has been deleted, in this run or in an earlier one.
func (d Diffed) IsPending() bool { return d.Old.PendingReplacement || d.DeletedByClosure }

// Refuse returns the error with which a stage refuses the registration: the run stops, and the message is shown at the
// resource.
func (l Located) Refuse(message string) error {
	return &RefusedError{URN: l.URN, Message: message}
}

// NewState builds the state that a registration describes ([steps.md 3.2]). inputs are the checked ones.
//
// [steps.md 3.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#32-the-new-state
func (l Located) NewState(inputs Checked) *state.Resource {
	g := l.Goal
	s := &state.Resource{
		URN: l.URN, Custom: g.Custom, Type: g.Type, Inputs: inputs.Inputs, Parent: g.Parent,
		Protect: g.IsProtected(), Dependencies: g.Dependencies, Provider: g.Provider,
		PropertyDependencies: g.PropertyDependencies, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		CustomTimeouts: g.CustomTimeouts, ImportID: g.ImportID, RetainOnDelete: g.IsRetained(),
		DeletedWith: g.DeletedWith, ReplaceWith: g.ReplaceWith, SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
		IgnoreChanges: g.IgnoreChanges, HideDiff: g.HideDiff, ReplaceOnChanges: g.ReplaceOnChanges,
		ReplacementTrigger: g.ReplacementTrigger, ResourceHooks: g.ResourceHooks, ExtensionRef: g.ExtensionRef,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.Origin == FromImport {
		s.ReplacementTrigger = property.Null // as recorded by the import (steps.md 4.2)
	}
	if l.Old != nil {
		s.Created, s.Modified, s.RefreshBeforeUpdate = l.Old.Created, l.Old.Modified, l.Old.RefreshBeforeUpdate
	}
	return s
}

// Unmade returns the state of a registration or a read before anything is done.
func (l Located) Unmade(inputs Checked) *state.Resource {
	if l.Read != nil {
		return l.NewRead()
	}
	return l.NewState(inputs)
}

// NewRead returns the state of a read before it is made. If the ID is not known, it has none.
func (l Located) NewRead() *state.Resource {
	g := l.Read
	s := &state.Resource{
		URN: l.URN, Custom: true, Type: g.Type, ID: g.ID.AsString(), Inputs: g.Properties, Parent: g.Parent, External: true,
		Dependencies: g.Dependencies, Provider: g.Provider, ExtensionRef: g.ExtensionRef, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.Old != nil {
		s.Created, s.Modified = l.Old.Created, l.Old.Modified
	}
	return s
}

// RefusedError reports that a stage refused a registration.
type RefusedError struct {
	URN     urn.URN
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

// Built is a decision: the steps of one registration, with the tasks and deletes that they wait for.
type Built struct {
	Located
	// Tasks hold the steps. Each step is in one of them.
	Tasks []Task
	// After are deletes of other registrations that must be over before the first task begins: a resource is created again only
	// after its delete, and a dependency is deleted only after its dependents.
	After []Deletion
	// Refusal is the error for which the steps must not be executed, nil for almost all.
	Refusal error
	// KeepsGoing is true if a failure stops only the tasks that wait for this one.
	KeepsGoing bool
}

// Steps returns all steps, task by task.
func (b Built) Steps() []*Decision {
	if len(b.Tasks) == 1 {
		return b.Tasks[0].Steps
	}
	var steps []*Decision
	for _, t := range b.Tasks {
		steps = append(steps, t.Steps...)
	}
	return steps
}

// Deletes returns the deletes of the item, in the order of its tasks; none if its steps are not executed.
func (b Built) Deletes() []Deleting {
	if b.Refusal != nil {
		return nil
	}
	return DeletesIn(b.Steps())
}

// Deletion is the task by which a delete-before-replace deletes a recorded state.
type Deletion struct {
	Task graph.ID
	URN  urn.URN
	Root int // number of the registration that the delete belongs to
}

// InterruptedCreate describes the interrupted creates of one URN ([state.md 9.4] R-6).
//
// [state.md 9.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#94-promises
type InterruptedCreate struct {
	URN urn.URN
	// Open is true if one of them may have made an object that is not recorded. Again is true if another object may be made.
	Open, Again bool
}

// ResolvedBy returns the URN of interrupted creates for [Decision.Resolves]; "" for none.
func ResolvedBy(i *InterruptedCreate) urn.URN {
	if i == nil {
		return ""
	}
	return i.URN
}

// Task is a list of steps that are executed one after the other, once the tasks that it comes after have succeeded. A task without
// steps only passes order on from one task to another. IDs follow the order of decisions; if more tasks are ready than may begin,
// the lowest comes first.
type Task struct {
	ID    graph.ID
	Steps []*Decision
	After []graph.ID
}

// Executed is a registration whose steps are done. The program has its answer.
type Executed struct {
	Seq   int // number of the registration
	URN   urn.URN
	Steps []*Decision
	Err   error // of the step that failed, nil when all succeeded
	// Deleted are those deletes among the steps that have begun.
	Deleted []Deleted
}

// String names the item for messages about a panic.
func (e Executed) String() string { return string(e.URN) }

// Sequence is the number of the registration: errors are listed by it.
func (e Executed) Sequence() int64 { return int64(e.Seq) }

// Identity returns the part that stages must not change.
func (e Executed) Identity() Identity { return Identity{seq: e.Seq, urn: e.URN} }

// Subject is what registrations and reads have in common.
type Subject struct {
	Parent  urn.URN
	Type    urn.Type
	Name    string
	Aliases []urn.Alias
	// Provider is the reference of the provider.
	Provider string
}
