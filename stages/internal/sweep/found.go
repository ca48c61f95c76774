package sweep

import (
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/state"
)

// foundReason is why a refresh reports a recorded state as it does.
func foundReason(op stages.Op, old *state.Resource, diff providers.DiffResponse) stages.Reason {
	switch {
	case op == stages.OpDelete:
		return stages.Reason{Kind: stages.ReasonVanished, By: stages.ByRead}
	case op == stages.OpUpdate:
		return stages.Reason{Kind: stages.ReasonDrift, Properties: compare.ChangedProperties(diff), By: stages.ByRead}
	case !old.Custom || old.Type.IsProvider():
		return stages.Reason{Kind: stages.ReasonUnchanged}
	}
	return stages.Reason{Kind: stages.ReasonUnchanged, By: stages.ByRead}
}
