package why

import (
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/urn"
)

// About says which operation a [Log] is of.
type About struct {
	// Operation is "update", "destroy" or "refresh"; for a preview what was previewed.
	Operation string           `json:"operation"`
	Preview   bool             `json:"preview"`
	Project   string           `json:"project"`
	Stack     string           `json:"stack"`
	Began     time.Time        `json:"began"`
	Ended     time.Time        `json:"ended"`
	Result    stages.RunResult `json:"result"`
}

// Log is what one operation decided. It is immutable and safe for concurrent use once it is made.
type Log struct {
	About
	// Decisions are in the order of their URNs, those about one resource in the order in which they were made.
	Decisions []Decision

	index index
}

// Decision is what was decided about one resource, and why. A replacement is one decision, whatever its steps.
type Decision struct {
	URN urn.URN `json:"urn"`
	// OldURN is the recorded name of a resource that was found by an alias.
	OldURN urn.URN   `json:"oldUrn,omitempty"`
	Op     stages.Op `json:"op"`
	// Fate is what became of it; "" is that it was done, or could be done in a preview. FailedDependency is the failed resource
	// because of which it was skipped.
	Fate             stages.Fate `json:"fate,omitempty"`
	FailedDependency urn.URN     `json:"blame,omitempty"`
	// Parent is the resource that this one is in, "" for the stack.
	Parent urn.URN `json:"parent,omitempty"`
	// Internal marks a default provider.
	Internal bool `json:"internal,omitempty"`

	Reason stages.ReasonKind `json:"reason"`
	// Possible says why the change is only possible, in a preview; nil if it is certain.
	Possible *stages.Possibility `json:"possible,omitempty"`
	// Names are what the reason names: properties or options.
	Names []string `json:"names,omitempty"`
	// Cause is the resource that the reason names.
	Cause     urn.URN        `json:"cause,omitempty"`
	DecidedBy stages.Decider `json:"decidedBy,omitempty"`
	// ReplaceKeys are the properties that, as the provider answered, cannot change in place.
	ReplaceKeys []string `json:"replaceKeys,omitempty"`
	// DeleteFirst is true for a replacement that deletes the old object first; Order is who wanted that.
	DeleteFirst bool         `json:"deleteFirst,omitempty"`
	Order       stages.Order `json:"order,omitempty"`
	// OldRemains is true for a replacement whose new object was made and whose old one was not deleted: a later operation does that.
	OldRemains bool `json:"oldRemains,omitempty"`
	// Ignored are paths of ignoreChanges at which the program gives another value than is recorded.
	Ignored []string `json:"ignored,omitempty"`

	// Rename says which delete and which create of a preview look like one resource, if this is one of them.
	Rename *renames.Rename `json:"rename,omitempty"`

	Properties []Change `json:"properties,omitempty"`
	Options    []Change `json:"options,omitempty"`
	// Unnamed are the places at which the inputs of what is updated or replaced differ and that the reason does not name, because the provider
	// does not mind them.
	Unnamed []Change `json:"unnamed,omitempty"`
	// More is how many changed properties were left out because there are too many.
	More int `json:"more,omitempty"`
	// Protected is true if the recorded resource is protected against being deleted.
	Protected bool `json:"protected,omitempty"`
	// Position is where the program declares the resource: "index.ts:14".
	Position string `json:"position,omitempty"`

	// Causes are the resources whose own decisions led to this one. Roots are what else did: where chains end.
	Causes []urn.URN `json:"causes,omitempty"`
	Roots  []Root    `json:"roots,omitempty"`
}

// Change is one changed property or option. Values are JSON; a missing one is nil, a secret is the text "[secret]", an
// unknown one "[unknown]", and long ones are cut.
type Change struct {
	Path string `json:"path"`
	// Within is the place in the document that the text at Path holds, and Format that of the document, "JSON" or "YAML".
	Within string `json:"within,omitempty"`
	Format string `json:"format,omitempty"`
	// Kind is what the provider said of it, for example "update-replace".
	Kind string          `json:"kind,omitempty"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
	// Recorded is what was recorded before a refresh found Old.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Origin   Origin          `json:"origin,omitempty"`
	// From are the resources that the new value comes from and that changed, now or earlier; of a value that the program gives, those that it may be
	// made of all the same, because the property depends on them. Was are those that the old one came from, if
	// they are others than those of the new one, which are in Is.
	From []urn.URN `json:"from,omitempty"`
	Was  []urn.URN `json:"was,omitempty"`
	Is   []urn.URN `json:"is,omitempty"`
	// Position is where the program gives the new value, if that is known better than [Decision.Position].
	Position string `json:"position,omitempty"`
	// Setting is the changed setting that a value from the configuration comes from, if it is known.
	Setting *Setting `json:"setting,omitempty"`
}

// Place names the place of the change: "policy (JSON) Statement[0].Effect".
func (c Change) Place() string { return place(c.Path, c.Format, c.Within) }

// Setting is a setting of the stack that has changed since the last operation. Values are as in [Change].
type Setting struct {
	Key      string          `json:"key"` // "shop:region"
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	Position string          `json:"position,omitempty"` // "Pulumi.dev.yaml:3"
}

// Origin says where a new value comes from.
type Origin string

// The origins of values.
const (
	FromResource      Origin = "resource"      // From, which changed in the same operation
	FromEarlier       Origin = "earlier"       // From, which an earlier operation changed without reaching the resource
	FromProgram       Origin = "program"       // the program, or what it has read
	FromConfiguration Origin = "configuration" // the stack's configuration, or the version of a package
	FromOutside       Origin = "outside"       // somebody changed the object; the program wants it back
	FromCheck         Origin = "check"         // the provider's Check fills it in
	FromPolicy        Origin = "policy"        // a policy has changed it
	FromProvider      Origin = "provider"      // the inputs are the same: the provider sees a difference to what exists
)

// Root is the kind of a root cause: where a chain ends.
type Root string

// The root causes.
const (
	RootProgram       Root = "program"       // the program declares something else, or something new, or no longer
	RootConfiguration Root = "configuration" // the stack's configuration, or the version of a package
	RootOutside       Root = "outside"       // the object was changed or deleted outside
	RootProvider      Root = "provider"      // the provider, by itself
	RootPolicy        Root = "policy"        // a policy
	RootCommand       Root = "command"       // what the user asked for: a destroy, --replace, targets
	RootRecord        Root = "record"        // what an earlier operation left: interrupted, tainted, not healthy, not reached
	RootFailure       Root = "failure"       // it failed, or something that it depends on did
	RootNone          Root = "none"          // nothing changed
)

// why returns the reason as it was decided.
func (d *Decision) why() stages.Reason {
	return stages.Reason{Kind: d.Reason, Properties: d.Names, Cause: d.Cause, By: d.DecidedBy, Order: d.Order, Possible: d.Possible}
}
