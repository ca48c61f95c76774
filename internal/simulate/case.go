package simulate

import "slices"

// Case is the history of one stack, and the timings under which each of its operations is tried.
type Case struct {
	About      string `json:",omitempty"` // what it is an example of
	Operations []Operation
	Schedules  []Schedule // at least one; the history continues with what the first one left
}

// Schedule is one timing.
type Schedule struct {
	Seed    uint64
	Workers int
	// Milliseconds is the longest time that a call takes; with 0 no call takes any time.
	Milliseconds int `json:",omitempty"`
	// Narrow bounds the calls of providers: how many are under way at once, and how many begin in a second.
	Narrow bool `json:",omitempty"`
}

// Operation is one operation of a history.
type Operation struct {
	Do      Kind
	Before  []Edit        `json:",omitempty"` // what happens before it, behind the engine's back
	Program []Declaration `json:",omitempty"`
	Manner  Manner        `json:",omitempty"`
	// Throw makes the program fail after that many declarations, counted from 1; with 0 it ends without an error.
	Throw int `json:",omitempty"`
	// Stubborn programs continue with the dependents of a resource that was not made.
	Stubborn bool `json:",omitempty"`
	// Omits says that a program that is not stubborn names the resources that it leaves out for that.
	Omits bool `json:",omitempty"`
	Mishaps
	Flags
	Planned bool `json:",omitempty"` // it is also tried held to the plan that its preview makes
	// Policies judge what the program declares, AnalyzeLimit of them at once; 0 is all.
	Policies     []Policy `json:",omitempty"`
	AnalyzeLimit int      `json:",omitempty"`
	// Stages are in the slots of the engine.
	Stages []Stage `json:",omitempty"`
	// Reader is another stack, which is updated after the operation and reads the outputs of this one.
	Reader *Reader `json:",omitempty"`
	// Race are engines that do the same once more, and at once.
	Race *Race `json:",omitempty"`
}

// Reader is an update of a stack that reads the outputs of the stack of the history.
type Reader struct {
	Program         []Declaration
	Manner          Manner `json:",omitempty"`
	Sealed          bool   `json:",omitempty"` // it cannot decrypt secrets of the stack that it reads
	ContinueOnError bool   `json:",omitempty"`
}

// Mishaps are events from outside that an operation meets.
type Mishaps struct {
	Failures []Failure `json:",omitempty"`
	// Interrupt and Crash come with the event, or the record, of that number, counted from 1; 0 means never.
	Interrupt int  `json:",omitempty"`
	Cancel    bool `json:",omitempty"` // the interrupt also cancels what runs
	Crash     int  `json:",omitempty"`
	// Late is what becomes of the calls that a crash cuts off; see [Landing].
	Late Landing `json:",omitempty"`
	// Reads are when other commands read the state, in milliseconds after the beginning.
	Reads []int `json:",omitempty"`
}

// Landing is how many operations later a call takes effect whose answer is lost: the effect lands before that operation
// begins. With 0 the call takes effect before it ends, and with less it never does.
type Landing int

// Flags are how an operation is done.
type Flags struct {
	Targets    []string `json:",omitempty"` // names of resources
	Excludes   []string `json:",omitempty"`
	Replace    []string `json:",omitempty"`
	Dependents bool     `json:",omitempty"` // --target-dependents, --exclude-dependents

	ContinueOnError bool   `json:",omitempty"`
	Refresh         bool   `json:",omitempty"`
	RunProgram      bool   `json:",omitempty"` // refreshes and destroys run the program, and updates refresh by running it
	IgnoreProtect   bool   `json:",omitempty"`
	Version         string `json:",omitempty"` // of the default provider
	// Pending defines what to do about interrupted creates: "" nothing, "create" another object, "clear" removes them.
	Pending string `json:",omitempty"`
}

// Kind is the kind of an operation.
type Kind string

// The kinds of operations. The previews of all of them are tried too.
const (
	Update  Kind = "update"
	Refresh Kind = "refresh"
	Destroy Kind = "destroy"
	Import  Kind = "import"  // imports what the program's declarations name: no program runs
	Recover Kind = "recover" // resolves what is pending, by reading; it has no preview
)

// Manner is how a program registers its resources.
type Manner string

const (
	// Serial programs register one resource after the other.
	Serial Manner = ""
	// Ordered programs do not wait for answers that they do not need, but their registrations always arrive in the same
	// order.
	Ordered Manner = "ordered"
	// Eager programs register each resource as soon as what it refers to has been answered, as SDKs do. Which of two
	// unrelated registrations arrives first depends on timing.
	Eager Manner = "eager"
)

