package pending

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Answers define how interrupted creates are resolved.
type Answers struct {
	ByURN  map[string]stages.CreateResolution
	Others stages.CreateResolution // for those that ByURN does not name
}

// Resolve returns how to resolve an operation.
func (a Answers) Resolve(op state.Pending) stages.CreateResolution {
	if answer, ok := a.ByURN[string(op.Resource.URN)]; ok {
		return answer
	}
	return a.Others
}

// HasCreate reports whether an interrupted create of a resource is among the operations.
func HasCreate(ops []state.Pending, name string) bool {
	for _, op := range ops {
		if op.IsInterruptedCreate() && string(op.Resource.URN) == name {
			return true
		}
	}
	return false
}
