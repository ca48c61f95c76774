package simulate

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Case is the history of one stack, with the timings under which each of its operations is tried.
type Case struct {
	About      string `json:",omitempty"` // what the case is an example of
	Operations []Operation
	Schedules  []Schedule // at least one; the history continues with the result of the first one
}

// Schedule is one timing.
type Schedule struct {
	Seed    uint64
	Workers int
	// Milliseconds is the longest time that a call takes; with 0 no call takes any time.
	Milliseconds int `json:",omitempty"`
	// Narrow bounds the calls of providers: how many are under way at once, and how many begin in a second.
	Narrow bool `json:",omitempty"`
	// Reuse uses the answers of the providers to earlier operations, and in an update those to its preview. Without it they are asked again, and must
	// give the same answers.
	Reuse bool `json:",omitempty"`
}

// Operation is one operation of a history.
type Operation struct {
	Do      Kind
	Before  []Edit        `json:",omitempty"` // changes before the operation that the engine does not make
	Program []Declaration `json:",omitempty"`
	Manner  Manner        `json:",omitempty"`
	// Throw makes the program fail after that many declarations, counted from 1; with 0 it ends without an error.
	Throw int `json:",omitempty"`
	// Stubborn programs continue with the dependents of a resource that was not created.
	Stubborn bool `json:",omitempty"`
	// Omits makes a program that is not stubborn report the resources that it omits.
	Omits bool `json:",omitempty"`
	Mishaps
	Flags
	Planned bool `json:",omitempty"` // it is also tried held to the plan of its preview
	// Policies check the resources of the program, at most AnalyzeLimit at once; 0 means no limit.
	Policies     []Policy `json:",omitempty"`
	AnalyzeLimit int      `json:",omitempty"`
	// Stages are in the slots of the engine.
	Stages []Stage `json:",omitempty"`
	// Reader is another stack, which is updated after the operation and reads the outputs of this one.
	Reader *Reader `json:",omitempty"`
	// Race has engines that run the same operation once more, at once.
	Race *Race `json:",omitempty"`
}

// Reader is an update of a stack that reads the outputs of the stack of the history.
type Reader struct {
	Program         []Declaration
	Manner          Manner `json:",omitempty"`
	Sealed          bool   `json:",omitempty"` // it cannot decrypt secrets of the other stack
	ContinueOnError bool   `json:",omitempty"`
}

// Mishaps are external events during an operation.
type Mishaps struct {
	Failures []Failure `json:",omitempty"`
	// Interrupt is the number of the event, and Crash that of the record, with which it happens, counted from 1; 0 means never.
	Interrupt int  `json:",omitempty"`
	Cancel    bool `json:",omitempty"` // the interrupt also cancels running calls
	Crash     int  `json:",omitempty"`
	// Late is when calls cut off by a crash take effect; see [Landing].
	Late Landing `json:",omitempty"`
	// Reads are the times at which other commands read the state, in milliseconds after the beginning.
	Reads []int `json:",omitempty"`
}

// failsToAnswer reports whether calls fail that change nothing: answers that are used again do not fail.
func (o Operation) failsToAnswer() bool {
	return slices.ContainsFunc(o.Failures, func(f Failure) bool { return !isChange(providers.Method(f.Method)) })
}

// Landing is the delay of the effect of a call whose answer is lost, as a number of operations: the effect lands before that
// operation begins. With 0 the call takes effect before it ends, and with a negative number it never does.
type Landing int

// Flags are the flags of an operation.
type Flags struct {
	DependsOn  bool     `json:",omitempty"` // a delete-before-replace takes along what depends on it by dependsOn
	Targets    []string `json:",omitempty"` // names of resources
	Excludes   []string `json:",omitempty"`
	Replace    []string `json:",omitempty"`
	Dependents bool     `json:",omitempty"` // --target-dependents, --exclude-dependents

	ContinueOnError bool `json:",omitempty"`
	Refresh         bool `json:",omitempty"`
	// RefreshOnly are names of resources: an update with Refresh reads only these.
	RefreshOnly   []string `json:",omitempty"`
	RunProgram    bool     `json:",omitempty"` // refreshes and destroys run the program, and updates refresh by running it
	IgnoreProtect bool     `json:",omitempty"`
	Version       string   `json:",omitempty"` // of the default provider
	// Pending is how interrupted creates are resolved: "" leaves them pending, "create" creates another object, "clear" removes
	// them.
	Pending string `json:",omitempty"`
}

