package access

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// CallDiff calls the provider's Diff and completes its answer (steps.md 3.8 "interpreting the response").
func (a *Access) CallDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (providers.DiffResponse, error) {
	res, _, err := a.AskDiff(ctx, p, u, old, news, allowUnknowns, ignore)
	return res, err
}

// AskDiff is CallDiff, and also returns the decider.
func (a *Access) AskDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (providers.DiffResponse, stages.Decider, error) {
	res, err := p.Diff(ctx, providers.DiffRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		NewInputs: news, AllowUnknowns: allowUnknowns, IgnoreChanges: ignore,
	})
	var unavailable *providers.DiffUnavailableError
	if errors.As(err, &unavailable) {
		a.Control.Diagnose(u, stages.Warning, 0, unavailable.Reason)
		return providers.DiffResponse{Changes: providers.DiffSome}, stages.ByNotYet, nil
	}
	if err != nil {
		return res, stages.ByNobody, err
	}
	switch res.Changes {
	case providers.DiffNone, providers.DiffSome:
	case providers.DiffUnknown:
		engineDiff(&res, old.Inputs, news, ignore)
		return res, stages.ByEngine, nil
	default:
		return res, stages.ByNobody, fmt.Errorf("unrecognized diff state for %s: %d", u, res.Changes)
	}
	return res, stages.ByDiff, nil
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
