package stages

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// The types of hooks, as states name them (state.md 1.6).
const (
	beforeCreate = "BeforeCreate"
	afterCreate  = "AfterCreate"
	beforeUpdate = "BeforeUpdate"
	afterUpdate  = "AfterUpdate"
	beforeDelete = "BeforeDelete"
	afterDelete  = "AfterDelete"
	onError      = "OnError"
)

// maxRetries is how often an error hook may ask for another try (steps.md 9.6).
const maxRetries = 100

// RegisterHook makes a lifecycle hook known under its name.
func (m *monitor) RegisterHook(_ context.Context, h Hook) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.nameIsFree(h.Name); err != nil {
		return err
	}
	m.hooks[h.Name] = h
	return nil
}

// RegisterErrorHook makes an error hook known under its name. Names are unique across both kinds.
func (m *monitor) RegisterErrorHook(_ context.Context, h ErrorHook) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.nameIsFree(h.Name); err != nil {
		return err
	}
	m.errorHooks[h.Name] = h
	return nil
}

func (m *monitor) nameIsFree(name string) error {
	if name == "" {
		return invalid("resource hook name cannot be empty")
	}
	_, hook := m.hooks[name]
	_, errorHook := m.errorHooks[name]
	if hook || errorHook {
		return invalid("resource hook already registered for name %q", name)
	}
	return nil
}

func (m *monitor) hook(name string) (Hook, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.hooks[name]
	return h, ok
}

func (m *monitor) errorHook(name string) (ErrorHook, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.errorHooks[name]
	return h, ok
}

// runHooks runs a resource's hooks of one type, in their order. A failing hook ends it, unless its errors are ignored.
func (r *Run) runHooks(kind string, of *state.Resource, in HookInput) error {
	for _, name := range of.ResourceHooks[kind] {
		h, ok := r.monitor.hook(name)
		if !ok {
			return fmt.Errorf("hook %q was not registered", name)
		}
		if r.DryRun() && !h.OnDryRun {
			continue
		}
		err := h.Run(r.operations, in)
		switch {
		case err == nil:
		case h.IgnoreErrors:
			r.warn(of.URN, "%s hook %q failed: %s", kind, name, err)
		default:
			return hookError(kind, name, err)
		}
	}
	return nil
}

func hookError(kind, name string, err error) error {
	switch kind {
	case afterCreate, afterUpdate, afterDelete:
		return fmt.Errorf("after hook %q failed: %w", name, err)
	}
	return fmt.Errorf("before hook %q failed: %w", name, err)
}

// runAfterHooks runs hooks after what they follow has happened: their errors fail the run and not the step.
func (r *Run) runAfterHooks(kind string, s *taking, of *state.Resource, in HookInput) {
	if err := r.runHooks(kind, of, in); err != nil {
		r.diagnose(of.URN, Error, 0, err.Error())
		r.failures.add(Failure{Seq: s.Seq, URN: of.URN, Err: err})
		if !r.ContinueOnError {
			s.stopped = true
			r.Halt()
		}
	}
}

// retrying calls f until it succeeds or no error hook asks for another try. When the run has been stopped there is no other
// try: somebody waits for what runs to end. Nor is there one when nobody knows what this one has done: a create could make a
// second object (state.md 9.4 R-6).
func (r *Run) retrying(operation string, of *state.Resource, in HookInput, f func() error) error {
	names := of.ResourceHooks[onError]
	in.FailedOperation = operation
	for {
		err := f()
		if err == nil || len(names) == 0 {
			return err
		}
		in.Errors = append([]string{err.Error()}, in.Errors...)
		if len(in.Errors) >= maxRetries {
			r.warn(of.URN, "maximum number of error hook retries (%d) reached", maxRetries)
			return err
		}
		again, hookErr := r.askErrorHooks(names, in)
		if hookErr != nil {
			return &errorHookError{operation: operation, err: err, hook: hookErr}
		}
		if !again || r.IsHalted() || isLost(err) {
			return err
		}
		r.warn(of.URN, "retrying %s due to on-error hook request (%d/%d)", operation, len(in.Errors), maxRetries)
	}
}

// errorHookError says that an error hook has failed. What the provider's error means for the resource stays true.
type errorHookError struct {
	operation string
	err, hook error
}

func (e *errorHookError) Error() string {
	return fmt.Sprintf("error hooks execution failed: %v, after the %s had failed: %v", e.hook, e.operation, e.err)
}

func (e *errorHookError) Unwrap() []error { return []error{e.err, e.hook} }

// askErrorHooks runs all error hooks and tells whether any asked for another try.
func (r *Run) askErrorHooks(names []string, in HookInput) (again bool, err error) {
	for _, name := range names {
		h, ok := r.monitor.errorHook(name)
		if !ok {
			return false, fmt.Errorf("error hook %q was not registered", name)
		}
		retry, err := h.Run(r.operations, in)
		if err != nil {
			return false, fmt.Errorf("error hook %q failed: %w", name, err)
		}
		again = again || retry
	}
	return again, nil
}

