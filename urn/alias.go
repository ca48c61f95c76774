package urn

// Alias names a URN that a resource may have had before: either a whole URN, or a specification whose empty fields
// mean "the same as now" (steps.md 2.3).
type Alias struct {
	URN      URN
	Name     string
	Type     Type
	Stack    string
	Project  string
	Parent   URN
	NoParent bool
}