// Kind is the kind of an operation.
type Kind string

// The kinds of operations. The previews of all of them are tried too.
const (
	Update  Kind = "update"
	Refresh Kind = "refresh"
	Destroy Kind = "destroy"
	Import  Kind = "import"  // imports the declarations of the program, which does not run
	Recover Kind = "recover" // resolves pending operations, by reading; it has no preview
)

// Manner is the way in which a program registers its resources.
type Manner string

const (
	// Serial programs register one resource after the other.
	Serial Manner = ""
	// Ordered programs do not wait for replies that they do not need, but their registrations always arrive in the same order.
	Ordered Manner = "ordered"
	// Eager programs register each resource as soon as they have the replies about those it refers to, as SDKs do. The order of
	// arrival of two unrelated registrations depends on timing.
	Eager Manner = "eager"
)

// runsProgram reports whether the operation runs the program.
func (o Operation) runsProgram() bool {
	return o.Do == Update || o.RunProgram && (o.Do == Refresh || o.Do == Destroy)
}

// calm returns the operation without its mishaps.
func (o Operation) calm() Operation {
	o.Mishaps = Mishaps{}
	return o
}

// Declaration is one declaration of a program. References are names of earlier declarations. References to resources that were not
// declared earlier, or not created, are left out.
type Declaration struct {
	Kind DeclarationKind `json:",omitempty"`
	Name string
	Type string `json:",omitempty"` // "" is Thing
	// Values are constants. Refs are properties whose value is an output of another resource.
	Values map[string]string `json:",omitempty"`
	Refs   map[string]string `json:",omitempty"`
	Secret []string          `json:",omitempty"` // properties, or exports, that are secret
	// Outputs are properties whose value is an output of the stack that a reader reads. An output that does not exist is left out.
	Outputs map[string]string `json:",omitempty"`

	Parent      string   `json:",omitempty"`
	Provider    string   `json:",omitempty"`
	DependsOn   []string `json:",omitempty"`
	DeletedWith string   `json:",omitempty"`
	ReplaceWith string   `json:",omitempty"`
	Aliases     []Alias  `json:",omitempty"`

	Ignore        []string `json:",omitempty"`
	ReplaceOn     []string `json:",omitempty"`
	SecretOutputs []string `json:",omitempty"`
	Protect       bool     `json:",omitempty"`
	Retain        bool     `json:",omitempty"`
	DeleteFirst   *bool    `json:",omitempty"`
	Trigger       string   `json:",omitempty"`
	ID            string   `json:",omitempty"` // to read or to import
	Invokes       bool     `json:",omitempty"` // the program calls a function with an output of the resource
	// Exports are names of resources with an output that the stack exports, after the last declaration.
	Exports []string `json:",omitempty"`
	// Hooks are names of hooks by kind, as in BeforeCreate: "well" does nothing, "ill" fails, "again" requests one retry.
	Hooks map[string]string `json:",omitempty"`
}

// Alias is a former name of a resource.
type Alias struct {
	Name     string `json:",omitempty"`
	Type     string `json:",omitempty"`
	Parent   string `json:",omitempty"`
	NoParent bool   `json:",omitempty"`
}

// DeclarationKind is the kind of a declaration.
type DeclarationKind string

// The kinds of declarations.
const (
	Thing     DeclarationKind = ""
	Component DeclarationKind = "component"
	Provider  DeclarationKind = "provider"
	Reading   DeclarationKind = "read"
	Stack     DeclarationKind = "stack"
)

// Failure makes a provider's calls fail.
type Failure struct {
	Method string
	Name   string `json:",omitempty"` // of the resource; "" means every one
	Nth    int    `json:",omitempty"` // 0 means every call
	// Applied failures come after the call took effect. Died failures leave the outcome uncertain, because the plugin has exited.
	Applied bool `json:",omitempty"`
	Died    bool `json:",omitempty"`
	// Late is when a call takes effect during which the plugin has exited; 0 leaves that to Applied.
	Late Landing `json:",omitempty"`
}

