package why

import (
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/urn"
)

// About names the operation of a [Log].
type About struct {
	// Operation is "update", "destroy" or "refresh"; for a preview the previewed one.
	Operation string           `json:"operation"`
	Preview   bool             `json:"preview"`
	Project   string           `json:"project"`
	Stack     string           `json:"stack"`
	Began     time.Time        `json:"began"`
	Ended     time.Time        `json:"ended"`
	Result    stages.RunResult `json:"result"`
}

// Log has the decisions of one operation. It is immutable and safe for concurrent use once it is made.
type Log struct {
	About
	// Decisions are in the order of their URNs, those about one resource in the order in which they were made.
	Decisions []Decision

	index index
}

// Decision is the decision about one resource, with its reasons. A replacement is one decision, whatever its steps.
type Decision struct {
	URN urn.URN `json:"urn"`
	// OldURN is the recorded name of a resource that was found by an alias.
	OldURN urn.URN   `json:"oldUrn,omitempty"`
	Op     stages.Op `json:"op"`
	// Fate is its result; "" means that it was done, or could be done in a preview. FailedDependency is the failed resource because
	// of which it was skipped.
	Fate             stages.Fate `json:"fate,omitempty"`
	FailedDependency urn.URN     `json:"blame,omitempty"`
	// Parent is the resource that contains this one, "" for the stack.
	Parent urn.URN `json:"parent,omitempty"`
	// Internal marks a default provider.
	Internal bool `json:"internal,omitempty"`

	Reason stages.ReasonKind `json:"reason"`
	// Possible is why the change is only possible, in a preview; nil if it is certain.
	Possible *stages.Possibility `json:"possible,omitempty"`
	// Names are the properties or options that the reason names.
	Names []string `json:"names,omitempty"`
	// Cause is the resource that the reason names.
	Cause     urn.URN        `json:"cause,omitempty"`
	DecidedBy stages.Decider `json:"decidedBy,omitempty"`
	// ReplaceKeys are the properties that cannot change in place according to the provider.
	ReplaceKeys []string `json:"replaceKeys,omitempty"`
	// DeleteFirst is true for a replacement that deletes the old object first; Order is the origin of that order.
	DeleteFirst bool         `json:"deleteFirst,omitempty"`
	Order       stages.Order `json:"order,omitempty"`
	// OldRemains is true for a replacement whose new object was made and whose old one was not deleted: a later operation deletes
	// it.
	OldRemains bool `json:"oldRemains,omitempty"`
	// Ignored are paths of ignoreChanges at which the program gives another value than the recorded one.
	Ignored []string `json:"ignored,omitempty"`

	// Rename has the delete and the create of a preview that look like one resource, if this is one of them.
	Rename *renames.Rename `json:"rename,omitempty"`

	Properties []Change `json:"properties,omitempty"`
	Options    []Change `json:"options,omitempty"`
	// Unnamed are the places at which the inputs of an updated or replaced resource differ and that the reason does not name,
	// because they are no difference for the provider.
	Unnamed []Change `json:"unnamed,omitempty"`
	// More is the number of changed properties that were left out because there are too many.
	More int `json:"more,omitempty"`
	// Protected is true if the recorded resource is protected from deletion.
	Protected bool `json:"protected,omitempty"`
	// Position is where the program declares the resource: "index.ts:14".
	Position string `json:"position,omitempty"`

	// Causes are the resources whose own decisions led to this one. Roots are its other causes, where chains end.
	Causes []urn.URN `json:"causes,omitempty"`
	Roots  []Root    `json:"roots,omitempty"`
}

// Change is one changed property or option. Values are JSON; a missing one is nil, a secret is the text "[secret]", an
// unknown one "[unknown]", and long ones are cut.
type Change struct {
	Path string `json:"path"`
	// Within is the place in the document in the text at Path. Format is that of the document, "JSON" or "YAML".
	Within string `json:"within,omitempty"`
	Format string `json:"format,omitempty"`
	// Kind is the kind of the change according to the provider, for example "update-replace".
	Kind string          `json:"kind,omitempty"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
	// Recorded is the value before a refresh found Old.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Origin   Origin          `json:"origin,omitempty"`
	// From are the changed resources, now or earlier, that the new value comes from. For a value that the program gives, they are
	// those that it may still come from, because the property depends on them. Was has the resources of the old value, if they
	// differ from those of the new one, which are in Is.
	From []urn.URN `json:"from,omitempty"`
	Was  []urn.URN `json:"was,omitempty"`
	Is   []urn.URN `json:"is,omitempty"`
	// Position is the place where the program gives the new value, if it is known better than [Decision.Position].
	Position string `json:"position,omitempty"`
	// Setting is the changed setting of a value from the configuration, if it is known.
	Setting *Setting `json:"setting,omitempty"`
}

// Place returns the place of the change: "policy (JSON) Statement[0].Effect".
func (c Change) Place() string { return place(c.Path, c.Format, c.Within) }

// Setting is a setting of the stack that has changed since the last operation. Values are as in [Change].
type Setting struct {
	Key      string          `json:"key"` // "shop:region"
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	Position string          `json:"position,omitempty"` // "Pulumi.dev.yaml:3"
}

// Origin is the origin of a new value.
type Origin string

// The origins of values.
const (
	FromResource      Origin = "resource"      // From, which changed in the same operation
	FromEarlier       Origin = "earlier"       // From, which an earlier operation changed without reaching the resource
	FromProgram       Origin = "program"       // the program, or data that it has read
	FromConfiguration Origin = "configuration" // the stack's configuration, or the version of a package
	FromOutside       Origin = "outside"       // somebody changed the object; the program declares the former value
	FromCheck         Origin = "check"         // the provider's Check fills it in
	FromPolicy        Origin = "policy"        // a policy has changed it
	FromProvider      Origin = "provider"      // the inputs are the same: the provider reports a difference to the object
)

// Root is the kind of a root cause: where a chain ends.
type Root string

// The root causes.
const (
	RootProgram       Root = "program"       // the program declares something else, something new, or no longer declares it
	RootConfiguration Root = "configuration" // the stack's configuration, or the version of a package
	RootOutside       Root = "outside"       // the object was changed or deleted outside
	RootProvider      Root = "provider"      // the provider, by itself
	RootPolicy        Root = "policy"        // a policy
	RootCommand       Root = "command"       // the user's command: a destroy, --replace, targets
	RootRecord        Root = "record"        // left by an earlier operation: interrupted, tainted, not healthy, not reached
	RootFailure       Root = "failure"       // it failed, or a dependency of it did
	RootNone          Root = "none"          // nothing changed
)

// why returns the reason of the decision.
func (d *Decision) why() stages.Reason {
	return stages.Reason{Kind: d.Reason, Properties: d.Names, Cause: d.Cause, By: d.DecidedBy, Order: d.Order, Possible: d.Possible}
}
