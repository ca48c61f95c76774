package stages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// Monitor receives the requests of a program: it declares resources, reads and calls. The gRPC server in source/monitor offers it
// to programs in other processes, and a program that is a Go function gets one. Every method may be called from many goroutines.
// Register and Read return only when the resource's step is finished and recorded (steps.md ORD-6). After the run has stopped every
// method returns an error that wraps [ErrShutDown].
type Monitor interface {
	Register(ctx context.Context, req *RegisterRequest) (*RegisterReply, error)
	Read(ctx context.Context, req *ReadRequest) (*RegisterReply, error)
	Exists(ctx context.Context, req *ExistsRequest) (*ExistsReply, error)
	RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error
	Invoke(ctx context.Context, req *InvokeRequest) (*InvokeReply, error)
	Call(ctx context.Context, req *CallRequest) (*CallReply, error)
	RegisterPackage(ctx context.Context, p Package) (ref string, err error)
	RegisterStackTransform(ctx context.Context, t Transform) error
	RegisterInvokeTransform(ctx context.Context, t InvokeTransform) error
	RegisterHook(ctx context.Context, h Hook) error
	RegisterErrorHook(ctx context.Context, h ErrorHook) error
	// Omit records that the program declares a resource and does not register it, because others that it needs were not made.
	// because has the URNs of those others; it is empty if an expression of the program has failed. The request may be incomplete. Omit returns the URN of the resource. A program need not
	// call it; the resource is kept in any case, but without the call it is not listed as skipped.
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

// RunInfo is the part of the run's settings that programs get.
type RunInfo struct {
	Organization     string
	Project          string
	Stack            string
	Config           map[string]string // "namespace:name" -> plain text, secrets decrypted (state.md 6.7)
	ConfigSecretKeys []string
	DryRun           bool
	Parallel         int
}

// Package is the plugin that serves a package ([protocol.md 4.5], [protocol.md 4.9]). The zero value of a field means "not given".
//
// [protocol.md 4.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#45-providers
// [protocol.md 4.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#49-registerpackage
type Package struct {
	Name             string // of the package, or of the plugin when there is a Parameterization
	Version          string // semver without a leading "v"
	DownloadURL      string
	Recorded         bool              // named by the recorded state and not by the program
	Exact            bool              // Version or DownloadURL was written for this program, and not for an SDK
	Checksums        map[string][]byte // "<os>-<arch>" -> SHA-256 of the plugin's archive
	Parameterization *Parameterization
	Extension        *Parameterization
}

// CheckNames returns a [*urn.NameError] unless the names of the plugin and of its package are valid. They come from programs and
// plugins, and plugins are found by them.
func (p Package) CheckNames() error {
	if err := urn.CheckPluginName(p.Name); err != nil {
		return err
	}
	for _, x := range []*Parameterization{p.Parameterization, p.Extension} {
		if x == nil {
			continue
		}
		if err := urn.CheckPackageName("package", x.Name); err != nil {
			return err
		}
	}
	return nil
}

// OwnVersion is the version of the package itself.
func (p Package) OwnVersion() string {
	if p.Parameterization != nil {
		return p.Parameterization.Version
	}
	return p.Version
}

// ServedBy returns the package whose provider serves resources of a type: that of the type, or the one that an extension extends.
func (p Package) ServedBy(t urn.Type) string {
	if p.Extension != nil {
		return p.Name
	}
	return t.Package()
}

// Spec returns the specification of the provider of pkg.
func (p Package) Spec(pkg string) providers.Spec {
	s := providers.Spec{
		Package: pkg, Version: p.OwnVersion(), DownloadURL: p.DownloadURL, Checksums: p.Checksums, Recorded: p.Recorded, Exact: p.Exact,
	}
	if p.Parameterization != nil {
		s.Parameterization = &providers.Parameterization{Plugin: p.Name, PluginVersion: p.Version, Value: p.Parameterization.Value}
	}
	return s
}

// Parameterization makes one plugin serve another package ([protocol.md 1.12]).
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
type Parameterization struct {
	Name, Version string
	Value         []byte
}

// Ref returns the reference to an extension in states: the same for the same content ([state.md 1.10]).
//
// [state.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#110-snippets-and-extensions
func (p Parameterization) Ref() string {
	h := sha256.New()
	h.Write([]byte(p.Name))
	h.Write([]byte{0})
	h.Write([]byte(p.Version))
	h.Write([]byte{0})
	h.Write(p.Value)
	return hex.EncodeToString(h.Sum(nil))
}

// RegisterRequest declares one resource: the fields of [protocol.md 4.3]. Nil pointers and empty values mean "not given".
//
// [protocol.md 4.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#43-registerresource
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
	CarriesDependencies     bool                 // PropertyDependencies is not given, because outputs in Inputs carry all dependencies
	Provider                string               // reference of an explicit provider
	Providers               map[string]string    // package -> reference
	Package                 Package              // version, URL and so on for the default provider, or for a provider resource
	PackageRef              string               // of [Monitor.RegisterPackage]; overrides Package
	Aliases                 []urn.Alias
	AliasSpecs              bool // the SDK supports alias specifications
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
	StateMigrations         []migration.Function
	Hooks                   map[string][]string // type, such as [HookBeforeCreate] -> names of registered hooks
	EnvVarMappings          map[string]string
	SupportsResultReporting bool
	SourcePosition          string // already in the form that states hold (protocol.md 4.13)
	StackTrace              []state.StackFrame
	ParentStackTraceHandle  string
	// Ordered is the place of the registration in a program with a fixed order; nil for other programs.
	Ordered *Ordered
}

