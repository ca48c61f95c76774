package property

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/sluice-iac/sluice/urn"
)

// Value is one immutable property value. The zero Value is null.
//
// A Value holds exactly one of: null, bool, float64, string, [Array], [Map], [Asset], [Archive], [Reference],
// [Unknown] ("computed"), a secret, or an output. It may be shared between goroutines.
type Value struct{ v any }

// Unknown stands for a value that is not known before an update is performed. Kind is the wire sentinel's element kind
// ("" means string, the only one that senders normally need; [protocol.md 2.2]).
//
// [protocol.md 2.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#22-unknowns
type Unknown struct{ Kind UnknownKind }

// UnknownKind names the element type of an [Unknown].
type UnknownKind string

func (k UnknownKind) sentinel() string {
	switch k {
	case UnknownBool:
		return unknownBoolSentinel
	case UnknownNumber:
		return unknownNumberSentinel
	case UnknownArray:
		return unknownArraySentinel
	case UnknownAsset:
		return unknownAssetSentinel
	case UnknownArchive:
		return unknownArchiveSentinel
	case UnknownObject:
		return unknownObjectSentinel
	default:
		return unknownStringSentinel
	}
}

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

// knownHash returns the hash if the asset has one or if computing it costs no I/O.
func (a Asset) knownHash() string {
	if a.Hash == "" && a.Kind == KindText {
		return hashText(a.Text)
	}
	return a.Hash
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

// MarshalJSON is [Value.MarshalJSON] for the value: a secret one is not shown.
func (o Output) MarshalJSON() ([]byte, error) { return OutputOf(o).MarshalJSON() }

// UnmarshalJSON is [Value.UnmarshalJSON].
func (o *Output) UnmarshalJSON([]byte) error { return errUnmarshal }

// secret is the content of a secret value. The last ciphertext that was read or written for it is kept beside it, so
// that an unchanged secret is written back byte for byte (state.md 5.6). The ciphertext is not part of the value: two
// secrets that differ only in it are equal.
type secret struct {
	element Value
	sealed  atomic.Pointer[sealed]
}

func (s *secret) isOpaque() bool {
	c := s.sealed.Load()
	return c != nil && c.opaque
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

// kind names the kind of v's content, with an article.
func (v Value) kind() string { return nameOf(v.v) }

// DowngradeOutputs returns v without output values at any depth: an unknown one becomes an unknown, a known one its
// element, and a secret one is wrapped as a secret. Dependencies are lost; see [Value.OutputDependencies]
// ([protocol.md 2.3], [steps.md 1.2] item 17).
//
// [protocol.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#23-for-peers-that-understand-less
// [steps.md 1.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#12-completing-a-request
func (v Value) DowngradeOutputs() Value {
	d, _ := downgradeOutputs(v)
	return d
}

// LiftOutputs returns v with every secret and unknown, at any depth, as an output value: the form in which Construct,
// Call and transforms receive properties ([protocol.md 2.3]). The element kind of an unknown is not kept.
//
// [protocol.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#23-for-peers-that-understand-less
func (v Value) LiftOutputs() Value {
	l, _ := liftOutputs(v)
	return l
}

// OutputDependencies returns the resources named by the output values in v, in ascending order.
func (v Value) OutputDependencies() []urn.URN {
	if !anyValue(v, hasDependencies) {
		return nil
	}
	set := map[urn.URN]struct{}{}
	collectDependencies(v, set)
	return slices.Sorted(maps.Keys(set))
}

func collectDependencies(v Value, set map[urn.URN]struct{}) {
	anyValue(v, func(v Value) bool {
		if o, ok := v.v.(*Output); ok {
			for _, d := range o.Dependencies {
				set[d] = struct{}{}
			}
		}
		return false
	})
}

// Lookup returns the value at p inside v; see [Map.Lookup].
func (v Value) Lookup(p Path) (Value, bool) {
	for _, e := range p {
		inner, _ := v.Unwrap()
		next, ok := inner.child(e)
		if !ok {
			return Null, false
		}
		v = next
	}
	return v, true
}

func (v Value) child(e Element) (Value, bool) {
	if e.IsIndex {
		a, ok := v.v.(Array)
		if !ok || e.Index < 0 || e.Index >= len(a.a) {
			return Null, false
		}
		return a.a[e.Index], true
	}
	if e.IsWildcard() {
		return Null, false
	}
	m, ok := v.v.(Map)
	if !ok {
		return Null, false
	}
	return m.Get(e.Key)
}

// MapReferences does that for one value.
func (v Value) MapReferences(f func(Reference) Reference) Value {
	out, _ := referenceRewriter(f)(v)
	return out
}

// IsSealed reports whether v is a secret that was read without a [Decrypter]: its element is not available, and it can
// only be written back by the crypter that made it.
func (v Value) IsSealed() bool {
	s, ok := v.v.(*secret)
	return ok && s.isOpaque()
}

// Unwrap removes the secret and output wrappers around v, not those inside it. It returns an unknown for an output that
// is not known, and reports whether any wrapper was secret.
func (v Value) Unwrap() (inner Value, secretive bool) {
	for {
		switch x := v.v.(type) {
		case *secret:
			secretive, v = true, x.element
		case *Output:
			secretive = secretive || x.Secret
			if !x.Known {
				return Computed(), secretive
			}
			v = x.Element
		default:
			return v, secretive
		}
	}
}

// StripSecretsAndOutputs returns v with every secret and output, at any depth, replaced by its element. An output that
// is not known becomes an unknown ([steps.md 3.8]).
//
// [steps.md 3.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#38-diff
func (v Value) StripSecretsAndOutputs() Value {
	s, _ := stripWrappers(v)
	return s
}

// StripSecrets returns v without its secret wrappers at any depth; outputs lose their secret flag.
func (v Value) StripSecrets() Value {
	s, _ := stripSecrets(v)
	return s
}

// String returns a text for people and logs, such as {name: "web", size: 2, token: [secret]}. It shows no secret, is at most about [MaxText] bytes long, and
// cannot be read back.
func (v Value) String() string {
	var b strings.Builder
	writeText(&b, v, 0)
	return b.String()
}

// GoString is String: secrets are not shown by %#v either.
func (v Value) GoString() string { return v.String() }

// MarshalJSON returns the encoding of [EncodeState] with each secret replaced by the text [secret], for logs and reports: it cannot be read back.
// [ToGo] and EncodeState keep the values.
func (v Value) MarshalJSON() ([]byte, error) {
	return AppendStateValue(context.Background(), nil, v, StateOptions{Secrets: SecretsMasked})
}

var errUnmarshal = errors.New("encoding/json cannot read property values: use property.DecodeState for what EncodeState has written, and property.FromGo for other data")

// UnmarshalJSON returns an error: there is more than one meaning of a JSON text. [DecodeState] reads what [EncodeState] has written, and [FromGo] takes
// what encoding/json has read.
func (v *Value) UnmarshalJSON([]byte) error { return errUnmarshal }

// IsUnavailable reports whether v was made by [Unavailable], and returns the reason.
func (v Value) IsUnavailable() (why string, ok bool) {
	if s, isSecret := v.v.(*secret); isSecret && s.isOpaque() {
		why = s.sealed.Load().why
	}
	return why, why != ""
}

// WhyUnavailable reports whether v is or contains a value that [Unavailable] made, and returns the reason of the first one.
func (v Value) WhyUnavailable() (why string, ok bool) {
	_, found, ok := find(v, isUnavailable)
	if ok {
		why, _ = found.IsUnavailable()
	}
	return why, ok
}

// HasUnavailable reports whether v or anything inside it was made by [Unavailable].
func (v Value) HasUnavailable() bool { return anyValue(v, isUnavailable) }

// HasMark reports whether v is or contains an unknown. The contents of sealed secrets do not count.
func (v Value) HasMark() bool {
	_, _, found := find(v, Value.IsUnknown)
	return found
}

// ReplaceUnknowns returns v with every unknown at any depth, the unavailable ones excepted, replaced by the result of
// with.
func (v Value) ReplaceUnknowns(with func() Value) Value {
	var all rewriter
	all = func(v Value) (Value, bool) {
		switch {
		case isUnavailable(v):
			return v, false
		case v.IsUnknown():
			return with(), true
		}
		return rewriteChildren(v, all)
	}
	out, _ := all(v)
	return out
}

// ReplaceTexts returns v with each string and each asset of a text, at any depth, replaced by the value that with returns, if with also returns true.
func (v Value) ReplaceTexts(with func(text string) (Value, bool)) Value {
	out, _ := replacer(func(v Value) (Value, bool) {
		text, ok := v.v.(string)
		if a, isAsset := v.v.(Asset); isAsset && a.Kind == KindText {
			text, ok = a.Text, true
		}
		if !ok {
			return v, false
		}
		if n, replace := with(text); replace {
			return n, true
		}
		return v, false
	})(v)
	return out
}

// IsKnown reports whether [Map.FindUnknown] would find nothing in v.
func (v Value) IsKnown() bool {
	_, _, found := find(v, isNotKnown)
	return !found
}

// WithoutUnknowns does that for one value. ok is false if nothing of v is known.
func (v Value) WithoutUnknowns() (known Value, ok bool) {
	switch x := v.v.(type) {
	case Map:
		return Of(x.WithoutUnknowns()), true
	case *secret:
		if inner, isMap := x.element.v.(Map); isMap && !x.isOpaque() && !v.IsKnown() {
			return Secret(Of(inner.WithoutUnknowns())), true
		}
	}
	return v, v.IsKnown()
}

// WithoutNulls returns v without the properties in it that are null, at any depth. A secret or an output of null is null, too: there is nothing in
// it to keep secret. Elements of arrays stay, and a secret element of null is null.
func (v Value) WithoutNulls() Value {
	var all rewriter
	all = func(v Value) (Value, bool) {
		if v.isWrappedNull() {
			return v.StripSecrets(), v.HasSecrets()
		}
		m, isMap := v.v.(Map)
		if !isMap {
			return rewriteChildren(v, all)
		}
		kept := m.filter(func(_ string, v Value) bool { return !v.IsNull() && !v.isWrappedNull() })
		out, changed := rewriteMap(kept, all)
		return Of(out), changed || out.Len() < m.Len()
	}
	out, _ := all(v)
	return out
}

// isWrappedNull reports whether v is a secret or a known output of null. What is in a sealed secret is not known.
func (v Value) isWrappedNull() bool {
	inner, _ := v.Unwrap()
	return v.v != nil && inner.IsNull() && !v.HasSealed()
}

// HasUnknowns reports whether v or anything inside it is unknown. The unknown ID of a [Reference] does not count: the
// reference itself is known.
func (v Value) HasUnknowns() bool { return anyValue(v, isUnknown) }

// HasSealed reports whether v or anything inside it is sealed; see [Value.IsSealed].
func (v Value) HasSealed() bool { return anyValue(v, Value.IsSealed) }

// HasSecrets reports whether v or anything inside it is a secret or a secret output.
func (v Value) HasSecrets() bool { return anyValue(v, isSecret) }

// Array is an immutable list of values. The zero Array is empty.
type Array struct{ a []Value }

// MarshalJSON is [Value.MarshalJSON] for a list.
func (a Array) MarshalJSON() ([]byte, error) { return Value{a}.MarshalJSON() }

// UnmarshalJSON is [Value.UnmarshalJSON].
func (a *Array) UnmarshalJSON([]byte) error { return errUnmarshal }

// Len returns the number of elements.
func (a Array) Len() int { return len(a.a) }

// At returns element i, which must exist.
func (a Array) At(i int) Value { return a.a[i] }

// All yields index and element in order.
func (a Array) All() iter.Seq2[int, Value] { return slices.All(a.a) }

// String is [Value.String] for an array.
func (a Array) String() string { return Value{a}.String() }

// GoString is String.
func (a Array) GoString() string { return a.String() }

// ScalarText returns a value as a program writes it, without quotes, and as a setting has it: without its secrets and outputs. It is "" for a value that is
// no scalar.
func (v Value) ScalarText() string {
	v = v.StripSecretsAndOutputs()
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsNumber():
		return strconv.FormatFloat(v.AsNumber(), 'f', -1, 64)
	case v.IsBool():
		return strconv.FormatBool(v.AsBool())
	}
	return ""
}