// runsProgram reports whether the operation runs the program.
func (o Operation) runsProgram() bool {
	return o.Do == Update || o.RunProgram && (o.Do == Refresh || o.Do == Destroy)
}

// Declaration is one thing that a program declares. References are names of earlier declarations. References to what is
// not declared earlier, or was not made, are left out.
type Declaration struct {
	Kind DeclarationKind `json:",omitempty"`
	Name string
	Type string `json:",omitempty"` // "" is Thing
	// Values are constants. Refs are properties whose value is an output of another resource.
	Values map[string]string `json:",omitempty"`
	Refs   map[string]string `json:",omitempty"`
	Secret []string          `json:",omitempty"` // properties, or exports, that are secret
	// Outputs are properties of which the value is an output of the stack that a reader reads. One that does not exist is left out.
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
	// Exports are names of resources whose output the stack exports, once everything is declared.
	Exports []string `json:",omitempty"`
	// Hooks are names of hooks by kind, as in BeforeCreate: "well" does nothing, "ill" fails, "again" asks for one retry.
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
	Name   string `json:",omitempty"` // of the resource; "" is every one
	Nth    int    `json:",omitempty"` // 0 is every call
	// Applied failures come after the call took effect. Died failures leave the outcome uncertain: the plugin died.
	Applied bool `json:",omitempty"`
	Died    bool `json:",omitempty"`
	// Late is when the call takes effect during which the plugin died; 0 leaves that to Applied.
	Late Landing `json:",omitempty"`
}

// Edit is a change of the state or of the cloud between operations.
type Edit struct {
	Do   EditKind
	Name string // of the resource; nothing happens if there is none
}

// EditKind is the kind of an edit.
type EditKind string

// The kinds of edits.
const (
	Taint              EditKind = "taint"
	Protect            EditKind = "protect"
	Unprotect          EditKind = "unprotect"
	Retain             EditKind = "retain"
	PendingReplacement EditKind = "pending-replacement" // an earlier run deleted it and did not make it again
	OldCopy            EditKind = "old-copy"            // an earlier run replaced it and did not delete the old one
	PendingOperation   EditKind = "pending-operation"   // an earlier run began to create something, and another one has recorded it
	Interrupted        EditKind = "interrupted"         // an earlier run began to create a replacement of it
	Drift              EditKind = "drift"               // somebody changed the object
	Vanish             EditKind = "vanish"              // somebody deleted the object
	Foreign            EditKind = "foreign"             // an object of that ID exists that is not the stack's
)

// dependencies lists what d refers to, except its parent.
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

// Policy is one policy, in a pack of its own. It judges things.
type Policy struct {
	Do   PolicyKind
	Name string `json:",omitempty"` // of the resource that it is about; "" is every one
	// Property is what a resource must not have. A remedy makes its value "remedied" instead.
	Property string
}

// PolicyKind is what a policy does.
type PolicyKind string

// The kinds of policies. Those of stacks judge outputs at the end.
const (
	Advise         PolicyKind = "advise"
	Mandate        PolicyKind = "mandate"
	Remedy         PolicyKind = "remedy"
	AdviseOnStack  PolicyKind = "advise-stack"
	MandateOnStack PolicyKind = "mandate-stack"
)

// Stage is a stage that a caller has put into a slot.
type Stage struct {
	In      SlotName
	Do      StageKind
	Name    string `json:",omitempty"` // of the resource that it is about; "" is every one
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
	Standard   SlotName = "standard" // no slot: around the standard stages that may be replaced
)

// StageKind is what a stage does.
type StageKind string

// The kinds of stages. All of them watch what passes.
const (
	Watch  StageKind = "watch"
	Delay  StageKind = "delay"
	Refuse StageKind = "refuse" // behind register and before execute, or a delete
	Change StageKind = "change" // the goal, behind register: the property "staged" is added
)

// Race is one operation that several engines begin at about the same time, each in a process of its own.
type Race struct {
	Engines []Engine
	// Server says that the store knows which processes are alive, as Postgres does. Otherwise a person removes the locks of
	// dead ones.
	Server bool `json:",omitempty"`
}

// Engine is one of the engines of a race.
type Engine struct {
	After int     `json:",omitempty"` // milliseconds, that it begins after the first
	Crash int     `json:",omitempty"` // as of an operation
	Late  Landing `json:",omitempty"`
}
