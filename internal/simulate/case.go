package simulate

// Case is the history of one stack, and the timings under which each operation of it is tried.
type Case struct {
	About      string `json:",omitempty"` // what it is an example of
	Operations []Operation
	Schedules  []Schedule // at least one; the history goes on with what the first one left
}

// Schedule is one timing.
type Schedule struct {
	Seed    uint64
	Workers int
	// Milliseconds are how long a call takes at most; with 0 all take none.
	Milliseconds int `json:",omitempty"`
}

// Operation is one operation of a history.
type Operation struct {
	Do      Kind
	Before  []Edit        `json:",omitempty"` // what happens before it, behind the engine's back
	Program []Declaration `json:",omitempty"`
	Manner  Manner        `json:",omitempty"`
	// Throw makes the program fail after so many declarations, counted from 1; 0 lets it end well.
	Throw int `json:",omitempty"`
	// Stubborn programs go on with what depends on a resource that was not made.
	Stubborn bool `json:",omitempty"`
	Mishaps
	Flags
	Planned bool `json:",omitempty"` // it is also tried held to the plan that its preview makes
}

// Mishaps are what happens to an operation from outside.
type Mishaps struct {
	Failures []Failure `json:",omitempty"`
	// Interrupt and Crash come with the event, or the record, of that number, counted from 1; 0 is never.
	Interrupt int  `json:",omitempty"`
	Cancel    bool `json:",omitempty"` // the interrupt also cancels what runs
	Crash     int  `json:",omitempty"`
}

// Flags are how an operation is done.
type Flags struct {
	Targets    []string `json:",omitempty"` // names of resources
	Excludes   []string `json:",omitempty"`
	Replace    []string `json:",omitempty"`
	Dependents bool     `json:",omitempty"` // --target-dependents, --exclude-dependents

	ContinueOnError bool   `json:",omitempty"`
	Refresh         bool   `json:",omitempty"`
	RunProgram      bool   `json:",omitempty"` // refreshes and destroys run the program, and updates refresh by it
	IgnoreProtect   bool   `json:",omitempty"`
	Version         string `json:",omitempty"` // of the default provider
	// Pending is what is to be done about interrupted creates: "" nothing, "create" another object, "clear" forgets them.
	Pending string `json:",omitempty"`
}

// Kind is what an operation does.
type Kind string

// The kinds of operations. The previews of all are tried too.
const (
	Update  Kind = "update"
	Refresh Kind = "refresh"
	Destroy Kind = "destroy"
	Import  Kind = "import" // of what the program's declarations name: no program runs
)

// Manner is how a program registers its resources.
type Manner string

const (
	// Serial programs register one resource after the other.
	Serial Manner = ""
	// Ordered programs do not wait for answers that they do not need, but the order in which registrations arrive is
	// always the same.
	Ordered Manner = "ordered"
	// Eager programs register each resource as soon as what it refers to has been answered, as SDKs do: which of two
	// unrelated registrations arrives first depends on timing.
	Eager Manner = "eager"
)

// runsProgram reports whether the operation runs the program.
func (o Operation) runsProgram() bool {
	return o.Do == Update || o.RunProgram && (o.Do == Refresh || o.Do == Destroy)
}

// Declaration is one thing that a program declares. References are names of earlier declarations; those to what is not
// declared earlier, or was not made, are left out.
type Declaration struct {
	Kind DeclarationKind `json:",omitempty"`
	Name string
	Type string `json:",omitempty"` // "" is Thing
	// Values are constants. Refs are properties whose value is an output of another resource.
	Values map[string]string `json:",omitempty"`
	Refs   map[string]string `json:",omitempty"`
	Secret []string          `json:",omitempty"` // properties that are secret

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
	// Hooks are names of hooks by kind, as in BeforeCreate: "well" does nothing, "ill" fails, "again" asks for one retry.
	Hooks map[string]string `json:",omitempty"`
}

// Alias is a name that a resource used to have.
type Alias struct {
	Name     string `json:",omitempty"`
	Type     string `json:",omitempty"`
	Parent   string `json:",omitempty"`
	NoParent bool   `json:",omitempty"`
}

// DeclarationKind is what is declared.
type DeclarationKind string

// What programs declare.
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
	// Applied failures come after the work was done. Died ones leave nobody knowing: the plugin died.
	Applied bool `json:",omitempty"`
	Died    bool `json:",omitempty"`
}

// Edit is something that happens to the state or to the cloud between operations.
type Edit struct {
	Do   EditKind
	Name string // of the resource; nothing happens if there is none
}

// EditKind is what happens.
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
