package book

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func (r *Book) RecordedOutputs(u urn.URN) property.Map {
	if old := r.Base.Olds[u]; old != nil {
		return old.Outputs
	}
	return property.Map{}
}
