package backend

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/location"
)

// NotFoundError reports that there is no such stack.
type NotFoundError struct {
	Name   string
	Backup string // a .bak file that is left of it; "" if there is none
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("no stack named '%s' found", e.Name)
	if e.Backup != "" {
		s += fmt.Sprintf("; its previous state is still in %s", e.Backup)
	}
	return s
}

// ExistsError reports that a stack of that name exists.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string { return fmt.Sprintf("stack '%s' already exists", e.Name) }

// VersionError reports that the state after an operation of a stack is not kept.
type VersionError struct {
	Stack         string
	Version, Last int // Last is the number of the newest operation in the history; 0 if there is none
}

func (e *VersionError) Error() string {
	switch {
	case e.Last == 0:
		return fmt.Sprintf("stack '%s' has no version %d: its history has no operations", e.Stack, e.Version)
	case e.Version < 1 || e.Version > e.Last:
		return fmt.Sprintf("stack '%s' has no version %d: its history has the versions 1 to %d", e.Stack, e.Version, e.Last)
	}
	return fmt.Sprintf("stack '%s': the state of version %d is not kept: the history records the operation, but has no copy of the stack file", e.Stack, e.Version)
}

// Advice suggests listing the versions.
func (e *VersionError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.ListVersions)}
}

// ErrUnsaved matches errors after which the state of a stack is not saved in its backend. It has no text of its own.
var ErrUnsaved = errors.New("the state was not saved")

// NotEmptyError reports that a stack that is to be removed has resources.
type NotEmptyError struct {
	Name      string
	Resources int
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("'%s' still has resources; removal rejected: there are %d, destroy them first", e.Name, e.Resources)
}

// Advice suggests forgetting the resources.
func (e *NotEmptyError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.ForgetResources)}
}

// Candidate is an older state that a damaged one can be restored from.
type Candidate struct {
	Path string
	Time time.Time // when it was written
}

// CorruptError reports that a stack file cannot be read, and which files can replace it ([state.md 4.13]).
//
// [state.md 4.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#413-damage
type CorruptError struct {
	Stack      string
	File       string
	Candidates []Candidate // the newest first
	Err        error       // names the file
}

func (e *CorruptError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the state cannot be read: %v", e.Err)
	if len(e.Candidates) == 0 {
		b.WriteString("\nno older copy of it was found")
		return b.String()
	}
	b.WriteString("\nolder copies to restore it from:")
	for _, c := range e.Candidates {
		fmt.Fprintf(&b, "\n  %s (%s)", c.Path, c.Time.Format(time.RFC3339))
	}
	return b.String()
}

// Advice suggests importing one of the older copies.
func (e *CorruptError) Advice() []advice.Advice {
	if len(e.Candidates) == 0 {
		return nil
	}
	return []advice.Advice{{Action: advice.RestoreState, Stack: e.Stack}}
}

func (e *CorruptError) Unwrap() error { return e.Err }

// InvalidStateError reports that a stack file can be read, but breaks an integrity rule ([state.md 1.14]).
//
// [state.md 1.14]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#114-integrity
type InvalidStateError struct {
	File string
	Err  error // a *state.IntegrityError
}

func (e *InvalidStateError) Error() string {
	problem := e.Err.Error()
	var broken *state.IntegrityError
	if errors.As(e.Err, &broken) {
		problem = fmt.Sprintf("%s (rule %s)", broken.Problem, broken.Rule)
	}
	return fmt.Sprintf("snapshot integrity failure; refusing to use it: %s: %s", e.File, problem)
}

// Advice suggests repairing the state.
func (e *InvalidStateError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.RepairState)}
}

func (e *InvalidStateError) Unwrap() error { return e.Err }

// StaleStateError reports that a state was not written because it does not come from the present state of the stack, whose changes
// would be lost.
type StaleStateError struct {
	Ref  Ref
	File string // the stack file
	// Made is true if the state to write was not loaded at all.
	Made bool
	Err  error // the refusal of the store, if the store noticed it; may be nil
}

func (e *StaleStateError) Error() string {
	why := fmt.Sprintf("%s has been written by somebody else since this state was loaded from it", e.File)
	if e.Made {
		why = fmt.Sprintf("this state was not loaded from %s, which holds one already", e.File)
	}
	return fmt.Sprintf("%s, and is left as it is: load the state of stack %s again under its lock, and repeat the change", why, e.Ref)
}

func (e *StaleStateError) Unwrap() error { return e.Err }

// ErrLegacy is the error for adding a stack to a store of the old layout ([state.md 4.3]).
//
// [state.md 4.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#43-layout-versions
var ErrLegacy = advice.With(errors.New("this store has the layout of old Pulumi versions, to which no stack is added"),
	advice.On(advice.UpgradeStore))

// ErrScheme is wrapped by the error for backends that cannot be used.
var ErrScheme = location.ErrScheme
