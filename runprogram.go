package sluice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// runsProgram tells whether the operation runs the program.
func (s *session) runsProgram() bool {
	return !s.op.isImport() && (s.op.mode == stages.ModeUpdate || s.options.RunProgram)
}

// refreshesEach tells whether resources are read when the program registers them, and not before it starts.
func (s *session) refreshesEach() bool {
	return s.options.RunProgram && (s.op.mode == stages.ModeRefresh || s.op.mode == stages.ModeUpdate && s.options.Refresh)
}

// refresh does what comes before the program: it reads what the operation wants to know anew (steps.md 7.1, 7.2), and
// settles what is to be done about interrupted creates.
func (s *session) refresh() error {
	r := s.deployment
	if s.op.isImport() {
		return r.ResolveCreates(s.operations, nil)
	}
	if s.op.mode != stages.ModeUpdate {
		if err := r.CheckTargets(); err != nil {
			return err
		}
	}
	if err := s.refreshRecorded(); err != nil {
		return err
	}
	if !s.op.recovers {
		return r.ResolveCreates(s.operations, s.options.ResolveCreate)
	}
	return r.ResolveCreates(s.operations, func(op state.Pending) stages.CreateResolution {
		res := s.options.ResolveCreate(op)
		if res.ID == "" {
			id, absent := r.FindCreated(op)
			return stages.CreateResolution{Clear: res.Clear || absent, ID: id}
		}
		return res
	})
}

func (s *session) refreshRecorded() error {
	r := s.deployment
	selected := r.Refreshable()
	switch {
	case s.op.recovers:
		return r.SettleChanges(s.operations)
	case s.refreshesEach():
		return nil
	case s.op.mode == stages.ModeRefresh, s.options.Refresh:
		return r.Refresh(s.operations, selected)
	case !slices.ContainsFunc(s.base.Resources, needsRefresh):
		return nil
	}
	return r.Refresh(s.operations, func(res *state.Resource) bool {
		in := selected(res)                  // it grows by what it is asked about
		return in && res.RefreshBeforeUpdate // old copies, too, which alone are no cause for reading anything
	})
}

// needsRefresh reports whether a provider asked for the state to be read before every update (steps.md 3.15).
func needsRefresh(r *state.Resource) bool { return r.RefreshBeforeUpdate && !r.Delete }

// refuseHooks stops a destroy that would have to run delete hooks, which live in the program (steps.md 7.5).
func (s *session) refuseHooks() error {
	if s.op.mode != stages.ModeDestroy || s.runsProgram() {
		return nil
	}
	var all *multierror.Error
	for _, r := range s.base.Resources {
		if names := slices.Concat(r.ResourceHooks["BeforeDelete"], r.ResourceHooks["AfterDelete"]); len(names) > 0 {
			all = multierror.Append(all, fmt.Errorf("%s: Resource has delete hooks registered, but the program is not running. Hooks: %s",
				r.URN, strings.Join(names, ", ")))
		}
	}
	if all.ErrorOrNil() == nil {
		return nil
	}
	return multierror.Append(all, errors.New("You must run with the `--run-program` flag to use delete hooks during destroy."))
}
