package access

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ProviderOfState returns the provider that creates and updates a state; nil for a component.
func (a *Access) ProviderOfState(s *state.Resource) (providers.Provider, error) {
	if !s.Custom {
		return nil, nil
	}
	return a.ProviderFor(a.Control.Operations, s)
}

// MinReadWorkers is the least that ReadWorkers returns. Calls that change nothing only wait for providers and cost little; limits
// bound the calls themselves (providers.Limits). As many results may wait for the next stage, so that no goroutine waits with a
// result.
const MinReadWorkers = 512

// ReadWorkers is the number of calls without changes that a part of the run makes, or waits to make, at once. It is at least what
// the registry allows.
func (a *Access) ReadWorkers() int { return max(MinReadWorkers, a.Registry.ReadLimit()) }

// ProviderOf returns the provider of a registration, which must be there by now (steps.md 3.3).
func (a *Access) ProviderOf(l stages.Located) (providers.Provider, error) {
	if l.Goal.Type.IsProvider() {
		return a.Registry.Resources(), nil
	}
	ref, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return nil, a.Control.FailRegistration(l, stages.CodeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v': %v", l.Goal.Provider, l.URN, err))
	}
	if pkg, denied := ref.Denied(); denied {
		return nil, a.Control.FailRegistration(l, stages.CodeProviderDenied, fmt.Errorf(DeniedText, pkg, l.URN))
	}
	if p, ok := a.Registry.Lookup(ref); ok && !a.isOldCopy(l.Goal.Provider) {
		return p, nil
	}
	return nil, a.unknownProvider(l, l.Goal.Provider)
}

// CheckReader returns an error for a read that names the old copy of a provider (steps.md 3.3). The call reports what else is wrong with a reference.
func (a *Access) CheckReader(l stages.Located) error {
	if !a.isOldCopy(l.Read.Provider) {
		return nil
	}
	return a.unknownProvider(l, l.Read.Provider)
}

// unknownProvider returns the error of a registration or read that names no provider of the stack.
func (a *Access) unknownProvider(l stages.Located, ref string) error {
	return a.Control.FailRegistration(l, stages.CodeUnknownProvider, fmt.Errorf("unknown provider '%v' for resource '%v'", ref, l.URN))
}

// isOldCopy reports whether a reference names a provider that a new one has replaced, and that awaits its deletion. What is recorded with it would have no
// provider afterwards. It may be running nonetheless, for the resources that it still has.
func (a *Access) isOldCopy(reference string) bool {
	recorded := a.Rooms.Base.Providers[reference]
	return recorded != nil && recorded.Delete
}

// EnsureProvider starts the provider of a registration from its recorded state if this run has not registered it (steps.md 3.3).
// That state then needs a same step of its own: carrier.provider.
func (a *Access) EnsureProvider(ctx context.Context, l stages.Located) error {
	if l.Goal.Type.IsProvider() {
		return nil
	}
	ref, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return nil // reported by ProviderOf
	}
	if _, ok := a.Registry.Lookup(ref); ok {
		return nil
	}
	recorded := a.Rooms.Base.Providers[ref.String()]
	if recorded == nil || recorded.Delete {
		return nil // reported by ProviderOf
	}
	if _, err := a.Registry.Ensure(ctx, ref, recorded.Inputs); err != nil {
		return a.Control.FailRegistration(l, stages.CodeFailed, fmt.Errorf("could not load provider for resource %v: %w", l.URN, err))
	}
	return nil
}

// ProviderFor returns the provider of a recorded state, with the extension that the state needs. If necessary, it starts the
// provider (steps.md 3.3 "EnsureProvider").
func (a *Access) ProviderFor(ctx context.Context, s *state.Resource) (providers.Provider, error) {
	return a.provider(ctx, s, a.Registry.Ensure)
}

// ProviderAt is like ProviderFor, for decisions about a recorded state when a registration arrives. The provider has the
// configuration that an earlier registration has given it, or else its recorded one, and never that of a later registration
// (decision 0002). The caller waits for the earlier one.
func (a *Access) ProviderAt(ctx context.Context, s *state.Resource, seq int) (providers.Provider, error) {
	if by, claimed := a.Rooms.Names.Claimant(a.Rooms.Base.Providers[s.Provider]); claimed && by < seq {
		return a.provider(ctx, s, a.Registry.Ensure)
	}
	return a.provider(ctx, s, a.Registry.Recorded)
}

// starter is a method of the registry that starts a provider from its recorded inputs, unless it is started already.
type starter func(context.Context, urn.ProviderRef, property.Map) (providers.Provider, error)

func (a *Access) provider(ctx context.Context, s *state.Resource, start starter) (providers.Provider, error) {
	if s.Type.IsProvider() {
		return a.Registry.Resources(), nil
	}
	ref, err := urn.ParseProviderRef(s.Provider)
	if err != nil {
		return nil, fmt.Errorf("bad provider reference '%v' for resource '%v': %w", s.Provider, s.URN, err)
	}
	recorded := a.Rooms.Base.Providers[ref.String()]
	if recorded == nil {
		p, ok := a.Registry.Lookup(ref)
		if !ok {
			return nil, fmt.Errorf("could not load provider for resource %v: could not find provider %v", s.URN, ref)
		}
		return a.extended(ctx, p, s)
	}
	p, err := start(ctx, ref, recorded.Inputs)
	if err != nil {
		return nil, fmt.Errorf("could not load provider for resource %v: %w", s.URN, err)
	}
	return a.extended(ctx, p, s)
}