// Ordered is the place of a request in a program with a fixed order. The engine numbers such requests in the order in which they are
// submitted, although some of them need a provider before they get their number. Other requests are numbered as they arrive.
type Ordered struct {
	// Ordinal is the place of the resource in the text of the program, from 1.
	Ordinal int
	// Submitted is called once, when the place of the request among the others is fixed. It is not called for a request that is
	// refused before.
	Submitted func()
}

// CustomTimeouts are the texts that the program gave: Go durations such as "5m".
type CustomTimeouts struct{ Create, Update, Delete, Read string }

// RegisterReply answers a registration or a read.
type RegisterReply struct {
	URN                  urn.URN
	ID                   string // empty for components and for resources that a preview would create
	Outputs              property.Map
	Result               Result
	Unknown              bool                 // nothing was done; everything about the resource is unknown (steps.md 1.3)
	PropertyDependencies map[string][]urn.URN // of remote components
}

// Result is how a registration ended. The numbers are those of the wire. A program that does not set [RegisterRequest.SupportsResultReporting] gets
// no other one than Success: in an update a failed registration is an error, and a preview goes on, with no outputs.
type Result int

// The results. Fail and Skip occur only with continue-on-error ([steps.md 9.4]).
//
// [steps.md 9.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#94-failures
const (
	Success Result = iota
	Fail
	Skip
)

// ReadRequest is a request for a resource that the program does not manage ([steps.md 4.1]).
//
// [steps.md 4.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#41-reads
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
	Ordered                 *Ordered // as for registrations
}

// ExistsRequest asks whether an object exists. It changes nothing and records nothing.
type ExistsRequest struct {
	Type       urn.Type
	ID         property.Value // a string or an unknown
	Parent     urn.URN
	Properties property.Map // with the ID, they are sufficient to identify the object
	Provider   string
	Package    Package
	PackageRef string
}

// ExistsReply answers an [ExistsRequest]. Unknown is true if a preview cannot find out: the ID or the configuration of the
// provider is unknown.
type ExistsReply struct{ Exists, Unknown bool }

// InvokeRequest calls a function of a provider ([protocol.md 4.6]).
//
// [protocol.md 4.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#46-invoke
type InvokeRequest struct {
	Token      string
	Args       property.Map
	Provider   string
	Package    Package
	PackageRef string
	Parent     urn.URN
	DependsOn  []urn.URN
	// KeepOutputs keeps the outputs, with their dependencies, in the result.
	KeepOutputs bool
}

// InvokeReply is the result of an Invoke, or the arguments that the function refuses.
type InvokeReply struct {
	Return   property.Map
	Failures []CheckFailure
	Unknown  bool
}

// CheckFailure is one property that a provider refuses.
type CheckFailure struct{ Property, Reason string }

// CallRequest calls a method of a resource ([protocol.md 4.7]).
//
// [protocol.md 4.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#47-call
type CallRequest struct {
	Token            string
	Args             property.Map
	ArgDependencies  map[string][]urn.URN
	Provider         string
	Package          Package
	PackageRef       string
	SourcePosition   string
	StackTraceHandle string
	// KeepOutputs keeps the outputs, with their dependencies, in the result.
	KeepOutputs bool
}

// CallReply is the result of a Call.
type CallReply struct {
	Return             property.Map
	ReturnDependencies map[string][]urn.URN
	Failures           []CheckFailure
}

// LogMessage is a message for the user ([protocol.md 5.1]).
//
// [protocol.md 5.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#51-engine
type LogMessage struct {
	Severity  Severity
	Message   string
	URN       urn.URN // "" is the stack
	StreamID  int32   // messages with the same non-zero ID belong together
	Ephemeral bool
	Advice    []advice.Advice // what the user can do; the text of the message does not have it
	// Debugger is set if the message is about a process that waits for a debugger. It has what an editor needs to attach one, in
	// the form of launch configurations: numbers, texts, lists and maps.
	Debugger map[string]any
}

// Severity is the weight of a diagnostic.
type Severity int

// The severities.
const (
	Debug Severity = iota
	Info
	InfoErr // the error output of a process
	Warning
	Error
)

// String returns the name used in events.
func (s Severity) String() string {
	return [...]string{"debug", "info", "info#err", "warning", "error"}[s]
}

// Transform rewrites a registration before the engine uses it ([protocol.md 4.10]). It runs in the program.
//
// [protocol.md 4.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#410-transforms
type Transform func(ctx context.Context, in TransformInput) (TransformInput, error)

// TransformInput is the input and the result of a transform. Type, Name, Custom and Parent cannot be changed.
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

// InvokeTransformInput is the input and the result of an invoke transform. Token cannot be changed.
type InvokeTransformInput struct {
	Token             string
	Args              property.Map
	Provider          string
	Version           string
	PluginDownloadURL string
	PluginChecksums   map[string][]byte
}

// The types of hooks: the keys of [RegisterRequest].Hooks and of what states record ([state.md 1.6]).
//
// [state.md 1.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#16-resource
const (
	HookBeforeCreate = "BeforeCreate"
	HookAfterCreate  = "AfterCreate"
	HookBeforeUpdate = "BeforeUpdate"
	HookAfterUpdate  = "AfterUpdate"
	HookBeforeDelete = "BeforeDelete"
	HookAfterDelete  = "AfterDelete"
	HookOnError      = "OnError" // an [ErrorHook]
)

// HookTypes returns the types of hooks.
func HookTypes() []string {
	return []string{HookBeforeCreate, HookAfterCreate, HookBeforeUpdate, HookAfterUpdate, HookBeforeDelete, HookAfterDelete, HookOnError}
}

// Hook is a callback of the program around an operation on a resource ([steps.md 9.6]).
//
// [steps.md 9.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#96-hooks
type Hook struct {
	Name         string
	OnDryRun     bool
	IgnoreErrors bool
	Run          func(ctx context.Context, in HookInput) error
}

// ErrorHook is called after a failed operation and reports whether to try again.
type ErrorHook struct {
	Name string
	Run  func(ctx context.Context, in HookInput) (retry bool, err error)
}

// HookInput is the input of a hook. Nil maps are absent.
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

// HookOptions are the options of a resource in the input of a hook.
type HookOptions struct {
	TransformOptions
	Parent urn.URN
}

// CreateResolution is the resolution of an interrupted create. The zero value leaves it pending, and the resource is not created
// again ([InterruptedCreateError]).
type CreateResolution struct {
	// Clear removes the pending create: it has made nothing.
	Clear bool
	// ID is that of the object that the create has made. It is read and recorded as the resource. If it cannot be read, the
	// operation fails and the create stays pending.
	ID string
	// Again allows another create of the resource, whatever this create has made. The create stays pending until the resource is
	// recorded, and is then removed.
	Again bool
}

// Resolution is the result for an operation of an earlier run whose end was unknown.
type Resolution struct {
	state.Pending
	Outcome ResolutionOutcome
	// ID is that of the recorded object, "" if there is none.
	ID string
	// Replaced is the ID of the object that an adopted one replaces, "" if there is none. The next update deletes it.
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

// Autonamer names resources to which the program gives no name ([steps.md 3.5]).
//
// [steps.md 3.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#35-check
type Autonamer interface {
	// Autoname returns nil if the configuration has no rule. random is false if the name has no random part, so that two objects of
	// that name cannot exist at once.
	Autoname(u urn.URN, seed []byte) (options *providers.Autonaming, random bool)
}

// Views receives the views that providers in other processes publish ([steps.md 9.9]).
//
// [steps.md 9.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#99-views
type Views interface {
	// PublishViews publishes under the token of a call that has not ended.
	PublishViews(ctx context.Context, token string, steps []providers.ViewStep) error
}
