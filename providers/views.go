package providers

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// View is the state of a view: a state that a provider publishes below a resource that it manages, and that no program
// registers ([steps.md 9.9]). The type and the name distinguish the views of one resource.
//
// [steps.md 9.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#99-views
type View struct {
	Type urn.Type
	Name string
	// ParentType and ParentName name the view below which this one was recorded; empty for one right below the resource.
	// New views are always recorded right below the resource.
	ParentType      urn.Type
	ParentName      string
	Inputs, Outputs property.Map
}

// ViewOp is the operation on a view.
type ViewOp int

// The kinds of view steps, with their numbers on the wire ([protocol.md 3.13]).
//
// [protocol.md 3.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#313-views
const (
	ViewSame ViewOp = iota + 1
	ViewCreate
	ViewUpdate
	ViewDelete
	ViewReplace // a marker, like the step of that name
	ViewCreateReplacement
	ViewDeleteReplaced
	ViewRead
	ViewReadReplacement
	ViewRefresh
	ViewDiscard
	ViewDiscardReplaced
	ViewRemovePendingReplace
	ViewImport
	ViewImportReplacement
)

// ViewStatus is the state of a view after a failed step.
type ViewStatus int

// The states of failed view steps, with their numbers on the wire.
const (
	ViewOK             ViewStatus = iota // nothing happened
	ViewPartialFailure                   // the new state is the present one
	ViewUnknown                          // the present state is unknown
)

// ViewStep is a step of one view. The provider has done it; the engine shows and records it.
type ViewStep struct {
	Op     ViewOp
	Error  string // the error of the step; "" if it succeeded. A failed one fails the step of the resource
	Status ViewStatus
	// Old is the view before the step: one of the request's OldViews, or one that was published since. New is the view
	// after it.
	Old, New     *View
	Keys         []string // the properties that made a replacement necessary
	Diffs        []string // the properties that changed
	DetailedDiff map[string]PropertyDiff
}

// Status publishes the views of a resource during a call of Create, Read, Update or Delete ([steps.md 9.9]). It is nil
// where views are not accepted. Its methods may be called from many goroutines.
//
// [steps.md 9.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#99-views
type Status interface {
	// Publish records steps of views, in this order, also in previews. It returns when they are durable. Publishing after
	// the call has returned is an error, and so is an invalid step; in both cases no step is recorded.
	Publish(ctx context.Context, steps ...ViewStep) error
	// Token lets a provider in another process publish through the gRPC service pulumirpc.ResourceStatus until the call
	// returns. Without a server for other processes the error wraps [ErrUnserved].
	Token() (StatusToken, error)
}

// StatusToken names a [Status] to other processes. The zero value is none.
type StatusToken struct {
	Address string // of the service, "127.0.0.1:<port>"
	Token   string
}
