package advice

// Action is what can be done.
type Action string

// What can be done about resources that an operation does not do anything to.
const (
	// Unprotect takes the protection off a resource, in the program or in the state.
	Unprotect Action = "unprotect"
	// RemoveProtection takes the protection off a resource in the program, which would protect it again.
	RemoveProtection Action = "remove protection"
	// DeleteProtected deletes records from the state although their resources are protected, or after unprotecting them.
	DeleteProtected Action = "delete protected"
	// DeleteDependents deletes the dependents too.
	DeleteDependents Action = "delete dependents"
	// TargetDependents makes the dependents of targets part of the operation.
	TargetDependents Action = "target dependents"
	// ExcludeDependents leaves the dependents of what is excluded out of the operation.
	ExcludeDependents Action = "exclude dependents"
	// TargetNeeded makes resources that others need part of the operation.
	TargetNeeded Action = "target what is needed"
	// TargetDeleted makes resources part of the operation that have to be deleted with others.
	TargetDeleted Action = "target what is deleted"
	// ListResources shows which resources there are.
	ListResources Action = "list resources"
	// RenameResource gives a resource in one of two states another name.
	RenameResource Action = "rename resource"
)

// What can be done about operations that were cut off.
const (
	// Recover finds out what became of the operations.
	Recover Action = "recover"
	// ResolveCreate says what became of the create of a resource.
	ResolveCreate Action = "resolve create"
	// Adopt records an object as that of a resource.
	Adopt Action = "adopt"
	// CancelLock removes the lock of the stack.
	CancelLock Action = "cancel lock"
	// CancelDead removes the lock of a stack if its holder has died.
	CancelDead Action = "cancel lock of the dead"
	// DiscardJournal puts a journal aside, after comparing it with the stack.
	DiscardJournal Action = "discard journal"
	// DiscardMove puts the record of a move aside, after comparing the two stacks.
	DiscardMove Action = "discard move"
	// DiscardRename puts the record of a rename aside, after comparing the two stacks.
	DiscardRename Action = "discard rename"
	// Repeat runs an operation that has failed again.
	Repeat Action = "repeat"
	// GoOn runs an operation again that was interrupted.
	GoOn Action = "go on"
	// PreviewAgain runs a preview that has failed again.
	PreviewAgain Action = "preview again"
)

// What can be done about stacks, states and settings.
const (
	// RepairState mends a state that breaks a rule of integrity.
	RepairState Action = "repair state"
	// ImportState makes a file that has been put right the state of the stack.
	ImportState Action = "import state"
	// RestoreState makes an older copy of the state the state of the stack.
	RestoreState Action = "restore state"
	// ImportAnyway imports a state although that could be dangerous.
	ImportAnyway Action = "import anyway"
	// MakeStack makes a stack that does not exist, or uses another one.
	MakeStack Action = "make stack"
	// ForgetResources removes a stack with the records of its resources.
	ForgetResources Action = "forget resources"
	// UpgradeStore gives a store the present layout.
	UpgradeStore Action = "upgrade store"
	// LogIn selects a backend.
	LogIn Action = "log in"
	// LogInToService gives an access token for the service.
	LogInToService Action = "log in to the service"
	// SendState sends to the service what a run has recorded and could not send.
	SendState Action = "send state"
	// DiscardState forgets what a run has recorded and could not send.
	DiscardState Action = "discard state"
	// SetConfig sets a key of the configuration.
	SetConfig Action = "set configuration"
	// ListVersions shows the operations on a stack, with their numbers.
	ListVersions Action = "list versions"
	// SavePlan makes an update plan.
	SavePlan Action = "save plan"
	// RunProgram runs the program in an operation that can do without.
	RunProgram Action = "run program"
	// DebugPlugins has plugins wait for a debugger, and not the program.
	DebugPlugins Action = "debug plugins"
	// RefuseBuiltins refuses providers that are built in.
	RefuseBuiltins Action = "refuse built-in providers"
)

// What can be done about plugins that are not there.
const (
	// InstallPlugin installs a plugin.
	InstallPlugin Action = "install plugin"
	// InstallFile installs a plugin from a file that the user has fetched.
	InstallFile Action = "install plugin from file"
	// InstallProject installs the packages and makes the SDKs that a project needs.
	InstallProject Action = "install project"
)
