package step

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// maxRetries is the number of failures after which no error hook is asked for another try (steps.md 9.6).
const maxRetries = 100

// caller makes the calls that change something, with the hooks of the program around them (steps.md 9.6).
type caller struct {
	control   *control.Control
	hooks     *HookSet
	keepGoing bool // a failed hook does not stop the run
}

// runHooks runs a resource's hooks of one type, in their order. It ends when a hook fails, unless errors of the hook are ignored.
func (c *caller) runHooks(kind string, of *state.Resource, in stages.HookInput) error {
	for _, name := range of.ResourceHooks[kind] {
		h, ok := c.hooks.hook(name)
		if !ok {
			return fmt.Errorf("hook %q was not registered", name)
		}
		if c.control.DryRun() && !h.OnDryRun {
			continue
		}
		err := h.Run(c.control.Operations, in)
		switch {
		case err == nil:
		case h.IgnoreErrors:
			c.control.Warn(of.URN, "%s hook %q failed: %s", kind, name, err)
		default:
			return hookError(kind, name, err)
		}
	}
	return nil
}

func hookError(kind, name string, err error) error {
	switch kind {
	case stages.HookAfterCreate, stages.HookAfterUpdate, stages.HookAfterDelete:
		return fmt.Errorf("after hook %q failed: %w", name, err)
	}
	return fmt.Errorf("before hook %q failed: %w", name, err)
}

// runAfterHooks runs the hooks after a step: their errors fail the run and not the step.
func (c *caller) runAfterHooks(kind string, s *InProgress, of *state.Resource, in stages.HookInput) {
	if err := c.runHooks(kind, of, in); err != nil {
		c.control.Fail(s.Decision.Seq, of.URN, 0, err)
		if !c.keepGoing {
			s.ended.stopped = true
			c.control.Halt()
		}
	}
}

// retrying calls f until it succeeds or no error hook requests another try. When the run has been stopped there is no other try,
// because the user waits for its end. There is none after an uncertain outcome either, nor if a create has made an object that is not
// healthy: a create could make a second object (state.md 9.4 R-6). The next operation updates the object.
func (c *caller) retrying(operation string, of *state.Resource, in stages.HookInput, f func() error) error {
	names := of.ResourceHooks[stages.HookOnError]
	in.FailedOperation = operation
	for {
		err := f()
		if err == nil || len(names) == 0 {
			return err
		}
		in.Errors = append([]string{err.Error()}, in.Errors...)
		if len(in.Errors) >= maxRetries {
			c.control.Warn(of.URN, "maximum number of error hook retries (%d) reached", maxRetries)
			return err
		}
		again, hookErr := c.askErrorHooks(names, in)
		if hookErr != nil {
			return &errorHookError{operation: operation, err: err, hook: hookErr}
		}
		if !again || c.control.IsHalted() || isLost(err) || operation == "create" && errors.As(err, new(*providers.InitError)) {
			return err
		}
		c.control.Warn(of.URN, "retrying %s due to on-error hook request (%d/%d)", operation, len(in.Errors), maxRetries)
	}
}

// errorHookError reports that an error hook has failed. It keeps the meaning of the provider's error for the resource.
type errorHookError struct {
	operation string
	err, hook error
}

func (e *errorHookError) Error() string {
	return fmt.Sprintf("error hooks execution failed: %v, after the %s had failed: %v", e.hook, e.operation, e.err)
}

func (e *errorHookError) Unwrap() []error { return []error{e.err, e.hook} }

// askErrorHooks runs all error hooks and reports whether one requests another try.
func (c *caller) askErrorHooks(names []string, in stages.HookInput) (again bool, err error) {
	for _, name := range names {
		h, ok := c.hooks.errorHook(name)
		if !ok {
			return false, fmt.Errorf("error hook %q was not registered", name)
		}
		retry, err := h.Run(c.control.Operations, in)
		if err != nil {
			return false, fmt.Errorf("error hook %q failed: %w", name, err)
		}
		again = again || retry
	}
	return again, nil
}

// callCreate runs the hooks around a Create and the call itself.
func (c *caller) callCreate(p providers.Provider, s *InProgress, req providers.CreateRequest) (res providers.CreateResponse, err error) {
	err = c.retrying("create", s.Decision.New, hookInput(s.Decision, s.Decision.New), func() error {
		res, err = p.Create(c.control.Operations, req)
		if !req.Preview {
			err = identified(req.URN, res, err)
		}
		return err
	})
	return res, err
}

// identified returns the error of a create, also if that has made an object and returned no ID. Then it is unknown which object
// exists, and another try could make a second one.
func identified(u urn.URN, res providers.CreateResponse, err error) error {
	id, says := res.ID, ""
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		id, says = partial.ID, ": "+partial.Error()
	case err != nil:
		return err
	}
	switch {
	case id == "":
		err = fmt.Errorf("provider did not return an ID from Create of %s%s", u, says)
	case property.IsUnknownMarker(id):
		err = fmt.Errorf("provider returned the marker of an unknown value as the ID from Create of %s%s", u, says)
	case !utf8.ValidString(id): // a state is JSON
		err = fmt.Errorf("provider returned the ID %q, which is not UTF-8, from Create of %s%s", id, u, says)
	default:
		return err
	}
	return &providers.UncertainError{Err: err, Lost: true}
}

