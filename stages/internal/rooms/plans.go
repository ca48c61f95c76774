package rooms

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func (rooms *Rooms) RecordedOutputs(u urn.URN) property.Map {
	if old := rooms.Base.Olds[u]; old != nil {
		return old.Outputs
	}
	return property.Map{}
}