// nth is the number of the call that fails, 0 for every one.
func (f Failure) nth() int {
	if f.Method != "create" && f.Method != "update" {
		return 0 // copies of a resource are read and deleted concurrently, and the number of comparisons may depend on timing
	}
	return f.Nth
}

// isLate reports whether the plugin exits during the call, and the cloud completes it later.
func (f Failure) isLate() bool { return f.Died && f.Late != 0 && isChange(providers.Method(f.Method)) }

// Edit is a change of the state or of the cloud between operations.
type Edit struct {
	Do   EditKind
	Name string // of the resource; without such a resource, nothing happens
}

// EditKind is the kind of an edit.
type EditKind string

// The kinds of edits.
const (
	Taint              EditKind = "taint"
	Protect            EditKind = "protect"
	Unprotect          EditKind = "unprotect"
	Retain             EditKind = "retain"
	PendingReplacement EditKind = "pending-replacement" // an earlier run deleted it and did not create it again
	OldCopy            EditKind = "old-copy"            // an earlier run replaced it and did not delete the old object
	PendingOperation   EditKind = "pending-operation"   // an earlier run began to create something, and another one has recorded it
	Interrupted        EditKind = "interrupted"         // an earlier run began to create a replacement of it
	Drift              EditKind = "drift"               // another client changed the object
	Vanish             EditKind = "vanish"              // another client deleted the object
	Foreign            EditKind = "foreign"             // an object with that ID exists that does not belong to the stack
)

// dependencies lists the references of d, except its parent.
func (d Declaration) dependencies() []string {
	out := slices.Clone(d.DependsOn)
	for _, n := range d.Refs {
		out = append(out, n)
	}
	for _, n := range []string{d.DeletedWith, d.ReplaceWith, d.Provider} {
		if n != "" {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Policy is one policy, in a pack of its own. It checks Things.
type Policy struct {
	Do   PolicyKind
	Name string `json:",omitempty"` // the resource that it applies to; "" means every one
	// Property is a property that a resource must not have. A remedy sets its value to "remedied" instead.
	Property string
}

// concerns reports whether a policy applies to a resource with these properties.
func (p Policy) concerns(u urn.URN, has property.Map) bool {
	_, ok := has.Get(p.Property)
	return ok && u.Type() == "test:index:Thing" && (p.Name == "" || p.Name == u.Name())
}

// PolicyKind is the kind of a policy.
type PolicyKind string

// The kinds of policies. Stack policies check outputs at the end.
const (
	Advise         PolicyKind = "advise"
	Mandate        PolicyKind = "mandate"
	Remedy         PolicyKind = "remedy"
	AdviseOnStack  PolicyKind = "advise-stack"
	MandateOnStack PolicyKind = "mandate-stack"
)

// Stage is a caller's stage in a slot.
type Stage struct {
	In      SlotName
	Do      StageKind
	Name    string `json:",omitempty"` // the resource that it applies to; "" means every one
	Workers int    `json:",omitempty"`
}

// SlotName is the name of a slot.
type SlotName string

// The slots.
const (
	Registered SlotName = "registered"
	Located    SlotName = "located"
	Checked    SlotName = "checked"
	Analyzed   SlotName = "analyzed"
	Diffed     SlotName = "diffed"
	Built      SlotName = "built"
	Executed   SlotName = "executed"
	Deleting   SlotName = "deleting"
	Deleted    SlotName = "deleted"
	Standard   SlotName = "standard" // no slot: around the replaceable standard stages
)

// StageKind is the kind of a stage.
type StageKind string

// The kinds of stages. All of them record the items that pass.
const (
	Watch  StageKind = "watch"
	Delay  StageKind = "delay"
	Refuse StageKind = "refuse" // after register and before execute, or a delete
	Change StageKind = "change" // the goal, after register: the property "staged" is added
)

// Race is one operation that several engines begin at about the same time, each in its own process.
type Race struct {
	Engines []Engine
	// Server means that the store detects dead processes, as Postgres does. Otherwise a person removes the locks of dead processes.
	Server bool `json:",omitempty"`
}

// Engine is one of the engines of a race.
type Engine struct {
	After int     `json:",omitempty"` // the delay of its beginning after that of the first, in milliseconds
	Crash int     `json:",omitempty"` // as in Mishaps
	Late  Landing `json:",omitempty"`
}
