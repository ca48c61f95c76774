package native

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Kind is the kind of a type.
type Kind string

// The kinds of types, with their names in schemas.
const (
	KindString  Kind = "string"
	KindInteger Kind = "integer"
	KindNumber  Kind = "number"
	KindBoolean Kind = "boolean"
	KindArray   Kind = "array"
	KindMap     Kind = "object"
	KindRecord  Kind = "record"  // an object with named properties
	KindAny     Kind = "any"     //
	KindAsset   Kind = "asset"   // an asset or an archive
	KindArchive Kind = "archive" // an archive
)

// Type is the type of a property.
type Type struct {
	Kind   Kind
	Elem   *Type    // of an array or a map
	Token  string   // of a record or an enumeration
	Fields []Field  // of a record
	Enum   []string // of a string: its possible values; nil is any
}

// Of returns a plain type.
func Of(k Kind) Type { return Type{Kind: k} }

// ArrayOf returns the type of lists whose elements have type t.
func ArrayOf(t Type) Type { return Type{Kind: KindArray, Elem: &t} }

// MapOf returns the type of objects whose properties have type t and any name.
func MapOf(t Type) Type { return Type{Kind: KindMap, Elem: &t} }

// Record returns the type of objects with the given properties.
func Record(token string, fields ...Field) Type {
	return Type{Kind: KindRecord, Token: token, Fields: fields}
}

// Field is one property.
type Field struct {
	Name string
	Type Type
	// Required is true if an input must be present, or if an output always is.
	Required bool
	// Nullable is true if a required input may be null. SDKs send null for a missing value.
	Nullable bool
	Secret   bool
	// Replace is true if a change of this input requires a replacement.
	Replace bool
	// Default is the value of a missing input; null for none. Outputs hold it, inputs do not.
	Default property.Value
	// Output defines how an input appears in the outputs.
	Output Output
	// Derived is true if every update computes the output again, from all inputs. The output is then secret if any input
	// is secret that the description does not mark secret.
	Derived bool
	// Old is the replacement of this property, if it is an old form; "" otherwise. Imports leave such inputs out.
	Old string
	Doc string
}

// Output defines how an input appears in the outputs.
type Output int

const (
	// Repeated means that the output is the input, if that is present.
	Repeated Output = iota
	// Chosen means that the output exists even if the input does not: the resource chooses a value.
	Chosen
	// Unrecorded means that there is no output. A change of the input alone is no change: another input defines when it
	// matters.
	Unrecorded
)

// Resource describes a type of resources. Every input is also an output; Computed are the other outputs.
//
// Its functions are called from many goroutines at once, and never in a preview. The comment of each function defines
// what nil means.
type Resource struct {
	Type     urn.Type
	Doc      string
	Inputs   []Field
	Computed []Field
	// SchemaVersion is the schema version that the public plugin writes into its states, so that the plugin accepts a
	// state of this provider unchanged; "" for none.
	SchemaVersion string

	// Check finds mistakes that the types do not exclude. It does not get unknown inputs; nil finds none.
	Check func(in Values) []providers.CheckFailure
	// Diff may change the result of the comparison of the inputs.
	Diff func(c Call, answer *providers.DiffResponse)
	// Create makes the resource.
	Create func(ctx context.Context, c Call) (Made, error)
	// Update returns the computed outputs that change; nil keeps all.
	Update func(ctx context.Context, c Call) (Outputs, error)
	// Delete deletes the resource; nil does nothing.
	Delete func(ctx context.Context, c Call) error
	// Read reads the resource that c.ID and c.State describe; nil finds it unchanged.
	Read func(ctx context.Context, c Call) (Found, error)
	// Import makes the state of a resource from its ID alone, which it may normalize; nil refuses.
	Import func(ctx context.Context, c Call) (Made, error)
}

// Function describes a function of a package.
type Function struct {
	Token   string
	Doc     string
	Inputs  []Field
	Outputs []Field // all of them, including those that repeat inputs
	// Positional lists the arguments of a function that SDKs call with positional arguments, in their order.
	Positional []string
	Call       func(ctx context.Context, c Call) (Outputs, error)
}

// Package describes a package.
type Package struct {
	Name    string
	Version string // of the public package with the same shape; "" if there is none
	Owner   string // of the repository of the public package; "" is pulumi
	Doc     string
	Config  []Field
	// KeepsDefaults is true if the public plugin writes defaults into the recorded inputs, as some do.
	KeepsDefaults bool
	// Configure receives the configuration, once, before any other call; nil ignores it.
	Configure func(ctx context.Context, config Values) error
	Resources []Resource
	Functions []Function
	// Enter is called first in every call about a resource, except in previews of creates and updates, which reach nothing. Its
	// error is the error of the call. Nil does nothing.
	Enter func(ctx context.Context, m providers.Method, c Call) error
	// Close releases the resources of the provider; nil if it has none.
	Close func() error
}

// Outputs holds outputs by name.
type Outputs map[string]property.Value

// Call describes the call of a description's function.
type Call struct {
	URN    urn.URN // "" for functions of a package
	Name   string
	ID     string
	Inputs Values // with defaults
	State  Values // recorded outputs
	// Secretive is true if an input is secret that the description does not mark secret. Outputs computed from the inputs
	// are then secret too.
	Secretive bool
	Log       func(Message)
}

// Made is the result of a create or an import.
type Made struct {
	ID string
	// Outputs are the computed outputs, and the inputs for which the resource chose a value; for an import, all of them.
	Outputs Outputs
}

// Found is the result of a read.
type Found struct {
	Exists bool
	ID     string // the new ID; "" keeps the old one
	// Outputs are those that differ from the recorded ones. If an input of that name is recorded, it changes too.
	Outputs Outputs
}

// Message is a message for the user.
type Message struct {
	URN     urn.URN
	Warning bool // otherwise it is shown during the operation, and not kept
	Text    string
}

// Options connect a provider with the engine.
type Options struct {
	// Directory is the base of relative paths; "" is the working directory of the process.
	Directory string
	// LookupEnv and Environ return the environment; nil is that of the process.
	LookupEnv func(string) (string, bool)
	Environ   func() []string
	// Log receives messages, from many goroutines; nil discards them.
	Log func(Message)
}

// Path returns the path for a name in the program.
func (o Options) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Directory, name)
}

// Complete returns o with defaults for nil fields.
func (o Options) Complete() Options {
	if o.Log == nil {
		o.Log = func(Message) {}
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	return o
}
