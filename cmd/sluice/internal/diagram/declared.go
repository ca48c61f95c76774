package diagram

import "github.com/sluice-iac/sluice/urn"

// Resource is a resource of a diagram of an operation.
type Resource struct {
	URN, Parent  urn.URN
	Dependencies []urn.URN
	Component    bool
	Protected    bool
	Old          bool // only an old copy of it changes, left by an earlier replacement
	Change       Change
	Uncertain    bool
	Trouble      Trouble
}

// OfOperation returns the diagram of the resources of an operation or a preview.
func OfOperation(project, stack string, rs []Resource) *Diagram {
	b := newBuilder(project, stack)
	b.diagram.Planned, b.diagram.InReport = true, true
	for _, r := range rs {
		if isHidden(r.URN) {
			continue
		}
		b.of[r.URN] = b.add(Node{
			URN: r.URN, Type: r.URN.Type(), Name: r.URN.Name(), Component: r.Component, Protected: r.Protected, Change: r.Change, Uncertain: r.Uncertain,
			Trouble: r.Trouble, Old: r.Old,
		}, &draft{parent: r.Parent, dependencies: r.Dependencies})
	}
	return b.build()
}
