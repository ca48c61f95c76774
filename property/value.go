package property

import (
	"iter"
	"slices"
	"sync/atomic"

	"github.com/sluice-iac/sluice/urn"
)

// Value is one immutable property value. The zero Value is null.
//
// A Value holds exactly one of: null, bool, float64, string, [Array], [Map], [Asset], [Archive], [Reference],
// [Unknown] ("computed"), a secret, or an output. It may be shared between goroutines.
type Value struct{ v any }

// Unknown stands for a value that is not known before an update is performed. Kind is the wire sentinel's element kind
// ("" means string, the only one that senders normally need; protocol.md 2.2).
type Unknown struct{ Kind UnknownKind }

// UnknownKind names the element type of an [Unknown].
type UnknownKind string

// The kinds of unknown that the wire format distinguishes.
const (
	UnknownString  UnknownKind = ""
	UnknownBool    UnknownKind = "bool"
	UnknownNumber  UnknownKind = "number"
	UnknownArray   UnknownKind = "array"
	UnknownAsset   UnknownKind = "asset"
	UnknownArchive UnknownKind = "archive"
	UnknownObject  UnknownKind = "object"
)

// Reference is a resource that occurs inside a property value.
type Reference struct {
	URN            urn.URN
	ID             Value // a string, an [Unknown], or null for a component, which has no ID
	PackageVersion string
}

// Asset is a blob given by exactly one of its text, a local path, or a URI. Hash is the lower-case hex SHA-256 of the
// content, "" when it has not been computed yet.
type Asset struct {
	Hash string
	Kind SourceKind
	Text string // KindText
	Path string // KindPath, relative to the program's directory
	URI  string // KindURI
}

// Archive is a collection of named blobs, given by its members, a local path, or a URI. Members are assets and archives.
type Archive struct {
	Hash    string
	Kind    SourceKind
	Members Map // KindMembers
	Path    string
	URI     string
}

// SourceKind is the kind of source of an asset or archive.
type SourceKind uint8

// The sources of assets and archives. KindElided has only a hash: the form for values that are only compared.
const (
	KindElided SourceKind = iota
	KindText
	KindMembers
	KindPath
	KindURI
)

// Output is a value together with the resources it came from. It exists only on the wire between engine and programs
// or remote components; states never hold one.
type Output struct {
	Element      Value // null when not Known
	Known        bool
	Secret       bool
	Dependencies []urn.URN
}

// secret is the content of a secret value. The last ciphertext that was read or written for it is kept beside it, so
// that an unchanged secret is written back byte for byte (state.md 5.6). The ciphertext is not part of the value: two
// secrets that differ only in it are equal.
type secret struct {
	element Value
	sealed  atomic.Pointer[sealed]
}

// sealed is the encrypted form of a secret. opaque means that it was not decrypted: the element is missing. why is not empty
// for a secret that cannot be written back either: see [Unavailable].
type sealed struct {
	ciphertext string
	crypter    string
	opaque     bool
	why        string
}

// Null is the null value.
var Null = Value{}

// Bool, Number and String make scalars. Numbers have float64 semantics. Strings are normally UTF-8; other bytes are
// kept in state files, and are sent only to programs and plugins that support byte strings.
func Bool(b bool) Value { return Value{b} }

// Number makes a number.
func Number(f float64) Value { return Value{f} }

// String makes a string.
func String(s string) Value { return Value{s} }

// Computed makes an unknown string, the usual form of an unknown.
func Computed() Value { return Value{Unknown{}} }

// UnknownOf makes an unknown of the given kind.
func UnknownOf(k UnknownKind) Value { return Value{Unknown{k}} }

// ArrayOf makes an array value of its arguments.
func ArrayOf(vs ...Value) Value { return Value{Array{vs}} }

// Of wraps an [Array], [Map], [Asset], [Archive] or [Reference].
func Of[T Array | Map | Asset | Archive | Reference](v T) Value { return Value{v} }

// OutputOf wraps an output.
func OutputOf(o Output) Value { return Value{&o} }

// Secret marks v secret. A secret of a secret stays nested, as state files may hold one.
func Secret(v Value) Value { return Value{&secret{element: v}} }

// IsNull and the other Is methods report the kind of a value.
func (v Value) IsNull() bool { return v.v == nil }

// IsBool reports whether v is a bool.
func (v Value) IsBool() bool { _, ok := v.v.(bool); return ok }

// IsNumber reports whether v is a number.
func (v Value) IsNumber() bool { _, ok := v.v.(float64); return ok }

// IsString reports whether v is a string.
func (v Value) IsString() bool { _, ok := v.v.(string); return ok }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { _, ok := v.v.(Array); return ok }

// IsMap reports whether v is an object.
func (v Value) IsMap() bool { _, ok := v.v.(Map); return ok }

// IsAsset reports whether v is an asset.
func (v Value) IsAsset() bool { _, ok := v.v.(Asset); return ok }

// IsArchive reports whether v is an archive.
func (v Value) IsArchive() bool { _, ok := v.v.(Archive); return ok }

// IsReference reports whether v is a resource reference.
func (v Value) IsReference() bool { _, ok := v.v.(Reference); return ok }

// IsUnknown reports whether v itself is unknown; see [Value.HasUnknowns] for values inside it.
func (v Value) IsUnknown() bool { _, ok := v.v.(Unknown); return ok }

// IsSecret reports whether v itself is a secret; see [Value.HasSecrets] for values inside it.
func (v Value) IsSecret() bool { _, ok := v.v.(*secret); return ok }

// IsOutput reports whether v is an output value.
func (v Value) IsOutput() bool { _, ok := v.v.(*Output); return ok }

// AsBool and the other As methods return the content, or the zero value when v holds something else.
func (v Value) AsBool() bool { b, _ := v.v.(bool); return b }

// AsNumber returns the number in v.
func (v Value) AsNumber() float64 { f, _ := v.v.(float64); return f }

// AsString returns the string in v.
func (v Value) AsString() string { s, _ := v.v.(string); return s }

// AsArray returns the array in v.
func (v Value) AsArray() Array { a, _ := v.v.(Array); return a }

// AsMap returns the object in v.
func (v Value) AsMap() Map { m, _ := v.v.(Map); return m }

// AsAsset returns the asset in v.
func (v Value) AsAsset() Asset { a, _ := v.v.(Asset); return a }

// AsArchive returns the archive in v.
func (v Value) AsArchive() Archive { a, _ := v.v.(Archive); return a }

// AsReference returns the resource reference in v.
func (v Value) AsReference() Reference { r, _ := v.v.(Reference); return r }

// AsUnknown returns the unknown in v.
func (v Value) AsUnknown() Unknown { u, _ := v.v.(Unknown); return u }

// AsSecret returns the element of a secret.
func (v Value) AsSecret() Value {
	if s, ok := v.v.(*secret); ok {
		return s.element
	}
	return Null
}

// AsOutput returns the output in v. The caller must not change its dependencies.
func (v Value) AsOutput() Output {
	if o, ok := v.v.(*Output); ok {
		return *o
	}
	return Output{}
}

// Array is an immutable list of values. The zero Array is empty.
type Array struct{ a []Value }

// Len returns the number of elements.
func (a Array) Len() int { return len(a.a) }

// At returns element i, which must exist.
func (a Array) At(i int) Value { return a.a[i] }

// All yields index and element in order.
func (a Array) All() iter.Seq2[int, Value] { return slices.All(a.a) }
