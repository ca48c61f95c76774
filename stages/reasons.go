package stages

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// Reason says why the engine decided what it decided. It is made where the decision is made and travels with it.
type Reason struct {
	Kind       ReasonKind
	Properties []string // the properties that made the difference, sorted
	Cause      urn.URN  // the other resource that made the difference, if one did
}

// ReasonKind is the kind of a reason.
type ReasonKind string

// The kinds of reasons.
const (
	ReasonNone             ReasonKind = ""
	ReasonNew              ReasonKind = "new"                 // there is no recorded state
	ReasonUnchanged        ReasonKind = "unchanged"           //
	ReasonInputs           ReasonKind = "inputs"              // Properties changed
	ReasonProviderSaysSo   ReasonKind = "provider-decided"    // the provider gave no properties
	ReasonOptions          ReasonKind = "options"             // only options changed
	ReasonReplaceOnChanges ReasonKind = "replace-on-changes"  // Properties are listed in replaceOnChanges
	ReasonTrigger          ReasonKind = "replacement-trigger" //
	ReasonReplaceWith      ReasonKind = "replace-with"        // Cause is replaced
	ReasonDeletedWith      ReasonKind = "deleted-with"        // Cause is replaced
	ReasonProviderChanged  ReasonKind = "provider-changed"    // Cause is the provider
	ReasonDependency       ReasonKind = "dependency-replaced" // Cause is replaced by deleting it first
	ReasonRequested        ReasonKind = "requested"           // --replace
	ReasonTainted          ReasonKind = "tainted"             //
	ReasonInterrupted      ReasonKind = "interrupted"         // an earlier replacement was interrupted
	ReasonInitErrors       ReasonKind = "init-errors"         // it was not healthy after the last update
	ReasonNotInProgram     ReasonKind = "not-in-program"      // the program no longer declares it
	ReasonReplaced         ReasonKind = "replaced"            // the old copy of a replaced resource
	ReasonTakenOver        ReasonKind = "taken-over"          // it was only read before
	ReasonDestroy          ReasonKind = "destroy"             //
	ReasonNotTargeted      ReasonKind = "not-targeted"        //
	ReasonDrift            ReasonKind = "drift"               // Properties differ from what was recorded
	ReasonImport           ReasonKind = "import"              //
)

// String returns the reason as a clause: "because `region` changed". It is empty where there is nothing to say.
func (r Reason) String() string {
	quoted := make([]string, len(r.Properties))
	for i, p := range r.Properties {
		quoted[i] = "`" + p + "`"
	}
	props := strings.Join(quoted, ", ")
	name := ""
	if r.Cause != "" {
		name = fmt.Sprintf("%s (%s)", r.Cause.Name(), r.Cause.Type())
	}
	switch r.Kind {
	case ReasonInputs:
		if props == "" {
			return "because its inputs changed"
		}
		return "because " + props + " changed"
	case ReasonProviderSaysSo:
		return "because its provider says so"
	case ReasonReplaceOnChanges:
		return "because " + props + " changed and replaceOnChanges names it"
	case ReasonTrigger:
		return "because its replacement trigger changed"
	case ReasonReplaceWith:
		return "because " + name + " is replaced (replaceWith)"
	case ReasonDeletedWith:
		return "because " + name + " is replaced (deletedWith)"
	case ReasonProviderChanged:
		return "because its provider changed"
	case ReasonDependency:
		if props == "" {
			return "because " + name + " is replaced"
		}
		return "because " + props + " comes from " + name + ", which is replaced"
	case ReasonRequested:
		return "because its replacement was requested"
	case ReasonTainted:
		return "because it is tainted"
	case ReasonInterrupted:
		return "because an earlier replacement was interrupted"
	case ReasonInitErrors:
		return "because it was not healthy after the last update"
	case ReasonNotInProgram:
		return "because the program no longer declares it"
	case ReasonTakenOver:
		return "because the program manages it now"
	case ReasonDrift:
		if props == "" {
			return ""
		}
		return "because " + props + " changed outside"
	case ReasonImport:
		return "because the program imports it"
	}
	return ""
}