// RemoteProvider finds the provider that a program named for a construct, a call or an invoke.
func (a *Access) RemoteProvider(reference, what string) (providers.Provider, error) {
	ref, err := urn.ParseProviderRef(reference)
	if err != nil {
		return nil, stages.Invalid("bad provider reference '%v' for '%v': %w", reference, what, err)
	}
	if pkg, denied := ref.Denied(); denied {
		return nil, fmt.Errorf(DeniedText, pkg, what)
	}
	p, ok := a.Registry.Lookup(ref)
	if !ok {
		return nil, fmt.Errorf("unknown provider '%v'", reference)
	}
	return p, nil
}

// Access finds the providers of resources, starts them where necessary, and calls them for comparisons.
type Access struct {
	Control    *control.Control
	Rooms      *rooms.Rooms
	Registry   *providers.Registry
	Extensions *Extensions
}

// CallDiff calls the provider's Diff and completes its answer (steps.md 3.8 "interpreting the response").
func (a *Access) CallDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (providers.DiffResponse, error) {
	res, _, say, err := a.AskDiff(ctx, p, u, old, news, allowUnknowns, ignore)
	if say != nil {
		say()
	}
	return res, err
}

// AskDiff is CallDiff, and also returns the decider, and a function that shows the message of a provider that cannot compare yet, nil if there is none.
func (a *Access) AskDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (res providers.DiffResponse, by stages.Decider, say func(), err error) {
	res, err = p.Diff(ctx, providers.DiffRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		NewInputs: news, AllowUnknowns: allowUnknowns, IgnoreChanges: ignore,
	})
	var unavailable *providers.DiffUnavailableError
	if errors.As(err, &unavailable) {
		say = func() { a.Control.Diagnose(u, stages.Warning, 0, unavailable.Reason) }
		return providers.DiffResponse{Changes: providers.DiffSome}, stages.ByNotYet, say, nil
	}
	if err != nil {
		return res, stages.ByNobody, nil, err
	}
	switch res.Changes {
	case providers.DiffNone, providers.DiffSome:
	case providers.DiffUnknown:
		engineDiff(&res, old.Inputs, news, ignore)
		return res, stages.ByEngine, nil, nil
	default:
		return res, stages.ByNobody, nil, fmt.Errorf("unrecognized diff state for %s: %d", u, res.Changes)
	}
	return res, stages.ByDiff, nil, nil
}

// engineDiff compares inputs if the provider does not detect changes. Its replace keys stay (steps.md 3.8).
func engineDiff(res *providers.DiffResponse, olds, news property.Map, ignore []string) {
	news, _ = compare.IgnoreChanges(ignore, olds, news)
	d := property.Diff(olds.StripSecretsAndOutputs(), news.StripSecretsAndOutputs(), nil)
	if d.IsEmpty() {
		res.Changes = providers.DiffNone
		return
	}
	res.Changes = providers.DiffSome
	res.ChangedKeys = d.ChangedKeys()
	res.DetailedDiff = map[string]providers.PropertyDiff{}
	for c := range d.Changes() {
		res.DetailedDiff[c.Path.String()] = providers.PropertyDiff{Kind: providers.KindOf(c), InputDiff: true}
	}
}

// extended returns p after it has the extension that the resource needs, if any.
func (a *Access) extended(ctx context.Context, p providers.Provider, s *state.Resource) (providers.Provider, error) {
	if s.ExtensionRef == "" {
		return p, nil
	}
	if err := a.Extensions.Apply(ctx, p, s.ExtensionRef); err != nil {
		return nil, fmt.Errorf("could not parameterize extension for resource %v: %w", s.URN, err)
	}
	return p, nil
}

// ExtendFor prepares the provider of a registration for it.
func (a *Access) ExtendFor(ctx context.Context, l stages.Located) error {
	if l.Goal.ExtensionRef == "" {
		return nil
	}
	p, err := a.ProviderOf(l)
	if err != nil {
		return err
	}
	if err := a.Extensions.Apply(ctx, p, l.Goal.ExtensionRef); err != nil {
		return a.Control.FailRegistration(l, stages.CodeFailed, err)
	}
	return nil
}

// DeniedText is diagnostic 2015.
const DeniedText = "Default provider for '%v' disabled. '%v' must use an explicit provider."

// Read calls Read of a provider outside the pipeline, and returns a panic of one in process as an error.
func Read(ctx context.Context, p providers.Provider, req providers.ReadRequest) (res providers.ReadResponse, err error) {
	pipeline.Attempt(func() (failed error) {
		res, failed = p.Read(ctx, req)
		return failed
	}, func(failed error) { err = failed })
	return res, err
}
