package stages

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// apply does what a step stands for and says what changed (steps.md 8.1).
func (r *Run) apply(s *taking) applied {
	switch s.Op {
	case OpSame:
		return r.applySame(s)
	case OpCreate, OpCreateReplacement:
		return r.applyCreate(s)
	case OpUpdate:
		return r.applyUpdate(s)
	case OpDelete, OpDeleteReplaced, OpDiscard, OpDiscardReplaced:
		return r.applyDelete(s)
	case OpRead, OpReadReplacement:
		return r.applyRead(s)
	case OpRemovePendingReplace:
		return applied{change: state.Change{Remove: r.present(s.Old)}}
	case OpImport, OpImportReplacement:
		return r.applyImport(s)
	case OpReplace:
		return applied{}
	}
	return failed(fmt.Errorf("there is no step %q", s.Op))
}

func failed(err error) applied { return applied{err: err, status: classify(err)} }

// present returns what a recorded state has become, if it is still there.
func (r *Run) present(old *state.Resource) []*state.Resource {
	if now := r.world.current(old); now != nil {
		return []*state.Resource{now}
	}
	return nil
}

func (r *Run) applySame(s *taking) applied {
	switch {
	case s.Kind == Uncreated:
		return applied{unrecorded: true}
	case s.IsKept():
		return applied{final: s.Old, unrecorded: true}
	}
	final := s.New.Clone()
	final.ID, final.Outputs = s.Old.ID, s.Old.Outputs
	if final.Type.IsProvider() {
		if err := r.Registry.Same(r.operations, urn.ProviderRef{URN: s.URN, ID: s.Old.ID}, s.Old.Inputs); err != nil {
			return failed(err)
		}
	}
	return applied{final: final, change: state.Change{Remove: r.present(s.Old), Elide: !state.MustWrite(s.Old, final)}}
}

// providerOfState returns the provider that creates and updates a state; nil for a component.
func (r *Run) providerOfState(s *state.Resource) (providers.Provider, error) {
	if !s.Custom {
		return nil, nil
	}
	return r.providerFor(r.operations, s)
}

func (r *Run) applyCreate(s *taking) applied {
	final := s.New.Clone()
	p, err := r.providerOfState(final)
	if err != nil {
		return failed(err)
	}
	a := applied{final: final}
	switch {
	case s.Kind == Unasked:
		final.Outputs = final.Inputs
	case p != nil:
		req := providers.CreateRequest{
			URN: s.URN, Name: s.URN.Name(), Type: s.Type, Properties: s.New.Inputs, Timeout: s.New.CustomTimeouts.Create, Preview: r.DryRun(),
			Status: s.publication,
		}
		res, err := r.callCreate(p, s, req)
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.err, a.status = err, statusPartial
			final.ID, final.Outputs, final.InitErrors = partial.ID, partial.Properties, partial.Reasons
			final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
		case err != nil:
			return failed(err)
		case res.ID == "" && !r.DryRun():
			return failed(&providers.UncertainError{Err: fmt.Errorf("provider did not return an ID from Create of %s", s.URN), Lost: true})
		default:
			final.ID, final.Outputs, final.RefreshBeforeUpdate = res.ID, res.Properties, res.RefreshBeforeUpdate
		}
	}
	now := r.Now().UTC()
	final.Created, final.Modified = now, now
	if s.Op == OpCreateReplacement {
		r.giveWay(s.Old, &a.change)
	}
	return a
}

// giveWay removes or marks the state that a new object takes the place of (steps.md 3.9), and marks its views.
func (r *Run) giveWay(old *state.Resource, c *state.Change) {
	now := r.world.current(old)
	switch {
	case now == nil:
	case now.PendingReplacement:
		c.Remove = append(c.Remove, now)
	default:
		for _, res := range append([]*state.Resource{now}, r.liveViewsOf(now)...) {
			marked := res.Clone()
			marked.Delete = true
			c.Replace = append(c.Replace, state.Replacement{Old: res, New: marked})
		}
	}
}

func (r *Run) applyUpdate(s *taking) applied {
	final := s.New.Clone()
	final.ID, final.Outputs = s.Old.ID, s.Old.Outputs
	a := applied{final: final, change: state.Change{Remove: r.present(s.Old)}}
	p, err := r.providerOfState(final)
	if err != nil {
		return failed(err)
	}
	if p == nil {
		return a
	}
	req := providers.UpdateRequest{
		URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: s.Old.ID, OldInputs: s.Old.Inputs, OldOutputs: s.Old.Outputs,
		NewInputs: s.New.Inputs, Timeout: s.New.CustomTimeouts.Update, IgnoreChanges: s.New.IgnoreChanges, Preview: r.DryRun(),
		OldViews: s.publication.oldViews(), Status: s.publication,
	}
	res, err := r.callUpdate(p, s, req)
	var partial *providers.InitError
	switch {
	case errors.As(err, &partial):
		a.err, a.status = err, statusPartial
		// The old inputs stay, so that the next run sees a difference (steps.md 9.3).
		final.Inputs, final.Outputs, final.InitErrors = s.Old.Inputs, partial.Properties, partial.Reasons
		final.RefreshBeforeUpdate = partial.RefreshBeforeUpdate
	case err != nil:
		return failed(err)
	default:
		final.Outputs, final.RefreshBeforeUpdate = res.Properties, res.RefreshBeforeUpdate
	}
	final.Modified = r.Now().UTC()
	return a
}

