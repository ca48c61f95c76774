package plan

import (
	"github.com/sluice-iac/sluice/stages"
)

// allows reports whether a step may be executed where another kind was planned (steps.md 12.4): a smaller change than planned is
// allowed.
func allows(planned string, actual stages.Op) bool {
	switch stages.Op(planned) {
	case stages.OpCreate:
		return actual == stages.OpSame || actual == stages.OpCreate
	case stages.OpUpdate:
		return actual == stages.OpSame || actual == stages.OpUpdate
	case stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced:
		return actual == stages.OpSame || actual == stages.OpUpdate || actual == stages.Op(planned)
	}
	return string(actual) == planned
}

// replaces reports whether a planned step is part of a replacement.
func replaces(planned string) bool {
	switch stages.Op(planned) {
	case stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpRemovePendingReplace:
		return true
	}
	return false
}

// deletes reports whether a planned step deletes an object.
func deletes(planned string) bool {
	return planned == string(stages.OpDelete) || planned == string(stages.OpDeleteReplaced)
}
