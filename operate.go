package sluice

import (
	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/stages"
)

// LevelValues is the level at which [Options.Log] also gets the properties in provider calls. Secrets in them are masked.
const LevelValues = operation.LevelValues

// kind is one kind of operation.
type kind struct {
	name    string // for messages: "update failed"
	dryRun  bool
	mode    stages.Mode
	imports []stages.ImportRequest // nothing but these imports; nil for other operations
	// recovers is true for a refresh of pending operations only.
	recovers bool
}

// hasPlans reports whether the operation can follow or make plans: an update, or the preview of one.
func (k kind) hasPlans() bool { return k.mode == stages.ModeUpdate && k.imports == nil }

// runsProgram reports whether the operation runs the program.
func (k kind) runsProgram(o Options) bool {
	return k.imports == nil && !k.recovers && (k.mode == stages.ModeUpdate || o.RunProgram)
}

// article names the operation with an article.
func (k kind) article() string {
	name := k.name
	switch {
	case k.imports != nil:
		name = "import"
	case k.recovers:
		name = "recovery"
	case k.mode == stages.ModeDestroy:
		name = "destroy"
	case k.mode == stages.ModeRefresh:
		name = "refresh"
	}
	if name == "import" {
		return "an " + name
	}
	return "a " + name
}
