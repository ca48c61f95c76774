package pending

import "github.com/sluice-iac/sluice"

// Answers say what is to be done about interrupted creates.
type Answers struct {
	ByURN  map[string]sluice.CreateResolution
	Others sluice.CreateResolution // for those that ByURN does not name
}

// Resolve returns what is to be done about an operation.
func (a Answers) Resolve(op sluice.PendingOperation) sluice.CreateResolution {
	if answer, ok := a.ByURN[string(op.Resource.URN)]; ok {
		return answer
	}
	return a.Others
}

// HasCreate reports whether the create of a resource is among the operations.
func HasCreate(ops []sluice.PendingOperation, name string) bool {
	for _, op := range ops {
		if op.Type == sluice.PendingCreate && string(op.Resource.URN) == name {
			return true
		}
	}
	return false
}
