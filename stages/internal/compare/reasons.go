package compare

import (
	"github.com/sluice-iac/sluice/stages"
)

func InputsReason(props []string) stages.Reason {
	if len(props) == 0 {
		return stages.Reason{Kind: stages.ReasonProviderSaysSo}
	}
	return stages.Reason{Kind: stages.ReasonInputs, Properties: props}
}
