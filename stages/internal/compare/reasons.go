package compare

import (
	"github.com/sluice-iac/sluice/stages"
)

// InputsReason returns the reason for a change of these inputs, or of none that is known.
func InputsReason(props []string) stages.Reason {
	if len(props) == 0 {
		return stages.Reason{Kind: stages.ReasonProviderSaysSo}
	}
	return stages.Reason{Kind: stages.ReasonInputs, Properties: props}
}
