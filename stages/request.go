package stages

import (
	"context"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Monitor is what a program talks to: it declares resources, reads and calls. The gRPC server in source/monitor offers
// it to programs in other processes, and a program that is a Go function gets one. Every method may be called
// from many goroutines; Register and Read return only when the resource's step is finished and recorded (steps.md
// ORD-6). After the run has stopped every method returns an error that wraps [ErrShutDown].
type Monitor interface {
	Register(ctx context.Context, req *RegisterRequest) (*RegisterReply, error)
	Read(ctx context.Context, req *ReadRequest) (*RegisterReply, error)
	RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error
	Invoke(ctx context.Context, req *InvokeRequest) (*InvokeReply, error)
	Call(ctx context.Context, req *CallRequest) (*CallReply, error)
	RegisterPackage(ctx context.Context, p Package) (ref string, err error)
	RegisterStackTransform(ctx context.Context, t Transform) error
	RegisterInvokeTransform(ctx context.Context, t InvokeTransform) error
	RegisterHook(ctx context.Context, h Hook) error
	RegisterErrorHook(ctx context.Context, h ErrorHook) error
	// Omit says that the program declares a resource and does not register it, because others that it needs were not made. The request may be
	// incomplete. because are the URNs of those others. It returns the URN of the resource. A program need not say so; the resource is then
	// kept all the same, but not among what was skipped.
	Omit(ctx context.Context, req *RegisterRequest, because []urn.URN) urn.URN

	// Log reports a message of the program or of a plugin (protocol.md 5.1). An error message alone does not fail the run:
	// the end of the program decides whether it has failed.
	Log(ctx context.Context, m LogMessage)
	// WaitForShutdown records that no more registrations will come, and returns when the engine is completely done
	// (steps.md 9.8). Only one caller may wait.
	WaitForShutdown(ctx context.Context) error
	// Info describes the run.
	Info() RunInfo
}

// RunInfo is what a program may know about the run.
type RunInfo struct {
	Organization     string
	Project          string
	Stack            string
	Config           map[string]string // "namespace:name" -> plain text, secrets decrypted (state.md 6.7)
	ConfigSecretKeys []string
	DryRun           bool
	Parallel         int
}

// Package is the plugin that serves a package (protocol.md 4.5, 4.9). The zero value of a field means "not given".
type Package struct {
	Name             string // of the package, or of the plugin when there is a Parameterization
	Version          string // semver without a leading "v"
	DownloadURL      string
	Recorded         bool              // the recorded state names it, and not the program
	Exact            bool              // somebody has written Version or DownloadURL for this program, and not for an SDK
	Checksums        map[string][]byte // "<os>-<arch>" -> SHA-256 of the plugin's archive
	Parameterization *Parameterization
	Extension        *Parameterization
}

// Parameterization makes one plugin serve another package (protocol.md 1.12).
type Parameterization struct {
	Name, Version string
	Value         []byte
}

// RegisterRequest declares one resource: the fields of protocol.md 4.3. Nil pointers and empty values mean "not given".
type RegisterRequest struct {
	Type   urn.Type
	Name   string
	Parent urn.URN
	Custom bool
	Remote bool // a component that a provider constructs
	Inputs property.Map

	ImportID                string
	Protect                 *bool
	RetainOnDelete          *bool
	DeleteBeforeReplace     *bool
	Dependencies            []urn.URN
	PropertyDependencies    map[string][]urn.URN // nil: not given; every property then depends on Dependencies
	Provider                string               // reference of an explicit provider
	Providers               map[string]string    // package -> reference
	Package                 Package              // version, URL and so on for the default provider, or for a provider resource
	PackageRef              string               // of [Monitor.RegisterPackage]; overrides Package
	Aliases                 []urn.Alias
	AliasSpecs              bool // the SDK knows alias specifications
	IsNodeJS                bool // the caller is the Node.js SDK (steps.md 1.2 item 5)
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	HideDiffs               []string
	AdditionalSecretOutputs []string
	CustomTimeouts          CustomTimeouts
	DeletedWith             urn.URN
	ReplaceWith             []urn.URN
	ReplacementTrigger      property.Value
	Transforms              []Transform
	Hooks                   map[string][]string // hook type -> names
	EnvVarMappings          map[string]string
	SupportsResultReporting bool
	SourcePosition          string // already in the form that states hold (protocol.md 4.13)
	StackTrace              []state.StackFrame
	ParentStackTraceHandle  string
}

// CustomTimeouts are the texts that the program gave: Go durations such as "5m".
type CustomTimeouts struct{ Create, Update, Delete, Read string }

// RegisterReply answers a registration or a read.
type RegisterReply struct {
	URN                  urn.URN
	ID                   string // empty for components and for what a preview would create
	Outputs              property.Map
	Result               Result
	Unknown              bool                 // nothing was done; everything about the resource is unknown (steps.md 1.3)
	PropertyDependencies map[string][]urn.URN // of remote components
}

// Result is how a registration ended. The numbers are those of the wire.
type Result int

// The results. Fail and Skip occur only with continue-on-error (steps.md 9.4).
const (
	Success Result = iota
	Fail
	Skip
)

// ReadRequest asks for a resource that the program does not manage (steps.md 4.1).
type ReadRequest struct {
	Type                    urn.Type
	Name                    string
	ID                      property.Value // a string or an unknown
	Parent                  urn.URN
	Properties              property.Map
	Dependencies            []urn.URN
	Provider                string
	Package                 Package
	PackageRef              string
	AdditionalSecretOutputs []string
	SourcePosition          string
	StackTrace              []state.StackFrame
	ParentStackTraceHandle  string
}

// InvokeRequest calls a function of a provider (protocol.md 4.6).
type InvokeRequest struct {
	Token      string
	Args       property.Map
	Provider   string
	Package    Package
	PackageRef string
	Parent     urn.URN
	DependsOn  []urn.URN
}

// InvokeReply is the result of an Invoke, or the arguments that the function refuses.
type InvokeReply struct {
	Return   property.Map
	Failures []CheckFailure
	Unknown  bool
}

// CheckFailure is one property that a provider refuses.
type CheckFailure struct{ Property, Reason string }

// CallRequest calls a method of a resource (protocol.md 4.7).
type CallRequest struct {
	Token            string
	Args             property.Map
	ArgDependencies  map[string][]urn.URN
	Provider         string
	Package          Package
	PackageRef       string
	SourcePosition   string
	StackTraceHandle string
}

// CallReply is the result of a Call.
type CallReply struct {
	Return             property.Map
	ReturnDependencies map[string][]urn.URN
	Failures           []CheckFailure
}

// LogMessage is a message for the user (protocol.md 5.1).
type LogMessage struct {
	Severity  Severity
	Message   string
	URN       urn.URN // "" is the stack
	StreamID  int32   // messages with the same non-zero ID belong together
	Ephemeral bool
	Advice    []advice.Advice // what the user can do; the message does not say it
	// Debugger is nil unless the message says that a process waits for a debugger. Then it is what an editor needs to attach one,
	// as its launch configurations have it: numbers, texts, lists and maps.
	Debugger map[string]any
}

// Severity is the weight of a diagnostic.
type Severity int

// The severities.
const (
	Debug Severity = iota
	Info
	InfoErr // what a process wrote to its error stream
	Warning
	Error
)

// String returns the name used in events.
func (s Severity) String() string {
	return [...]string{"debug", "info", "info#err", "warning", "error"}[s]
}

// Transform rewrites a registration before the engine sees it (protocol.md 4.10). It runs in the program.
type Transform func(ctx context.Context, in TransformInput) (TransformInput, error)

// TransformInput is what a transform sees and what it returns. Type, Name, Custom and Parent cannot be changed.
type TransformInput struct {
	Type       urn.Type
	Name       string
	Custom     bool
	Parent     urn.URN
	Properties property.Map
	Options    TransformOptions
}

// TransformOptions are the options that a transform may change.
type TransformOptions struct {
	DependsOn               []urn.URN
	Protect                 *bool
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	Version                 string
	Aliases                 []urn.Alias
	Provider                string
	CustomTimeouts          CustomTimeouts
	PluginDownloadURL       string
	RetainOnDelete          *bool
	DeletedWith             urn.URN
	DeleteBeforeReplace     *bool
	AdditionalSecretOutputs []string
	Providers               map[string]string
	PluginChecksums         map[string][]byte
	Hooks                   map[string][]string
	Import                  string
	HideDiffs               []string
	ReplaceWith             []urn.URN
	ReplacementTrigger      property.Value
}

// InvokeTransform rewrites the arguments of an Invoke. It runs in the program.
type InvokeTransform func(ctx context.Context, in InvokeTransformInput) (InvokeTransformInput, error)

// InvokeTransformInput is what an invoke transform sees and what it returns. Token cannot be changed.
type InvokeTransformInput struct {
	Token             string
	Args              property.Map
	Provider          string
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte
}

// Hook is a callback of the program around an operation on a resource (steps.md 9.6).
type Hook struct {
	Name         string
	OnDryRun     bool
	IgnoreErrors bool
	Run          func(ctx context.Context, in HookInput) error
}

// ErrorHook is asked after a failed operation whether to try again.
type ErrorHook struct {
	Name string
	Run  func(ctx context.Context, in HookInput) (retry bool, err error)
}

// HookInput is what a hook gets about the operation. Nil maps are absent.
type HookInput struct {
	URN                    urn.URN
	ID                     string
	Name                   string
	Type                   urn.Type
	OldInputs, NewInputs   *property.Map
	OldOutputs, NewOutputs *property.Map
	OldOptions, NewOptions *HookOptions
	FailedOperation        string   // error hooks: create, update or delete
	Errors                 []string // error hooks: newest first
}

// HookOptions are the options of a resource as hooks see them.
type HookOptions struct {
	TransformOptions
	Parent urn.URN
}

// CreateResolution is what is done about an interrupted create. The zero value leaves it pending, and the resource is not
// created again ([InterruptedCreateError]).
type CreateResolution struct {
	// Clear removes it: nothing has been made.
	Clear bool
	// ID is that of the object that was made. It is read and recorded as the resource. If it cannot be read, the operation
	// fails and the create stays pending.
	ID string
	// Again allows the resource to be created once more, whatever this create has made. The create is removed once the resource
	// is recorded, and stays pending until then.
	Again bool
}

// Resolution is what was found out, or said, about an operation that an earlier run began and whose end nobody knew.
type Resolution struct {
	state.Pending
	Outcome ResolutionOutcome
	// ID is that of the object that is recorded now, "" if there is none.
	ID string
	// Replaced is the ID of the object that an adopted one takes the place of, "" if there is none. The next update deletes it.
	Replaced string
	// Why is the reason, as a clause.
	Why string
}

// ResolutionOutcome is how an operation that was interrupted is resolved.
type ResolutionOutcome string

// The outcomes of interrupted operations.
const (
	Adopted    ResolutionOutcome = "adopted"    // of a create: the object that it has made is recorded
	NotCreated ResolutionOutcome = "notCreated" // of a create: it has made nothing
	Exists     ResolutionOutcome = "exists"     // of an update or delete: the object is recorded as it is now
	Gone       ResolutionOutcome = "gone"       // of an update or delete: the object does not exist any more
	Dropped    ResolutionOutcome = "dropped"    // of a read or import: it has changed nothing
	Unresolved ResolutionOutcome = "unknown"    // it stays pending
)

// Autonamer decides how a resource without a name is named (steps.md 3.5).
type Autonamer interface {
	// Autoname returns nil when the configuration says nothing. random is false when nothing in the name is random, so
	// that two objects of that name cannot exist at once.
	Autoname(u urn.URN, seed []byte) (options *providers.Autonaming, random bool)
}

// Views receives what providers in other processes publish about views (steps.md 9.9).
type Views interface {
	// PublishViews publishes under a token that was handed out for a call that still goes on.
	PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error
}
