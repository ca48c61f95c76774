package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

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

// described describes the values of the type for messages.
func (t Type) described() string {
	switch {
	case t.Enum != nil:
		return "one of " + strings.Join(t.Enum, ", ")
	case t.Kind == KindArray:
		return "a list"
	case t.Kind == KindMap || t.Kind == KindRecord:
		return "an object"
	case t.Kind == KindInteger:
		return "a whole number"
	case t.Kind == KindBoolean:
		return "true or false"
	case t.Kind == KindAsset:
		return "an asset or an archive"
	case t.Kind == KindArchive:
		return "an archive"
	}
	return "a " + string(t.Kind)
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
	// Idle is true if the functions leave nothing behind: a call that was abandoned has done nothing.
	Idle bool

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

// compared returns the inputs that count in a comparison. An optional list or object that is empty counts as missing,
// since plugins differ in which of the two they record.
func (r *Resource) compared(inputs property.Map) property.Map {
	for _, f := range r.Inputs {
		v, _ := inputs.At(f.Name).Unwrap()
		empty := v.IsArray() && v.AsArray().Len() == 0 || v.IsMap() && v.AsMap().Len() == 0
		if f.Output == Unrecorded || empty && !f.Required {
			inputs = inputs.Without(f.Name)
		}
	}
	return inputs
}

func (r *Resource) replaces(input string) bool {
	for _, f := range r.Inputs {
		if f.Name == input {
			return f.Replace
		}
	}
	return false
}

func (r *Resource) kind(c property.Change) providers.DiffKind {
	kind := providers.KindOf(c)
	if r.replaces(c.Path[:1].String()) {
		return kind.AsReplace()
	}
	return kind
}

// abandoned returns the error of an operation that was called with ctx. If ctx has ended, nobody knows what the operation has
// done. An object that is not healthy is known.
func (r *Resource) abandoned(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || r.Idle || errors.As(err, new(*providers.InitError)) {
		return err
	}
	return &providers.UncertainError{Err: err, Lost: true}
}

// recorded returns the current inputs of the resource.
func (r *Resource) recorded(inputs, outputs property.Map) property.Map {
	out := map[string]property.Value{}
	for _, f := range r.Inputs {
		if v, ok := outputs.Get(f.Name); ok {
			out[f.Name] = v
		} else if v, ok := inputs.Get(f.Name); ok {
			out[f.Name] = v
		}
	}
	return conformFields(property.NewMap(out), r.Inputs, "", quietly)
}

// metaKey is the output in which the public plugins of bridged packages record the schema version of a state.
const metaKey = "__meta"

// secretAs makes a value that was read secret if the recorded one was, or if the description requires it.
func (r *Resource) secretAs(name string, v, recorded property.Value) property.Value {
	for _, f := range append(r.Computed[:len(r.Computed):len(r.Computed)], r.Inputs...) {
		if f.Name == name && f.Secret {
			return property.MakeSecret(v)
		}
	}
	if recorded.HasSecrets() {
		return property.MakeSecret(v)
	}
	return v
}

func (r *Resource) inputsOf(all Outputs) property.Map {
	out := map[string]property.Value{}
	for _, f := range r.Inputs {
		if v, ok := all[f.Name]; ok {
			out[f.Name] = v
		}
	}
	return property.NewMap(out)
}

// state returns the outputs of a resource with these inputs, which are conformed and have their defaults.
func (r *Resource) state(inputs property.Map, computed Outputs) property.Map {
	out := inputs.Mutable()
	secrets := secretive(r.Inputs, inputs)
	for _, f := range append(r.Computed[:len(r.Computed):len(r.Computed)], r.Inputs...) {
		v, ok := computed[f.Name]
		if !ok || v.IsNull() {
			continue
		}
		if f.Secret || f.Derived && secrets {
			v = property.MakeSecret(v)
		}
		out[f.Name] = v
	}
	for _, f := range r.Inputs {
		if f.Output == Unrecorded {
			delete(out, f.Name)
		}
	}
	if r.SchemaVersion != "" {
		out[metaKey] = property.String(fmt.Sprintf(`{"schema_version":%q}`, r.SchemaVersion))
	}
	return property.NewMap(out)
}

// chosen returns the outputs for which the resource chooses a value.
func (r *Resource) chosen(inputs property.Map) []Field {
	out := r.Computed[:len(r.Computed):len(r.Computed)]
	for _, f := range r.Inputs {
		if _, given := inputs.Get(f.Name); f.Output == Chosen && !given {
			out = append(out, f)
		}
	}
	return out
}

// unknown returns the computed outputs for a preview: kept ones have their values, the others are unknown.
func (r *Resource) unknown(inputs property.Map, kept Outputs) Outputs {
	out := Outputs{}
	for _, f := range r.chosen(inputs) {
		switch v, ok := kept[f.Name]; {
		case ok && !f.Derived:
			out[f.Name] = v
		case kept == nil || f.Derived:
			out[f.Name] = property.Computed()
		}
	}
	return out
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

// result returns the outputs, including repeated arguments; outputs is nil when they are unknown.
func (f *Function) result(args property.Map, outputs Outputs) property.Map {
	out := map[string]property.Value{}
	for _, o := range f.Outputs {
		v, ok := outputs[o.Name]
		if arg, given := args.Get(o.Name); !ok && given {
			v = arg
		} else if outputs == nil {
			v = property.Computed()
		}
		if v.IsNull() {
			continue
		}
		if o.Secret {
			v = property.MakeSecret(v)
		}
		out[o.Name] = v
	}
	m := property.NewMap(out)
	if secretive(f.Inputs, args) {
		return m.SecretsAll()
	}
	return m
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

// fits reports whether a version of the public package has the shape of this one, as far as version numbers show: it has the same major
// number and no newer minor number, or the same minor number below 1. A newer one may have what this one does not know of.
func (p Package) fits(version string) bool {
	if version == "" {
		return true
	}
	asked, err := semver.NewVersion(version)
	is, none := semver.NewVersion(p.Version)
	if err != nil || none != nil {
		return false
	}
	if is.Major() == 0 {
		return asked.Major() == 0 && asked.Minor() == is.Minor()
	}
	return asked.Major() == is.Major() && asked.Minor() <= is.Minor()
}

// repository returns the repository of the public package, with its owner.
func (p Package) repository() string { return cmp.Or(p.Owner, "pulumi") + "/pulumi-" + p.Name }

func (p Package) schema() schemaPackage {
	w := schemaWriter{types: map[string]schemaObject{}}
	out := schemaPackage{
		Name: p.Name, Namespace: p.Owner, Version: p.Version, Description: p.Doc, Types: w.types, Meta: p.meta(), Language: p.languages(),
		Config:    schemaConfig{Variables: w.properties(p.Config)},
		Provider:  schemaResource{InputProperties: w.properties(p.Config), RequiredInputs: required(p.Config, false)},
		Resources: map[string]schemaResource{}, Functions: map[string]schemaFunction{},
	}
	for _, r := range p.Resources {
		all := append(r.Inputs[:len(r.Inputs):len(r.Inputs)], r.Computed...)
		out.Resources[string(r.Type)] = schemaResource{
			Description: r.Doc, Properties: w.properties(all), Required: required(all, true),
			InputProperties: w.properties(r.Inputs), RequiredInputs: required(r.Inputs, false),
		}
	}
	for _, f := range p.Functions {
		out.Functions[f.Token] = schemaFunction{
			Description: f.Doc, Positional: f.Positional,
			Inputs:  schemaObject{Type: "object", Properties: w.properties(f.Inputs), Required: required(f.Inputs, false)},
			Outputs: schemaObject{Type: "object", Properties: w.properties(f.Outputs), Required: required(f.Outputs, true)},
		}
	}
	return out
}

// meta returns the metadata for packages whose tokens have a module for each resource, "index/file", which is not a
// module in programs.
func (p Package) meta() *schemaMeta {
	slashed := func(token string) bool { return strings.Contains(token, "/") }
	if slices.ContainsFunc(p.Resources, func(r Resource) bool { return slashed(string(r.Type)) }) ||
		slices.ContainsFunc(p.Functions, func(f Function) bool { return slashed(f.Token) }) {
		return &schemaMeta{ModuleFormat: "(.*)(?:/[^/]*)"}
	}
	return nil
}

// languages names the public SDKs where their names differ from the defaults.
func (p Package) languages() map[string]any {
	if p.Version == "" {
		return nil
	}
	sdk := "github.com/" + p.repository() + "/sdk"
	if major, _, _ := strings.Cut(p.Version, "."); major > "1" {
		sdk += "/v" + major
	}
	return map[string]any{"go": map[string]string{"importBasePath": sdk + "/go/" + p.Name}}
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
	// Successor are the outputs of the object that has replaced the one to delete, in the call of Delete.
	Successor Values
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
	Absent bool   // there is no such object any more; the other fields do not count
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

// secretive reports whether the fields have a secret value that the description does not mark secret.
func secretive(fields []Field, values property.Map) bool {
	for _, f := range fields {
		if values.At(f.Name).HasSecrets() && !f.Secret {
			return true
		}
	}
	return false
}
