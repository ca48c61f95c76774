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
	Enum   []string // of a string: the values that it may have; nil is any
}

// Of returns a plain type.
func Of(k Kind) Type { return Type{Kind: k} }

// ArrayOf and MapOf return the types of lists and of objects whose properties all have one type.
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
	// Required says that an input has to be there. An output that is Required always is.
	Required bool
	// Nullable says that a required input may be null, which is what SDKs make of a missing one.
	Nullable bool
	Secret   bool
	// Replace says that a change of this input needs a replacement.
	Replace bool
	// Default is what a missing input counts as; null for nothing. Outputs hold it, inputs do not.
	Default property.Value
	// Output says what becomes of an input in the outputs.
	Output Output
	// Derived says that an output is made anew by every update, from all inputs: it is secret if
	// any of them is that the description does not call secret.
	Derived bool
	// Old says what has come in place of this property; "" if it is no old form. Imports leave such inputs out.
	Old string
	Doc string
}

// Output is what becomes of an input in the outputs.
type Output int

const (
	// Repeated says that the output is the input, if that is there.
	Repeated Output = iota
	// Chosen says that the output is there even if the input is not: the resource chooses a value.
	Chosen
	// Unrecorded says that there is no output, and that a change of the input is none: another input says when it counts.
	Unrecorded
)

// Resource describes a type of resources. Every input is also an output; Computed are the other outputs.
//
// Its functions are called from many goroutines at once, and never in a preview. One that is nil has the meaning given
// with it.
type Resource struct {
	Type     urn.Type
	Doc      string
	Inputs   []Field
	Computed []Field
	// SchemaVersion is the version of the state's form that the public plugin writes into its states, so that the plugin
	// takes a state from here as it is; "" for none.
	SchemaVersion string

	// Check finds faults that the types do not show. Of unknown inputs it sees nothing; nil finds none.
	Check func(in Values) []providers.CheckFailure
	// Diff may change what the comparison of the inputs came to.
	Diff func(c Call, answer *providers.DiffResponse)
	// Create makes the resource.
	Create func(ctx context.Context, c Call) (Made, error)
	// Update returns the computed outputs that change; nil keeps all.
	Update func(ctx context.Context, c Call) (Outputs, error)
	// Delete deletes the resource; nil forgets it.
	Delete func(ctx context.Context, c Call) error
	// Read looks at the resource that c.ID and c.State describe; nil finds it unchanged.
	Read func(ctx context.Context, c Call) (Found, error)
	// Import makes the state of a resource of nothing but its ID, which it may normalize; nil refuses.
	Import func(ctx context.Context, c Call) (Made, error)
}

// Function describes a function of a package.
type Function struct {
	Token   string
	Doc     string
	Inputs  []Field
	Outputs []Field // all of them, with those that repeat inputs
	// Positional lists the arguments of a function that SDKs offer with plain arguments, in their order.
	Positional []string
	Call       func(ctx context.Context, c Call) (Outputs, error)
}

// Package describes a package.
type Package struct {
	Name    string
	Version string // of the public package with the same shape; "" for one that has none
	Owner   string // of the repository of the public package; "" is pulumi
	Doc     string
	Config  []Field
	// KeepsDefaults says that the public plugin writes defaults into the recorded inputs, as some do.
	KeepsDefaults bool
	// Configure takes in the configuration, once, before everything else; nil ignores it.
	Configure func(ctx context.Context, config Values) error
	Resources []Resource
	Functions []Function
	// Enter is called first in every call about a resource, in previews too; what it returns is the call's error. Nil does
	// nothing.
	Enter func(ctx context.Context, m providers.Method, c Call) error
	// Close releases what the provider holds; nil for nothing.
	Close func() error
}

// Outputs are outputs by name.
type Outputs map[string]property.Value

// Call is what a function of a description is called about.
type Call struct {
	URN    urn.URN // "" for functions of a package
	Name   string
	ID     string
	Inputs Values // with defaults
	State  Values // recorded outputs
	// Secretive says that an input is secret which the description does not call secret: what comes of the inputs is, too.
	Secretive bool
	Log       func(Message)
}

// Made is a resource that exists.
type Made struct {
	ID string
	// Outputs are the computed ones, and those inputs for which the resource chose a value; an import's hold all.
	Outputs Outputs
}

// Found is what a look at a resource came to.
type Found struct {
	Exists bool
	ID     string // if it is another one; "" keeps it
	// Outputs are those that are not as recorded. Where an input of that name is recorded, it changes with it.
	Outputs Outputs
}

// Message is something for the user to read.
type Message struct {
	URN     urn.URN
	Warning bool // otherwise it is shown while the operation goes on, and not kept
	Text    string
}

// Options are what a provider is told by the engine.
type Options struct {
	// Directory is what relative paths are relative to; "" is that of the process.
	Directory string
	// LookupEnv and Environ are the environment; nil is that of the process.
	LookupEnv func(string) (string, bool)
	Environ   func() []string
	// Log takes messages in, from many goroutines; nil discards.
	Log func(Message)
}

// Path returns the path that the program means by a name.
func (o Options) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Directory, name)
}

// Complete returns o with everything that may be nil filled in.
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
