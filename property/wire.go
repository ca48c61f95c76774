package property

import (
	"encoding/base64"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
)

// UnknownPolicy defines the treatment of unknowns on the wire (protocol.md 2.2).
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

// OutputPolicy defines the treatment of outputs on the wire (protocol.md 2.3).
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

// WireOptions describe the abilities of the other side and the needs of a call (protocol.md 2.3, 2.5). The zero value is
// the plain form: no unknowns, secrets unwrapped, references and outputs downgraded.
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

// MarshalStruct encodes m. Errors are a [*ValueError] or a [*LimitError] and name the property; of several errors the one that
// comes first in the order of names is returned. Nothing in the result is shared with m or with other results.
func MarshalStruct(m Map, o WireOptions) (*structpb.Struct, error) {
	e := wireEncoder{WireOptions: o}
	s, err := e.object(m, 0)
	if err != nil {
		return nil, outermost(err, o.Name)
	}
	return s, nil
}

// MarshalValue encodes one value. It returns nil for an unknown under [DropUnknowns].
func MarshalValue(v Value, o WireOptions) (*structpb.Value, error) {
	e := wireEncoder{WireOptions: o}
	s, err := e.value(v, 0)
	if err != nil {
		return nil, outermost(err, o.Name)
	}
	return s, nil
}

type wireEncoder struct {
	WireOptions
	budget
}

func (e *wireEncoder) object(m Map, depth int) (*structpb.Struct, error) {
	fields := make(map[string]*structpb.Value, m.Len())
	for k, v := range m.All() {
		if err := e.field(fields, k, v, depth); err != nil {
			return nil, err
		}
	}
	return &structpb.Struct{Fields: fields}, nil
}

func (e *wireEncoder) field(fields map[string]*structpb.Value, k string, v Value, depth int) error {
	if k == SignatureKey {
		return within(reservedName(), Key(k))
	}
	if !utf8.ValidString(k) {
		return within(nameNotUTF8(), Key(k))
	}
	e.size += int64(len(k))
	w, err := e.value(v, depth+1)
	if err != nil {
		return within(err, Key(k))
	}
	if w != nil {
		fields[k] = w
	}
	return nil
}

func reservedName() error {
	return &ValueError{before: "the property name ", after: " is reserved for the encoding of special values; use another name"}
}

func nameNotUTF8() error {
	return &ValueError{before: "the property name ", after: " contains non-UTF8 bytes; use another name"}
}

// value returns nil for a dropped value.
func (e *wireEncoder) value(v Value, depth int) (*structpb.Value, error) {
	if err := e.spend(depth, 0); err != nil {
		return nil, err
	}
	switch x := v.v.(type) {
	case nil:
		return nullCell(), nil
	case bool:
		return boolCell(x), nil
	case float64:
		return numberCell(x), nil
	case string:
		return e.text(x)
	case Array:
		return e.array(x, depth)
	case Map:
		s, err := e.object(x, depth)
		if err != nil {
			return nil, err
		}
		return structCell(s), nil
	case Unknown:
		return e.unknown(x.Kind)
	case *secret:
		return e.secret(x, depth)
	case *Output:
		return e.output(x, depth)
	case Reference:
		return e.reference(x)
	case Asset:
		return e.asset(x)
	case Archive:
		return e.archive(x, depth)
	}
	panic("property: a Value holds a type that only this package could have put there")
}

func (e *wireEncoder) text(s string) (*structpb.Value, error) {
	if utf8.ValidString(s) {
		return e.rawText(s)
	}
	if !e.KeepByteStrings {
		return nil, &ValueError{
			before: "the value of property ",
			after:  " is a string that contains non-UTF8 bytes, which the receiver does not support",
		}
	}
	if err := e.spend(0, len(s)); err != nil {
		return nil, err
	}
	return signedCell(byteStringSignature, 1, "value", textCell(base64.StdEncoding.EncodeToString([]byte(s)))), nil
}

func (e *wireEncoder) rawText(s string) (*structpb.Value, error) {
	if err := e.spend(0, len(s)); err != nil {
		return nil, err
	}
	return textCell(s), nil
}

func (e *wireEncoder) array(a Array, depth int) (*structpb.Value, error) {
	values := make([]*structpb.Value, 0, len(a.a))
	for i, v := range a.a {
		w, err := e.value(v, depth+1)
		if err != nil {
			return nil, within(err, Index(i))
		}
		if w != nil {
			values = append(values, w)
		}
	}
	return listCell(values), nil
}

func (e *wireEncoder) unknown(k UnknownKind) (*structpb.Value, error) {
	switch {
	case e.Unknowns == RejectUnknowns:
		return nil, &ValueError{before: "unexpected unknown property value for "}
	case e.Unknowns == DropUnknowns:
		return nil, nil
	case e.Outputs == UpgradeOutputs:
		return signedCell(outputSignature, 0, "", nil), nil
	default:
		return textCell(k.sentinel()), nil
	}
}

func (e *wireEncoder) secret(s *secret, depth int) (*structpb.Value, error) {
	if s.isOpaque() {
		return nil, sealedError(s)
	}
	if e.KeepSecrets && e.Outputs == UpgradeOutputs {
		o := mergeOutput(Output{Known: true, Secret: true}, s.element)
		return e.output(&o, depth)
	}
	if !e.KeepSecrets {
		return e.value(s.element, depth)
	}
	w, err := e.value(s.element, depth+1)
	if err != nil || w == nil {
		return nil, err
	}
	return signedCell(secretSignature, 1, "value", w), nil
}

func sealedError(s *secret) error {
	if why := s.sealed.Load().why; why != "" {
		return &ValueError{before: "", after: " is not available: " + why}
	}
	return &ValueError{before: "the secret ", after: " has not been decrypted; read the state with its secrets provider"}
}

func (e *wireEncoder) output(o *Output, depth int) (*structpb.Value, error) {
	if e.Outputs == DowngradeOutputs {
		return e.downgraded(o, depth)
	}
	if !o.Known && e.Unknowns != KeepUnknowns {
		return e.unknown(UnknownString)
	}
	c := signedCell(outputSignature, 3, "", nil)
	fields := c.GetStructValue().Fields
	if o.Known {
		w, err := e.value(o.Element, depth+1)
		if err != nil || w == nil {
			return nil, err
		}
		fields["value"] = w
	}
	if o.Secret {
		fields["secret"] = boolCell(true)
	}
	if len(o.Dependencies) > 0 {
		deps := make([]*structpb.Value, len(o.Dependencies))
		for i, d := range o.Dependencies {
			w, err := e.rawText(string(d))
			if err != nil {
				return nil, err
			}
			deps[i] = w
		}
		fields["dependencies"] = listCell(deps)
	}
	return c, nil
}

// downgraded encodes an output for a receiver without outputs (protocol.md 2.3). It does not build the downgraded value
// first: most outputs are the whole value of a property.
func (e *wireEncoder) downgraded(o *Output, depth int) (*structpb.Value, error) {
	element := Computed()
	if o.Known {
		element = o.Element
	}
	if !o.Secret || !e.KeepSecrets || isSecret(element) {
		return e.value(element, depth)
	}
	w, err := e.value(element, depth+1)
	if err != nil || w == nil {
		return nil, err
	}
	return signedCell(secretSignature, 1, "value", w), nil
}

// reference sends an unknown ID as the empty string, as Pulumi does; both forms are read.
func (e *wireEncoder) reference(r Reference) (*structpb.Value, error) {
	if !e.KeepReferences {
		switch {
		case r.ID.IsNull():
			return e.rawText(string(r.URN))
		case r.ID.IsUnknown():
			return e.unknown(UnknownString)
		default:
			return e.text(r.ID.AsString())
		}
	}
	urn, err := e.rawText(string(r.URN))
	if err != nil {
		return nil, err
	}
	c := signedCell(referenceSignature, 5, "urn", urn)
	fields := c.GetStructValue().Fields
	if r.URN.IsValid() {
		// Newer versions add the name and type from the URN; older ones skip them (protocol.md 2.1).
		fields["name"], fields["type"] = textCell(r.URN.Name()), textCell(string(r.URN.Type()))
	}
	if !r.ID.IsNull() {
		fields["id"] = textCell(r.ID.AsString())
	}
	if r.PackageVersion != "" {
		fields["packageVersion"] = textCell(r.PackageVersion)
	}
	return c, nil
}

func (e *wireEncoder) asset(a Asset) (*structpb.Value, error) {
	c := signedCell(assetSignature, 2, "", nil)
	fields := c.GetStructValue().Fields
	if e.ElideAssets {
		a = Asset{Hash: a.knownHash()}
	}
	if a.Hash != "" {
		fields["hash"] = textCell(a.Hash)
	}
	var name, content string
	switch a.Kind {
	case KindText:
		name, content = "text", a.Text
	case KindPath:
		name, content = "path", a.Path
	case KindURI:
		name, content = "uri", a.URI
	default:
		return c, nil
	}
	w, err := e.plainText(content)
	fields[name] = w
	return c, err
}

func (e *wireEncoder) archive(a Archive, depth int) (*structpb.Value, error) {
	c := signedCell(archiveSignature, 2, "", nil)
	fields := c.GetStructValue().Fields
	if a.Hash != "" {
		fields["hash"] = textCell(a.Hash)
	}
	if e.ElideAssets {
		return c, nil
	}
	var err error
	switch a.Kind {
	case KindMembers:
		var s *structpb.Struct
		if s, err = e.object(a.Members, depth+1); err == nil {
			fields["assets"] = structCell(s)
		}
	case KindPath:
		fields["path"], err = e.plainText(a.Path)
	case KindURI:
		fields["uri"], err = e.plainText(a.URI)
	}
	return c, err
}

// plainText is for places where the format does not allow byte strings.
func (e *wireEncoder) plainText(s string) (*structpb.Value, error) {
	keep := e.KeepByteStrings
	e.KeepByteStrings = false
	w, err := e.text(s)
	e.KeepByteStrings = keep
	return w, err
}
