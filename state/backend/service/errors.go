package service

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// ErrLoggedOut is the error for a service without an access token.
var ErrLoggedOut = advice.With(errors.New("there is no access token for the service"), advice.On(advice.LogInToService))

// BusyError reports that another update of the stack runs.
type BusyError struct {
	Ref  backend.Ref
	Kind string // of the update; "" if it is unknown
	Who  string // the author of the update
}

func (e *BusyError) Error() string {
	who := ""
	if e.Who != "" {
		who = fmt.Sprintf(" (%s, by %s)", e.Kind, e.Who)
	}
	return fmt.Sprintf("the stack %s is currently being updated by somebody else%s; wait for it to end", e.Ref, who)
}

// Advice suggests cancelling an update that no process carries out any more.
func (e *BusyError) Advice() []advice.Advice { return []advice.Advice{advice.On(advice.CancelDead)} }

// LeaseError reports that the lease of an operation was lost.
type LeaseError struct {
	Ref    backend.Ref
	Reason error
}

func (e *LeaseError) Error() string {
	why := ""
	if api.Is(e.Reason, http.StatusForbidden) {
		why = ", perhaps because somebody has cancelled the update"
	}
	return fmt.Sprintf("the service has ended the right to update stack %s%s: %v; no further operation is started", e.Ref, why, e.Reason)
}

func (e *LeaseError) Unwrap() error { return e.Reason }

// OperationError reports that the service knows no operation with an ID.
type OperationError struct {
	Ref    backend.Ref
	ID     string
	Reason error
}

func (e *OperationError) Error() string {
	return fmt.Sprintf("the service knows no operation %q on the stack %s; give its ID, which is not its number in the history: %v", e.ID, e.Ref, e.Reason)
}

func (e *OperationError) Unwrap() error { return e.Reason }

// TransferError reports that a new name is in another organization.
type TransferError struct {
	From, To backend.Ref
	Page     string // where the organization can be changed; "" if that is unknown
}

func (e *TransferError) Error() string {
	at := "the service's console"
	if e.Page != "" {
		at = e.Page
	}
	same := e.To
	same.Owner = e.From.Owner
	return fmt.Sprintf("a stack of the service keeps its organization: %s cannot become %s; name it %s, or transfer it at %s", e.From, e.To, same, at)
}

// PoliciesError reports that an operation must be held to policies, and that its caller does not support them.
type PoliciesError struct {
	Ref      backend.Ref
	Policies []backend.RequiredPolicy
}

func (e *PoliciesError) Error() string {
	names := make([]string, len(e.Policies))
	for i, p := range e.Policies {
		names[i] = p.Name + " " + p.Version
	}
	return fmt.Sprintf("operations on stack %s must be held to the policy packs %s, and this one would not be, so nothing was done; "+
		"call Begin of the stack, and give the operation the packs that its result names", e.Ref, strings.Join(names, ", "))
}

// ContradictionError reports that some answers of a service contradict each other.
type ContradictionError struct {
	Ref            backend.Ref
	Host           string
	Before, Answer string // the earlier answer, and this one
}

func (e *ContradictionError) Error() string {
	return fmt.Sprintf("the service at %s contradicts itself about stack %s: %s, but %s; nothing more is done with the stack; try again, and if that does not "+
		"help, ask the operator of the service", e.Host, e.Ref, e.Before, e.Answer)
}

// isDoubtful reports whether a request has an uncertain outcome: no answer came, or one that cannot be true.
func isDoubtful(err error) bool {
	return errors.As(err, new(*ContradictionError)) || errors.As(err, new(*api.WrongAnswerError))
}

// UnsentError reports that the service does not have all changes of an operation.
type UnsentError struct {
	Ref  backend.Ref
	File string // the working copy, which has them
	Err  error  // why they were not sent
}

func (e *UnsentError) Error() string {
	return fmt.Sprintf("what was done to stack %s is recorded on this machine, in %s, and not yet at the service: %v", e.Ref, e.File, e.Err)
}

// Advice suggests the command that sends the changes.
func (e *UnsentError) Advice() []advice.Advice { return []advice.Advice{advice.On(advice.SendState)} }

func (e *UnsentError) Unwrap() error { return e.Err }

// Is reports that the error is [backend.ErrUnsaved].
func (e *UnsentError) Is(target error) bool { return target == backend.ErrUnsaved }

// OvertakenError reports that another update of a stack came before the changes of an operation were sent.
type OvertakenError struct {
	Ref  backend.Ref
	File string // the working copy
}

func (e *OvertakenError) Error() string {
	return fmt.Sprintf("an operation on stack %s has recorded on this machine, in %s, what it could not send to the service, and the stack "+
		"was updated by somebody else since; it was not sent", e.Ref, e.File)
}

// Advice suggests how to decide between the two.
func (e *OvertakenError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.DiscardState)}
}