func (c *caller) callUpdate(p providers.Provider, s *InProgress, req providers.UpdateRequest) (res providers.UpdateResponse, err error) {
	err = c.retrying("update", s.Decision.New, hookInput(s.Decision, s.Decision.New), func() error {
		res, err = p.Update(c.control.Operations, req)
		return err
	})
	return res, err
}

func (c *caller) callDelete(p providers.Provider, s *InProgress, req providers.DeleteRequest) error {
	return c.retrying("delete", s.Decision.Old, hookInput(s.Decision, s.Decision.Old), func() error { return p.Delete(c.control.Operations, req) })
}

// before runs the hooks that precede a step; an error stops the step before anything is done.
func (c *caller) before(s *stages.Decision) error {
	switch s.Op {
	case stages.OpCreate, stages.OpCreateReplacement:
		return c.runHooks(stages.HookBeforeCreate, s.New, hookInput(s, s.New))
	case stages.OpUpdate:
		return c.runHooks(stages.HookBeforeUpdate, s.New, hookInput(s, s.New))
	case stages.OpDelete, stages.OpDeleteReplaced:
		return c.runHooks(stages.HookBeforeDelete, s.Old, hookInput(s, s.Old))
	}
	return nil
}

// after runs the hooks that follow a step, before outputs are made secret: hooks get them as the provider has returned them
// (steps.md 9.2). Those of components run when the component registers its outputs.
func (c *caller) after(s *InProgress, final *state.Resource, outputs property.Map) {
	d := s.Decision
	switch {
	case d.Op == stages.OpDelete || d.Op == stages.OpDeleteReplaced:
		c.runAfterHooks(stages.HookAfterDelete, s, d.Old, hookInput(d, d.Old))
	case final == nil || !final.Custom:
	default:
		c.afterMade(s, final, outputs)
	}
}

// afterMade runs the hooks that follow a create or an update with these outputs.
func (c *caller) afterMade(s *InProgress, final *state.Resource, outputs property.Map) {
	kind := ""
	switch s.Decision.Op {
	case stages.OpCreate, stages.OpCreateReplacement:
		kind = stages.HookAfterCreate
	case stages.OpUpdate:
		kind = stages.HookAfterUpdate
	default:
		return
	}
	in := hookInput(s.Decision, final)
	in.NewOutputs = &outputs
	c.runAfterHooks(kind, s, final, in)
}

// hasHooks reports whether a step can have hooks to run: most have none, and need no input.
func hasHooks(d *stages.Decision) bool {
	return d.New != nil && len(d.New.ResourceHooks) > 0 || d.Old != nil && len(d.Old.ResourceHooks) > 0
}

// hookInput returns the input of a hook about a step (steps.md 9.6). of is the state that the hook belongs to. Without hooks it is
// empty.
func hookInput(s *stages.Decision, of *state.Resource) stages.HookInput {
	if !hasHooks(s) {
		return stages.HookInput{}
	}
	in := stages.HookInput{URN: of.URN, ID: of.ID, Name: of.URN.Name(), Type: of.Type}
	old := func() {
		in.OldInputs, in.OldOutputs, in.OldOptions = &s.Old.Inputs, &s.Old.Outputs, hookOptions(s.Old)
		if in.ID == "" {
			in.ID = s.Old.ID
		}
	}
	switch s.Op {
	case stages.OpCreate, stages.OpCreateReplacement:
		in.NewInputs, in.NewOptions = &of.Inputs, hookOptions(of)
	case stages.OpUpdate:
		old()
		in.NewInputs, in.NewOptions = &of.Inputs, hookOptions(of)
	default:
		old()
	}
	return in
}

func hookOptions(s *state.Resource) *stages.HookOptions {
	text := func(seconds float64) string {
		if seconds == 0 {
			return ""
		}
		return time.Duration(seconds * float64(time.Second)).String()
	}
	o := &stages.HookOptions{Parent: s.Parent}
	var aliases []urn.Alias // the one that matched, if one did
	for _, u := range s.Aliases {
		aliases = append(aliases, urn.Alias{URN: u})
	}
	protect, retain := s.Protect, s.RetainOnDelete
	o.TransformOptions = stages.TransformOptions{
		DependsOn: s.Dependencies, Protect: &protect, IgnoreChanges: s.IgnoreChanges, ReplaceOnChanges: s.ReplaceOnChanges,
		Aliases: aliases, Provider: s.Provider, RetainOnDelete: &retain, DeletedWith: s.DeletedWith, AdditionalSecretOutputs: s.AdditionalSecretOutputs,
		Hooks: s.ResourceHooks, Import: s.ImportID, HideDiffs: s.HideDiff, ReplaceWith: s.ReplaceWith,
		ReplacementTrigger: property.Null,
		CustomTimeouts: stages.CustomTimeouts{
			Create: text(s.CustomTimeouts.Value().Create), Update: text(s.CustomTimeouts.Value().Update),
			Delete: text(s.CustomTimeouts.Value().Delete), Read: text(s.CustomTimeouts.Value().Read),
		},
	}
	return o
}
