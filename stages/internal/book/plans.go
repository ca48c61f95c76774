package book

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func (book *Book) RecordedOutputs(u urn.URN) property.Map {
	if old := book.Base.Olds[u]; old != nil {
		return old.Outputs
	}
	return property.Map{}
}
