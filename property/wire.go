package property

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// UnknownPolicy defines the treatment of unknowns on the wire ([protocol.md 2.2]).
//
// [protocol.md 2.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#22-unknowns
type UnknownPolicy uint8

// The policies. The zero policy is the strict one.
const (
	// RejectUnknowns makes an unknown an error.
	RejectUnknowns UnknownPolicy = iota
	// KeepUnknowns sends and receives the sentinels.
	KeepUnknowns
	// DropUnknowns leaves unknown properties out. From arrays, an unknown element is left out when it is sent and
	// becomes null when it is received.
	DropUnknowns
)

// OutputPolicy defines the treatment of outputs on the wire ([protocol.md 2.3]).
//
// [protocol.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#23-for-peers-that-understand-less
type OutputPolicy uint8

// The policies.
const (
	// DowngradeOutputs sends and receives the value of an output, or an unknown.
	DowngradeOutputs OutputPolicy = iota
	// KeepOutputs sends and receives outputs.
	KeepOutputs
	// UpgradeOutputs keeps outputs and makes outputs of secrets and unknowns, as [Map.LiftOutputs] does.
	UpgradeOutputs
)

// WireOptions describe the abilities of the other side and the needs of a call ([protocol.md 2.3], [protocol.md 2.5]). The zero value is
// the plain form: no unknowns, secrets unwrapped, references and outputs downgraded.
//
// [protocol.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#23-for-peers-that-understand-less
// [protocol.md 2.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#25-what-is-sent-how
type WireOptions struct {
	// Name is the name of the whole value in errors; for [MarshalValue] the name of the property.
	Name            string
	Unknowns        UnknownPolicy
	Outputs         OutputPolicy
	KeepSecrets     bool
	KeepReferences  bool
	KeepByteStrings bool // send strings that are not UTF-8; they are always accepted
	ElideAssets     bool // send only the hashes of assets and archives
}

// PackStruct encodes m as part of a message that is only sent. The result has no Fields: it has their encoding as unknown fields, which
// the receiver reads like any others, so sending it costs a copy. [MarshalStruct] is for callers that read the fields. Errors are a
// [*ValueError] or a [*LimitError] and name the property; of several errors the one that comes first in the order of names is
// returned. Nothing in the result is shared with m or with other results.
func PackStruct(m Map, o WireOptions) (*structpb.Struct, error) {
	e := wireEncoder{options: o}
	if err := cmp.Or(e.object(m, 0), e.invalid); err != nil {
		return nil, outermost(err, o.Name)
	}
	s := &structpb.Struct{}
	s.ProtoReflect().SetUnknown(e.out)
	return s, nil
}

// MarshalStruct encodes m. Errors are those of [PackStruct].
func MarshalStruct(m Map, o WireOptions) (*structpb.Struct, error) {
	s, err := PackStruct(m, o)
	if err != nil {
		return nil, err
	}
	return s, unpack(s, s.ProtoReflect().GetUnknown())
}

// MarshalValue encodes one value. It returns nil for an unknown under [DropUnknowns].
func MarshalValue(v Value, o WireOptions) (*structpb.Value, error) {
	e := wireEncoder{options: o}
	kept, err := e.value(v, 0)
	if err = cmp.Or(err, e.invalid); err != nil {
		return nil, outermost(err, o.Name)
	}
	if !kept {
		return nil, nil
	}
	w := &structpb.Value{}
	return w, unpack(w, e.out)
}

func unpack(m proto.Message, packed []byte) error {
	if err := proto.Unmarshal(packed, m); err != nil {
		return fmt.Errorf("reading what has been encoded: %w", err)
	}
	return nil
}

// The fields of google.protobuf.Struct, its entries, ListValue and Value.
const (
	structFields = 1
	entryKey     = 1
	entryValue   = 2
	listValues   = 1

	valueNull   = 1
	valueNumber = 2
	valueText   = 3
	valueBool   = 4
	valueStruct = 5
	valueList   = 6
)

// wireEncoder appends the encodings of google.protobuf.Struct and Value to out.
type wireEncoder struct {
	options WireOptions
	budget  budget
	out     []byte
	// invalid is the error for a text that must be UTF-8 and is not, and that no program gives: an ID, a hash, a version.
	invalid error
}

// open begins a nested message, and close ends it. The length is one byte at first: the content moves if it needs more.
func (e *wireEncoder) open(field protowire.Number) (at int) {
	e.out = append(protowire.AppendTag(e.out, field, protowire.BytesType), 0)
	return len(e.out)
}

func (e *wireEncoder) close(at int) {
	n := len(e.out) - at
	if n < 0x80 {
		e.out[at-1] = byte(n)
		return
	}
	var length [10]byte
	size := len(protowire.AppendVarint(length[:0], uint64(n)))
	e.out = append(e.out, length[1:size]...)
	copy(e.out[at-1+size:], e.out[at:at+n])
	copy(e.out[at-1:], length[:size])
}

func (e *wireEncoder) object(m Map, depth int) error {
	for k, v := range m.All() {
		if k == SignatureKey {
			return within(reservedName(), Key(k))
		}
		if !utf8.ValidString(k) {
			return within(nameNotUTF8(), Key(k))
		}
		e.budget.size += int64(len(k))
		start := len(e.out)
		entry, value := e.entry(k)
		kept, err := e.value(v, depth+1)
		if err != nil {
			return within(err, Key(k))
		}
		if kept {
			e.endEntry(entry, value)
		} else {
			e.out = e.out[:start]
		}
	}
	return nil
}

// entry begins an entry of a struct.
func (e *wireEncoder) entry(key string) (entry, value int) {
	entry = e.open(structFields)
	e.out = protowire.AppendString(protowire.AppendTag(e.out, entryKey, protowire.BytesType), key)
	return entry, e.open(entryValue)
}

func (e *wireEncoder) endEntry(entry, value int) {
	e.close(value)
	e.close(entry)
}

// textEntry adds an entry with a text.
func (e *wireEncoder) textEntry(key, text string) {
	if !utf8.ValidString(text) {
		e.invalid = &ValueError{before: fmt.Sprintf("the %s %q in ", key, text), after: " contains non-UTF8 bytes"}
	}
	entry, value := e.entry(key)
	e.appendText(text)
	e.endEntry(entry, value)
}

func (e *wireEncoder) appendText(s string) {
	e.out = protowire.AppendString(protowire.AppendTag(e.out, valueText, protowire.BytesType), s)
}

func (e *wireEncoder) appendBool(b bool) {
	e.out = protowire.AppendVarint(protowire.AppendTag(e.out, valueBool, protowire.VarintType), protowire.EncodeBool(b))
}

func reservedName() error {
	return &ValueError{before: "the property name ", after: " is reserved for the encoding of special values; use another name"}
}

func nameNotUTF8() error {
	return &ValueError{before: "the property name ", after: " contains non-UTF8 bytes; use another name"}
}

// value returns kept = false for a dropped value. Then, and after an error, the caller discards what has been appended.
func (e *wireEncoder) value(v Value, depth int) (kept bool, err error) {
	if err := e.budget.spend(depth, 0); err != nil {
		return false, err
	}
	switch x := v.v.(type) {
	case nil:
		e.out = protowire.AppendVarint(protowire.AppendTag(e.out, valueNull, protowire.VarintType), 0)
		return true, nil
	case bool:
		e.appendBool(x)
		return true, nil
	case float64:
		e.out = protowire.AppendFixed64(protowire.AppendTag(e.out, valueNumber, protowire.Fixed64Type), math.Float64bits(x))
		return true, nil
	case string:
		return true, e.text(x)
	case Array:
		return true, e.array(x, depth)
	case Map:
		at := e.open(valueStruct)
		err := e.object(x, depth)
		e.close(at)
		return true, err
	case Unknown:
		return e.unknown(x.Kind)
	case *secret:
		return e.secret(x, depth)
	case *Output:
		return e.output(x, depth)
	case Reference:
		return e.reference(x)
	case Asset:
		return true, e.asset(x)
	case Archive:
		return true, e.archive(x, depth)
	}
	panic("property: a Value holds a type that only this package could have put there")
}

func (e *wireEncoder) text(s string) error {
	if utf8.ValidString(s) {
		return e.rawText(s)
	}
	if !e.options.KeepByteStrings {
		return &ValueError{
			before: "the value of property ",
			after:  " is a string that contains non-UTF8 bytes, which the receiver does not support",
		}
	}
	if err := e.budget.spend(0, len(s)); err != nil {
		return err
	}
	at := e.signed(byteStringSignature)
	e.textEntry("value", base64.StdEncoding.EncodeToString([]byte(s)))
	e.close(at)
	return nil
}

func (e *wireEncoder) rawText(s string) error {
	e.appendText(s)
	return e.budget.spend(0, len(s))
}

func (e *wireEncoder) array(a Array, depth int) error {
	list := e.open(valueList)
	for i, v := range a.a {
		start := len(e.out)
		at := e.open(listValues)
		kept, err := e.value(v, depth+1)
		if err != nil {
			return within(err, Index(i))
		}
		if kept {
			e.close(at)
		} else {
			e.out = e.out[:start]
		}
	}
	e.close(list)
	return nil
}

func (e *wireEncoder) unknown(k UnknownKind) (kept bool, err error) {
	switch {
	case e.options.Unknowns == RejectUnknowns:
		return false, &ValueError{before: "unexpected unknown property value for "}
	case e.options.Unknowns == DropUnknowns:
		return false, nil
	case e.options.Outputs == UpgradeOutputs:
		e.close(e.signed(outputSignature))
	default:
		e.appendText(k.sentinel())
	}
	return true, nil
}

// signed begins a special value. The caller adds its other fields and closes it.
func (e *wireEncoder) signed(signature string) (at int) {
	at = e.open(valueStruct)
	e.textEntry(SignatureKey, signature)
	return at
}

// signedValue encodes a special value with the field "value".
func (e *wireEncoder) signedValue(signature string, v Value, depth int) (kept bool, err error) {
	at := e.signed(signature)
	entry, value := e.entry("value")
	if kept, err = e.value(v, depth+1); kept {
		e.endEntry(entry, value)
		e.close(at)
	}
	return kept, err
}

func (e *wireEncoder) secret(s *secret, depth int) (kept bool, err error) {
	if s.isOpaque() {
		return false, sealedError(s)
	}
	if e.options.KeepSecrets && e.options.Outputs == UpgradeOutputs {
		o := mergeOutput(Output{Known: true, Secret: true}, s.element)
		return e.output(&o, depth)
	}
	if !e.options.KeepSecrets {
		return e.value(s.element, depth)
	}
	return e.signedValue(secretSignature, s.element, depth)
}

func sealedError(s *secret) error {
	if why := s.sealed.Load().why; why != "" {
		return &ValueError{before: "", after: " is not available: " + why}
	}
	return &ValueError{before: "the secret ", after: " has not been decrypted; read the state with its secrets provider"}
}

func (e *wireEncoder) output(o *Output, depth int) (kept bool, err error) {
	if e.options.Outputs == DowngradeOutputs {
		return e.downgraded(o, depth)
	}
	if !o.Known && e.options.Unknowns != KeepUnknowns {
		return e.unknown(UnknownString)
	}
	at := e.signed(outputSignature)
	if o.Known {
		entry, value := e.entry("value")
		if kept, err := e.value(o.Element, depth+1); err != nil || !kept {
			return kept, err
		}
		e.endEntry(entry, value)
	}
	if o.Secret {
		entry, value := e.entry("secret")
		e.appendBool(true)
		e.endEntry(entry, value)
	}
	if len(o.Dependencies) > 0 {
		entry, value := e.entry("dependencies")
		list := e.open(valueList)
		for _, d := range o.Dependencies {
			at := e.open(listValues)
			if err := e.rawText(string(d)); err != nil {
				return false, err
			}
			e.close(at)
		}
		e.close(list)
		e.endEntry(entry, value)
	}
	e.close(at)
	return true, nil
}

// downgraded encodes an output for a receiver without outputs (protocol.md 2.3). It does not build the downgraded value
// first: most outputs are the whole value of a property.
func (e *wireEncoder) downgraded(o *Output, depth int) (kept bool, err error) {
	element := Computed()
	if o.Known {
		element = o.Element
	}
	if !o.Secret || !e.options.KeepSecrets || isSecret(element) {
		return e.value(element, depth)
	}
	return e.signedValue(secretSignature, element, depth)
}

// reference sends an unknown ID as the empty string, as Pulumi does; both forms are read.
func (e *wireEncoder) reference(r Reference) (kept bool, err error) {
	if !e.options.KeepReferences {
		switch {
		case r.ID.IsNull():
			return true, e.rawText(string(r.URN))
		case r.ID.IsUnknown():
			return e.unknown(UnknownString)
		default:
			return true, e.text(r.ID.AsString())
		}
	}
	at := e.signed(referenceSignature)
	e.textEntry("urn", string(r.URN))
	if r.URN.IsValid() {
		// Newer versions add the name and type from the URN; older ones skip them (protocol.md 2.1).
		e.textEntry("name", r.URN.Name())
		e.textEntry("type", string(r.URN.Type()))
	}
	if !r.ID.IsNull() {
		e.textEntry("id", r.ID.AsString())
	}
	if r.PackageVersion != "" {
		e.textEntry("packageVersion", r.PackageVersion)
	}
	e.close(at)
	return true, e.budget.spend(0, len(r.URN))
}

func (e *wireEncoder) asset(a Asset) error {
	at := e.signed(assetSignature)
	if e.options.ElideAssets {
		a = Asset{Hash: a.knownHash()}
	}
	if a.Hash != "" {
		e.textEntry("hash", a.Hash)
	}
	var err error
	switch a.Kind {
	case KindText:
		err = e.plainEntry("text", a.Text)
	case KindPath:
		err = e.plainEntry("path", a.Path)
	case KindURI:
		err = e.plainEntry("uri", a.URI)
	}
	e.close(at)
	return err
}

func (e *wireEncoder) archive(a Archive, depth int) error {
	at := e.signed(archiveSignature)
	if a.Hash != "" {
		e.textEntry("hash", a.Hash)
	}
	var err error
	switch {
	case e.options.ElideAssets:
	case a.Kind == KindMembers:
		entry, value := e.entry("assets")
		members := e.open(valueStruct)
		err = e.object(a.Members, depth+1)
		e.close(members)
		e.endEntry(entry, value)
	case a.Kind == KindPath:
		err = e.plainEntry("path", a.Path)
	case a.Kind == KindURI:
		err = e.plainEntry("uri", a.URI)
	}
	e.close(at)
	return err
}

// plainEntry is for places where the format does not allow byte strings.
func (e *wireEncoder) plainEntry(key, text string) error {
	keep := e.options.KeepByteStrings
	e.options.KeepByteStrings = false
	entry, value := e.entry(key)
	err := e.text(text)
	e.endEntry(entry, value)
	e.options.KeepByteStrings = keep
	return err
}