// callCreate runs the hooks around a Create and the call itself.
func (r *Run) callCreate(p providers.Provider, s *taking, req providers.CreateRequest) (res providers.CreateResponse, err error) {
	err = r.retrying("create", s.New, hookInput(s.Decision, s.New), func() error {
		res, err = p.Create(r.operations, req)
		return err
	})
	return res, err
}

func (r *Run) callUpdate(p providers.Provider, s *taking, req providers.UpdateRequest) (res providers.UpdateResponse, err error) {
	err = r.retrying("update", s.New, hookInput(s.Decision, s.New), func() error {
		res, err = p.Update(r.operations, req)
		return err
	})
	return res, err
}

func (r *Run) callDelete(p providers.Provider, s *taking, req providers.DeleteRequest) error {
	return r.retrying("delete", s.Old, hookInput(s.Decision, s.Old), func() error { return p.Delete(r.operations, req) })
}

// before runs the hooks that precede a step; an error stops the step before anything is done.
func (r *Run) before(s *Decision) error {
	switch s.Op {
	case OpCreate, OpCreateReplacement:
		return r.runHooks(beforeCreate, s.New, hookInput(s, s.New))
	case OpUpdate:
		return r.runHooks(beforeUpdate, s.New, hookInput(s, s.New))
	case OpDelete, OpDeleteReplaced:
		return r.runHooks(beforeDelete, s.Old, hookInput(s, s.Old))
	}
	return nil
}

// after runs the hooks that follow a step, before outputs are made secret: they get them as the provider has returned them
// (steps.md 9.2). Those of components run when the component registers its outputs.
func (r *Run) after(s *taking, final *state.Resource, outputs property.Map) {
	switch {
	case s.Op == OpDelete || s.Op == OpDeleteReplaced:
		r.runAfterHooks(afterDelete, s, s.Old, hookInput(s.Decision, s.Old))
	case final == nil || !final.Custom:
	default:
		r.afterMade(s, final, outputs)
	}
}

// afterMade runs the hooks that follow a create or an update with these outputs.
func (r *Run) afterMade(s *taking, final *state.Resource, outputs property.Map) {
	kind := ""
	switch s.Op {
	case OpCreate, OpCreateReplacement:
		kind = afterCreate
	case OpUpdate:
		kind = afterUpdate
	default:
		return
	}
	in := hookInput(s.Decision, final)
	in.NewOutputs = &outputs
	r.runAfterHooks(kind, s, final, in)
}

// hasHooks tells whether a step can have hooks to run: most have none, and their input is not made.
func (d *Decision) hasHooks() bool {
	return d.New != nil && len(d.New.ResourceHooks) > 0 || d.Old != nil && len(d.Old.ResourceHooks) > 0
}

// hookInput is what a hook learns about a step (steps.md 9.6). of is the state that the hook belongs to. Where there are
// no hooks it is empty.
func hookInput(s *Decision, of *state.Resource) HookInput {
	if !s.hasHooks() {
		return HookInput{}
	}
	in := HookInput{URN: of.URN, ID: of.ID, Name: of.URN.Name(), Type: of.Type}
	old := func() {
		in.OldInputs, in.OldOutputs, in.OldOptions = &s.Old.Inputs, &s.Old.Outputs, hookOptions(s.Old)
		if in.ID == "" {
			in.ID = s.Old.ID
		}
	}
	switch s.Op {
	case OpCreate, OpCreateReplacement:
		in.NewInputs, in.NewOptions = &of.Inputs, hookOptions(of)
	case OpUpdate:
		old()
		in.NewInputs, in.NewOptions = &of.Inputs, hookOptions(of)
	default:
		old()
	}
	return in
}

func hookOptions(s *state.Resource) *HookOptions {
	text := func(seconds float64) string {
		if seconds == 0 {
			return ""
		}
		return time.Duration(seconds * float64(time.Second)).String()
	}
	o := &HookOptions{Parent: s.Parent}
	var aliases []urn.Alias // the one that matched, if one did
	for _, u := range s.Aliases {
		aliases = append(aliases, urn.Alias{URN: u})
	}
	protect, retain := s.Protect, s.RetainOnDelete
	o.TransformOptions = TransformOptions{
		DependsOn: s.Dependencies, Protect: &protect, IgnoreChanges: s.IgnoreChanges, ReplaceOnChanges: s.ReplaceOnChanges,
		Aliases: aliases, Provider: s.Provider, RetainOnDelete: &retain, DeletedWith: s.DeletedWith, AdditionalSecretOutputs: s.AdditionalSecretOutputs,
		Hooks: s.ResourceHooks, Import: s.ImportID, HideDiffs: s.HideDiff, ReplaceWith: s.ReplaceWith,
		ReplacementTrigger: property.Null,
		CustomTimeouts: CustomTimeouts{
			Create: text(s.CustomTimeouts.Create), Update: text(s.CustomTimeouts.Update),
			Delete: text(s.CustomTimeouts.Delete), Read: text(s.CustomTimeouts.Read),
		},
	}
	return o
}