// applyDelete is steps.md 5.4.
func (r *Run) applyDelete(s *taking) applied {
	old := s.Old
	if reader, ok := r.names.readerOf(old); ok {
		// Its own registration reads it at this moment: what that finds out is recorded first (steps.md ORD-3).
		if err := r.progress.await(r.admission, reader, reread); err != nil {
			return failed(err)
		}
	}
	known := r.world.current(old)
	if known == nil {
		return applied{}
	}
	var p providers.Provider
	if old.Custom && !(old.Type.IsProvider() && r.DryRun()) {
		var err error
		// Also for what is let go without a call: a provider that cannot be started is found out now (steps.md 5.2).
		if p, err = r.providerFor(r.operations, old); err != nil {
			return failed(err)
		}
	}
	if (s.Op == OpDelete || s.Op == OpDiscard) && old.Protect && !r.IgnoreProtect {
		return failed(&ProtectedError{URN: s.URN})
	}
	if p != nil && !r.DryRun() && !r.sparesCall(old) {
		err := r.callDelete(p, s, providers.DeleteRequest{
			URN: old.URN, Name: old.URN.Name(), Type: old.Type, ID: known.ID, Inputs: known.Inputs, Outputs: known.Outputs,
			Timeout: old.CustomTimeouts.Delete, OldViews: s.publication.oldViews(), Status: s.publication,
		})
		if err != nil {
			return failed(err)
		}
	}
	now := r.world.current(old)
	if now == nil {
		return applied{}
	}
	if s.Kind == DeletedFirst && !now.Delete { // an import may have taken its place already
		waiting := now.Clone()
		waiting.PendingReplacement = true
		return applied{change: state.Change{Replace: []state.Replacement{{Old: now, New: waiting}}}}
	}
	return applied{change: state.Change{Remove: []*state.Resource{now}}}
}

// sparesCall tells whether an object is let go without its provider being asked (steps.md 5.4 item 4).
func (r *Run) sparesCall(old *state.Resource) bool {
	with := old.DeletedWith
	return old.External || old.RetainOnDelete || with != "" && (r.outcomes.has(with, deleted) || r.outcomes.has(r.names.newNameOf(with), deleted))
}

// ProtectedError says that a resource is protected and was not deleted.
type ProtectedError struct{ URN urn.URN }

func (e *ProtectedError) Error() string {
	return fmt.Sprintf("resource %q cannot be deleted\nbecause it is protected. To unprotect the resource, either remove the `protect` flag "+
		"from the resource in your program and run `sluice up`, or use the command:\n`sluice state unprotect %s`", e.URN, shellQuote(string(e.URN)))
}

// applyRead is steps.md 4.1.
func (r *Run) applyRead(s *taking) applied {
	final := s.New.Clone()
	a := applied{final: final}
	if final.ID != "" { // it is not known in this preview
		p, err := r.providerFor(r.operations, final)
		if err != nil {
			return failed(err)
		}
		res, err := p.Read(r.operations, providers.ReadRequest{
			URN: s.URN, Name: s.URN.Name(), Type: s.Type, ID: final.ID, Inputs: final.Inputs, State: final.Inputs, Known: true,
			Timeout: final.CustomTimeouts.Read, OldViews: s.publication.oldViews(), Status: s.publication,
		})
		var partial *providers.InitError
		switch {
		case errors.As(err, &partial):
			a.err, a.status = err, statusPartial
			final.ID, final.Outputs, final.InitErrors = cmp.Or(partial.ID, final.ID), partial.Properties, partial.Reasons
		case err != nil:
			return failed(err)
		case !res.Exists:
			return failed(fmt.Errorf("resource '%s' does not exist", final.ID))
		default:
			final.ID, final.Outputs = cmp.Or(res.ID, final.ID), res.Properties
		}
	}
	if s.Old != nil && !(property.EqualMaps(s.Old.Inputs, final.Inputs) && property.EqualMaps(s.Old.Outputs, final.Outputs)) {
		final.Modified = r.Now().UTC()
	}
	if s.Op == OpReadReplacement {
		r.giveWay(s.Old, &a.change)
	} else if s.Old != nil {
		a.change.Remove = r.present(s.Old)
	}
	return a
}

// markSecrets makes outputs secret that the program or the inputs say are (steps.md 3.14). It may be called on a state
// that is not published yet.
func (r *Run) markSecrets(s *state.Resource) *state.Resource {
	var out map[string]property.Value
	mark := func(name string) {
		v, ok := s.Outputs.Get(name)
		if !ok || v.IsSecret() {
			return
		}
		if out == nil {
			out = s.Outputs.Mutable()
		}
		out[name] = property.Secret(v)
	}
	for _, name := range s.AdditionalSecretOutputs {
		if name == "id" {
			r.warn(s.URN, "The 'id' property cannot be made secret. See pulumi/pulumi#2717 for more details.")
			continue
		}
		mark(name)
	}
	for name, v := range s.Inputs.All() {
		if v.IsSecret() {
			mark(name)
		}
	}
	if out != nil {
		s.Outputs = property.NewMap(out)
	}
	return s
}

// shellQuote quotes a word for a POSIX shell: URNs have "$" in them, and may have quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }
