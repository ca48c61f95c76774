package providers

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Provider manages the resources of one package with one configuration. A plugin process, a built-in provider and a Go
// value in a test all implement it. Every method may be called from many goroutines at once; Check, Diff and the other
// resource methods are called only after Configure has returned ([protocol.md 3.1]).
//
// Embed [Unimplemented] to write a provider that supports only some of the methods.
//
// [protocol.md 3.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#31-life
type Provider interface {
	// Package is the name of the package this provider serves.
	Package() string

	// CheckConfig and DiffConfig are Check and Diff of the provider resource itself (protocol.md 3.3).
	CheckConfig(ctx context.Context, req CheckRequest) (CheckResponse, error)
	DiffConfig(ctx context.Context, req DiffRequest) (DiffResponse, error)
	Configure(ctx context.Context, req ConfigureRequest) error

	Check(ctx context.Context, req CheckRequest) (CheckResponse, error)
	Diff(ctx context.Context, req DiffRequest) (DiffResponse, error)
	Create(ctx context.Context, req CreateRequest) (CreateResponse, error)
	Read(ctx context.Context, req ReadRequest) (ReadResponse, error)
	List(ctx context.Context, req ListRequest) (ListResponse, error)
	Update(ctx context.Context, req UpdateRequest) (UpdateResponse, error)
	Delete(ctx context.Context, req DeleteRequest) error

	Invoke(ctx context.Context, req InvokeRequest) (InvokeResponse, error)
	Call(ctx context.Context, req CallRequest) (CallResponse, error)
	Construct(ctx context.Context, req ConstructRequest) (ConstructResponse, error)
	Parameterize(ctx context.Context, req ParameterizeRequest) (ParameterizeResponse, error)
	Schema(ctx context.Context, req SchemaRequest) (string, error)
	// Mapping returns how the names of another tool's provider correspond to those of this one, for converters; no Data if
	// the provider has none. Mappings returns the names of the other tool's providers that Mapping supports; if there are
	// none, only Mapping with no name can have an answer (protocol.md 3.12).
	Mapping(ctx context.Context, req MappingRequest) (MappingResponse, error)
	Mappings(ctx context.Context, key string) ([]string, error)

	// Cancel asks the provider to abort its work; calls in flight then return soon.
	Cancel(ctx context.Context) error
	// Close ends the provider: a plugin process is stopped. It is called once, after the last call has returned.
	Close() error
}

// CheckRequest asks a provider to validate inputs ([protocol.md 3.4]).
//
// [protocol.md 3.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#34-check
type CheckRequest struct {
	URN           urn.URN
	Name          string
	Type          urn.Type
	Olds          property.Map // checked inputs of the last run; empty if there are none
	News          property.Map
	OldOutputs    property.Map // outputs of the last run; empty if the resource is made, or made anew
	AllowUnknowns bool         // true in previews
	RandomSeed    []byte       // 32 bytes, the same for every Check of a registration
	Autonaming    *Autonaming
}

// Autonaming is the project's configuration of the names that the provider generates.
type Autonaming struct {
	ProposedName string
	Mode         AutonamingMode
	// WarnIfUnsupported requests a warning when the provider does not support this.
	WarnIfUnsupported bool
}

// AutonamingMode is how binding a proposed name is.
type AutonamingMode int

// The modes of autonaming, with their numbers on the wire.
const (
	AutonamingPropose AutonamingMode = iota
	AutonamingEnforce
	AutonamingDisable
)

// CheckFailure is one input that a provider refuses. Property may be empty.
type CheckFailure struct{ Property, Reason string }

// CheckResponse holds the inputs to use from now on, or failures.
type CheckResponse struct {
	Inputs   property.Map
	Failures []CheckFailure
	// AutonamingUnsupported is true if the provider does not support such settings and did not get the request's
	// Autonaming. The engine warns if the request requires that (protocol.md 3.4).
	AutonamingUnsupported bool
}

// DiffRequest is for comparing a resource with new inputs ([protocol.md 3.5]).
//
// [protocol.md 3.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#35-diff
type DiffRequest struct {
	URN           urn.URN
	Name          string
	Type          urn.Type
	ID            string
	OldInputs     property.Map
	OldOutputs    property.Map
	NewInputs     property.Map
	AllowUnknowns bool
	IgnoreChanges []string
}

// DiffChanges reports whether anything changed.
type DiffChanges int

// The answers of a Diff, with their numbers on the wire.
const (
	DiffUnknown DiffChanges = iota // the engine compares the inputs itself
	DiffNone
	DiffSome
)

// DiffKind is the kind of change of one property.
type DiffKind int

// The kinds of change, with their numbers on the wire.
const (
	DiffAdd DiffKind = iota
	DiffAddReplace
	DiffDelete
	DiffDeleteReplace
	DiffUpdate
	DiffUpdateReplace
)

// KindOf returns the kind of a change that needs no replacement.
func KindOf(c property.Change) DiffKind {
	switch c.Kind {
	case property.Added:
		return DiffAdd
	case property.Deleted:
		return DiffDelete
	}
	return DiffUpdate
}

// IsReplace reports whether a change of this kind needs a replacement.
func (k DiffKind) IsReplace() bool {
	return k == DiffAddReplace || k == DiffDeleteReplace || k == DiffUpdateReplace
}

// AsReplace returns the variant of k that needs a replacement.
func (k DiffKind) AsReplace() DiffKind {
	if k.IsReplace() {
		return k
	}
	return k + 1
}

// String returns the name used in events: "add", "add-replace" and so on.
func (k DiffKind) String() string {
	switch k {
	case DiffAdd:
		return "add"
	case DiffAddReplace:
		return "add-replace"
	case DiffDelete:
		return "delete"
	case DiffDeleteReplace:
		return "delete-replace"
	case DiffUpdateReplace:
		return "update-replace"
	default:
		return "update"
	}
}

// PropertyDiff is the change of one property. If InputDiff is set, old and new inputs differ; otherwise old outputs
// differ from new inputs.
type PropertyDiff struct {
	Kind      DiffKind
	InputDiff bool
}

// DiffResponse is a provider's answer to a Diff.
type DiffResponse struct {
	Changes             DiffChanges
	ReplaceKeys         []string
	StableKeys          []string
	ChangedKeys         []string
	DetailedDiff        map[string]PropertyDiff // property path -> change; nil when the provider gave none
	DeleteBeforeReplace bool
}

// Replaces reports whether the answer requires a replacement ([steps.md 3.8]).
//
// [steps.md 3.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#38-diff
func (d DiffResponse) Replaces() bool {
	if len(d.ReplaceKeys) > 0 {
		return true
	}
	for _, p := range d.DetailedDiff {
		if p.Kind.IsReplace() {
			return true
		}
	}
	return false
}

// ConfigureRequest configures a provider instance ([protocol.md 3.3]).
//
// [protocol.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#33-configuration
type ConfigureRequest struct {
	URN    urn.URN // of the provider resource
	Name   string
	Type   urn.Type
	ID     string // "" when not known yet
	Inputs property.Map
}

// CreateRequest makes a resource.
type CreateRequest struct {
	URN        urn.URN
	Name       string
	Type       urn.Type
	Properties property.Map
	Timeout    float64 // seconds; 0 is the provider's default
	Preview    bool
	Status     Status
}

// CreateResponse is a resource that exists. ID is empty only in previews.
type CreateResponse struct {
	ID                  string
	Properties          property.Map
	RefreshBeforeUpdate bool
}

// ReadRequest reads the current state of a resource ([protocol.md 3.6]).
//
// [protocol.md 3.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#36-create-update-delete-read
type ReadRequest struct {
	URN      urn.URN
	Name     string
	Type     urn.Type
	ID       string
	Inputs   property.Map
	State    property.Map
	Known    bool    // Inputs and State are sent; false for an import, which has only the ID
	Timeout  float64 // seconds
	OldViews []View
	Status   Status
}

// ReadResponse is the result of a read: the ID of the object that exists, or Absent. An answer with neither is an error: a refresh
// would forget an object that may exist.
type ReadResponse struct {
	ID                  string
	Absent              bool // there is no such object; the other fields do not count
	Unread              bool // the provider cannot read such objects: the other fields are those of the request
	Unknown             bool // the provider was not asked, because its configuration is not known in this preview: only the ID counts
	Inputs              property.Map
	HasInputs           bool // false: the provider returned no inputs
	Properties          property.Map
	RefreshBeforeUpdate bool
}

// Validate returns an error for an answer that does not say whether the object exists, or under which ID.
func (r ReadResponse) Validate() error {
	if r.ID == "" && !r.Absent {
		return errors.New("the provider has answered Read with neither an ID nor Absent, so it is not known whether the object exists; " +
			"return the ID of an object that exists, or Absent")
	}
	if !utf8.ValidString(r.ID) {
		return fmt.Errorf("the provider has answered Read with the ID %q, which is not UTF-8", r.ID)
	}
	return nil
}

// ListRequest requests the resources of a type, whether or not the engine manages them ([protocol.md 3.12]).
//
// [protocol.md 3.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#312-other-calls
type ListRequest struct {
	Type  urn.Type
	Query property.Map // the required properties of the resources, in the provider's own terms; may have unknowns
	Limit int64        // of resources in all pages; 0 is none
	// PageSize is the number of resources of a page; 0 leaves it to the provider. Continuation is that of the previous answer, ""
	// for the first page; the other fields must be the same for all pages.
	PageSize     int64
	Continuation string
}

// ListResponse is a page of resources. Continuation is "" on the last one.
type ListResponse struct {
	Resources    []Listed
	Continuation string
	// Unknown is true if the answer depends on an unknown value of the query or of the provider's configuration.
	Unknown bool
}

// Listed is an existing resource. ID is the ID for an import and a Read; Name is "" if the provider has none.
type Listed struct{ ID, Name string }

// UpdateRequest changes a resource in place.
type UpdateRequest struct {
	URN           urn.URN
	Name          string
	Type          urn.Type
	ID            string
	OldInputs     property.Map
	OldOutputs    property.Map
	NewInputs     property.Map
	Timeout       float64 // seconds
	IgnoreChanges []string
	Preview       bool
	OldViews      []View
	Status        Status
}

// UpdateResponse holds the outputs after an update.
type UpdateResponse struct {
	Properties          property.Map
	RefreshBeforeUpdate bool
}

// DeleteRequest deletes a resource.
type DeleteRequest struct {
	URN     urn.URN
	Name    string
	Type    urn.Type
	ID      string
	Inputs  property.Map
	Outputs property.Map
	// Successor are the outputs of the object that has replaced this one and is there already; empty if there is none. Plugins do not get them.
	Successor property.Map
	Timeout   float64 // seconds
	OldViews  []View
	Status    Status
}

// InvokeRequest calls a function of the provider.
type InvokeRequest struct {
	Token   string
	Args    property.Map
	Outputs property.Map // Args with outputs, for a provider that accepts them there
	Preview bool
}

// InvokeResponse is the function's result, or the arguments it refuses.
type InvokeResponse struct {
	Return   property.Map // may have outputs
	Failures []CheckFailure
}

// CallRequest calls a method of a resource.
type CallRequest struct {
	Token            string
	Args             property.Map
	ArgDependencies  map[string][]urn.URN
	Deployment       Deployment
	StackTraceHandle string
}

// Deployment describes the run to a provider that calls back into the engine.
type Deployment struct {
	Project          string
	Stack            string
	Organization     string
	Config           map[string]string // "namespace:name" -> plain text
	ConfigSecretKeys []string
	DryRun           bool
	Parallel         int
	// MonitorAddress returns "127.0.0.1:<port>" of a gRPC server with the run's monitor, for a provider in another
	// process; the first call starts the server. Without a server the error wraps [ErrUnserved]. It may be nil outside of runs.
	MonitorAddress func() (string, error)
}

// CallResponse is a method's result.
type CallResponse struct {
	Return             property.Map
	ReturnDependencies map[string][]urn.URN
	Failures           []CheckFailure
}

// ConstructRequest makes a provider construct a component ([protocol.md 3.10]).
//
// [protocol.md 3.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#310-construct
type ConstructRequest struct {
	Deployment              Deployment
	Type                    urn.Type
	Name                    string
	Parent                  urn.URN
	Inputs                  property.Map
	InputDependencies       map[string][]urn.URN
	Providers               map[string]string
	Dependencies            []urn.URN
	Protect                 *bool
	Aliases                 []urn.Alias
	AdditionalSecretOutputs []string
	CustomTimeouts          Timeouts
	DeletedWith             urn.URN
	DeleteBeforeReplace     *bool
	IgnoreChanges           []string
	ReplaceOnChanges        []string
	RetainOnDelete          *bool
	ReplaceWith             []urn.URN
	ReplacementTrigger      property.Value
	ResourceHooks           map[string][]string
	StackTraceHandle        string
}

// Timeouts are customTimeouts as the program wrote them, in seconds.
type Timeouts struct{ Create, Update, Delete, Read float64 }

// ConstructResponse is a component that registered itself through the monitor.
type ConstructResponse struct {
	URN              urn.URN
	Outputs          property.Map
	OutputDependency map[string][]urn.URN
}

// ParameterizeRequest makes a plugin serve another package ([protocol.md 1.12]): the one that Name, Version and Value describe or,
// if Args is not nil, the one that the plugin makes from these arguments of a user.
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
type ParameterizeRequest struct {
	Name, Version string
	Value         []byte
	Args          []string
}

// ParameterizeResponse names the package that the plugin serves now.
type ParameterizeResponse struct{ Name, Version string }

// SchemaRequest requests the JSON schema of a package. The fields name the package of a parameterization; they are "" for the
// provider's own. Most callers use [Schema].
type SchemaRequest struct {
	SubpackageName, SubpackageVersion string
}

// MappingRequest requests a mapping: Key names the tool, such as "terraform", and Provider a provider of that tool; "" is the one
// that corresponds to this provider.
type MappingRequest struct{ Key, Provider string }

// MappingResponse is a mapping in the form of the tool's converter, and the name of the tool's provider that it is for.
type MappingResponse struct {
	Provider string
	Data     []byte
}
