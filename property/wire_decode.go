package property

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/urn"
	"google.golang.org/protobuf/types/known/structpb"
)

// UnmarshalStruct decodes s; nil is the empty object. Errors are like those of [MarshalStruct]. Outputs and other
// values that the options do not keep are downgraded (protocol.md 2.3).
func UnmarshalStruct(s *structpb.Struct, o WireOptions) (Map, error) {
	d := wireDecoder{WireOptions: o}
	m, err := d.object(s, 0)
	if err != nil {
		d = wireDecoder{WireOptions: o, ordered: true}
		if m, err = d.object(s, 0); err != nil {
			return Map{}, outermost(err, o.Name)
		}
	}
	return m, nil
}

// UnmarshalValue decodes one value; nil is null. An unknown that is dropped becomes null.
func UnmarshalValue(v *structpb.Value, o WireOptions) (Value, error) {
	d := wireDecoder{WireOptions: o}
	out, _, err := d.value(v, 0)
	if err != nil {
		d = wireDecoder{WireOptions: o, ordered: true}
		if out, _, err = d.value(v, 0); err != nil {
			return Null, outermost(err, o.Name)
		}
	}
	return out, nil
}

// wireDecoder walks objects in the order of Go's maps, which costs less than sorting. The order would show only in which error comes
// first: after an error the walk is repeated in order.
type wireDecoder struct {
	WireOptions
	budget
	ordered bool
}

func (d *wireDecoder) object(s *structpb.Struct, depth int) (Map, error) {
	fields := s.GetFields()
	if len(fields) == 0 {
		return Map{}, nil
	}
	list := make(members, 0, len(fields))
	if d.ordered {
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			if err := d.field(&list, k, fields[k], depth); err != nil {
				return Map{}, err
			}
		}
		return list.object(), nil
	}
	for k, w := range fields {
		if err := d.field(&list, k, w, depth); err != nil {
			return Map{}, err
		}
	}
	return list.object(), nil
}

func (d *wireDecoder) field(list *members, k string, w *structpb.Value, depth int) error {
	d.size += int64(len(k))
	v, kept, err := d.value(w, depth+1)
	if err != nil {
		return within(err, Key(k))
	}
	if kept {
		*list = append(*list, member{k, v})
	}
	return nil
}

// value returns kept = false for a dropped value.
func (d *wireDecoder) value(w *structpb.Value, depth int) (v Value, kept bool, err error) {
	if err := d.spend(depth, 0); err != nil {
		return Null, false, err
	}
	switch k := w.GetKind().(type) {
	case *structpb.Value_BoolValue:
		return Bool(k.BoolValue), true, nil
	case *structpb.Value_NumberValue:
		return Number(k.NumberValue), true, nil
	case *structpb.Value_StringValue:
		if kind, unknown := unknownFromSentinel(k.StringValue); unknown {
			return d.unknown(kind)
		}
		return String(k.StringValue), true, d.spend(0, len(k.StringValue))
	case *structpb.Value_ListValue:
		return d.array(k.ListValue, depth)
	case *structpb.Value_StructValue:
		if signature, special := k.StructValue.GetFields()[SignatureKey]; special {
			return d.special(signature, k.StructValue.Fields, depth)
		}
		m, err := d.object(k.StructValue, depth)
		return Of(m), true, err
	default:
		return Null, true, nil
	}
}

func (d *wireDecoder) array(l *structpb.ListValue, depth int) (Value, bool, error) {
	a := make([]Value, len(l.GetValues()))
	for i, w := range l.GetValues() {
		v, _, err := d.value(w, depth+1)
		if err != nil {
			return Null, false, within(err, Index(i))
		}
		a[i] = v
	}
	return Of(Array{a}), true, nil
}

func (d *wireDecoder) unknown(k UnknownKind) (Value, bool, error) {
	switch {
	case d.Unknowns == RejectUnknowns:
		return Null, false, &ValueError{before: "unexpected unknown property value for "}
	case d.Unknowns == DropUnknowns:
		return Null, false, nil
	case d.Outputs == UpgradeOutputs:
		return OutputOf(Output{}), true, nil
	default:
		return UnknownOf(k), true, nil
	}
}

func (d *wireDecoder) special(signature *structpb.Value, f map[string]*structpb.Value, depth int) (Value, bool, error) {
	switch text, _ := textOf(signature); text {
	case secretSignature:
		return d.secret(f, depth)
	case assetSignature:
		a, err := d.asset(f)
		return Of(a), true, err
	case archiveSignature:
		a, err := d.archive(f, depth)
		return Of(a), true, err
	case referenceSignature:
		return d.reference(f)
	case outputSignature:
		return d.output(f, depth)
	case byteStringSignature:
		return d.byteString(f)
	}
	return Null, false, &ValueError{
		before: fmt.Sprintf("unrecognized signature '%v' in property map for ", signature.AsInterface()),
	}
}

func textOf(w *structpb.Value) (string, bool) {
	k, ok := w.GetKind().(*structpb.Value_StringValue)
	if !ok {
		return "", false
	}
	return k.StringValue, true
}

// optionalText returns a field that must be a string if it is there.
func (d *wireDecoder) optionalText(f map[string]*structpb.Value, name, what string) (s string, present bool, err error) {
	w, present := f[name]
	if !present {
		return "", false, nil
	}
	s, ok := textOf(w)
	if !ok {
		return "", true, &ValueError{before: "malformed " + what + " for ", after: ": " + name + " not a string"}
	}
	return s, true, d.spend(0, len(s))
}

func (d *wireDecoder) secret(f map[string]*structpb.Value, depth int) (Value, bool, error) {
	w, ok := f["value"]
	if !ok {
		return Null, false, &ValueError{before: "malformed RPC secret: missing value for "}
	}
	element, kept, err := d.value(w, depth+1)
	if err != nil || !kept {
		return Null, false, err
	}
	switch {
	case !d.KeepSecrets:
		return element, true, nil
	case d.Outputs == UpgradeOutputs:
		return OutputOf(mergeOutput(Output{Known: true, Secret: true}, element)), true, nil
	default:
		return Secret(element), true, nil
	}
}

func (d *wireDecoder) output(f map[string]*structpb.Value, depth int) (Value, bool, error) {
	o := Output{}
	if w, ok := f["secret"]; ok {
		b, ok := w.GetKind().(*structpb.Value_BoolValue)
		if !ok {
			return Null, false, &ValueError{before: "malformed output value for ", after: ": secret not a bool"}
		}
		o.Secret = b.BoolValue
	}
	deps, err := d.dependencies(f)
	if err != nil {
		return Null, false, err
	}
	o.Dependencies = deps

	w, known := f["value"]
	var element Value
	kept := true
	if known {
		element, kept, err = d.value(w, depth+1)
	} else {
		element, kept, err = d.unknown(UnknownString)
	}
	if err != nil || !kept {
		return Null, false, err
	}
	if d.Outputs != DowngradeOutputs {
		return OutputOf(mergeOutput(o, element)), true, nil
	}
	if o.Secret && d.KeepSecrets {
		element = MakeSecret(element)
	}
	return element, true, nil
}

func (d *wireDecoder) dependencies(f map[string]*structpb.Value) ([]urn.URN, error) {
	w, ok := f["dependencies"]
	if !ok {
		return nil, nil
	}
	l, ok := w.GetKind().(*structpb.Value_ListValue)
	if !ok {
		return nil, &ValueError{before: "malformed output value for ", after: ": dependencies not an array"}
	}
	deps := make([]urn.URN, len(l.ListValue.GetValues()))
	for i, e := range l.ListValue.GetValues() {
		s, ok := textOf(e)
		if !ok {
			return nil, &ValueError{before: "malformed output value for ", after: ": element in dependencies not a string"}
		}
		if err := d.spend(0, len(s)); err != nil {
			return nil, err
		}
		deps[i] = urn.URN(s)
	}
	return deps, nil
}

// reference does not apply the policy for unknowns to an ID: a reference to a resource that does not exist yet is
// itself a known value. Only the sentinel, which the sender chose knowingly, may be rejected.
func (d *wireDecoder) reference(f map[string]*structpb.Value) (Value, bool, error) {
	const what = "resource reference"
	u, hasURN, err := d.optionalText(f, "urn", what)
	if err != nil {
		return Null, false, err
	}
	if !hasURN {
		return Null, false, &ValueError{before: "malformed resource reference for ", after: ": missing urn"}
	}
	version, _, err := d.optionalText(f, "packageVersion", what)
	if err != nil {
		return Null, false, err
	}
	id, err := d.referenceID(f)
	if err != nil {
		return Null, false, err
	}
	switch {
	case d.KeepReferences:
		return Of(Reference{URN: urn.URN(u), ID: id, PackageVersion: version}), true, nil
	case id.IsNull():
		return String(u), true, nil
	case id.IsUnknown():
		return d.unknown(UnknownString)
	default:
		return id, true, nil
	}
}

func (d *wireDecoder) referenceID(f map[string]*structpb.Value) (Value, error) {
	w, ok := f["id"]
	if !ok {
		return Null, nil
	}
	s, isText := textOf(w)
	if !isText {
		// SDKs that send outputs may send the ID as an output.
		inner := wireDecoder{WireOptions: WireOptions{Unknowns: KeepUnknowns}}
		v, _, err := inner.value(w, 0)
		if v.IsUnknown() && err == nil {
			return Computed(), nil
		}
		if !v.IsString() || err != nil {
			return Null, &ValueError{before: "malformed resource reference for ", after: ": id not a string"}
		}
		s = v.AsString()
	}
	if s == "" {
		return Computed(), nil
	}
	if _, unknown := unknownFromSentinel(s); unknown {
		if d.Unknowns == RejectUnknowns {
			return Null, &ValueError{before: "unexpected unknown property value for "}
		}
		return Computed(), nil
	}
	return String(s), d.spend(0, len(s))
}

func (d *wireDecoder) byteString(f map[string]*structpb.Value) (Value, bool, error) {
	s, ok, err := d.optionalText(f, "value", "byte string")
	if err != nil {
		return Null, false, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !ok {
		return Null, false, &ValueError{before: "malformed byte string for ", after: ": value is not base64"}
	}
	return String(string(b)), true, nil
}

func (d *wireDecoder) asset(f map[string]*structpb.Value) (Asset, error) {
	parts, present, err := d.texts(f, "asset", "hash", "text", "path", "uri")
	if err != nil {
		return Asset{}, err
	}
	return newAsset(parts[0], parts[1], parts[2], parts[3], present[1]), nil
}

func (d *wireDecoder) archive(f map[string]*structpb.Value, depth int) (Archive, error) {
	parts, _, err := d.texts(f, "archive", "hash", "path", "uri")
	if err != nil {
		return Archive{}, err
	}
	members := Map{}
	if w, ok := f["assets"]; ok {
		k, ok := w.GetKind().(*structpb.Value_StructValue)
		if !ok {
			return Archive{}, &ValueError{before: "malformed archive for ", after: ": assets not an object"}
		}
		if members, err = d.object(k.StructValue, depth+1); err != nil {
			return Archive{}, err
		}
		if err = checkMembers(members); err != nil {
			return Archive{}, err
		}
	}
	return newArchive(parts[0], parts[1], parts[2], members), nil
}

func checkMembers(members Map) error {
	for name, v := range members.All() {
		if !v.IsAsset() && !v.IsArchive() {
			return within(&ValueError{before: "archive member ", after: " is not an asset or archive"}, Key(name))
		}
	}
	return nil
}

func (d *wireDecoder) texts(f map[string]*structpb.Value, what string, names ...string) ([4]string, [4]bool, error) {
	var parts [4]string
	var present [4]bool
	for i, name := range names {
		var err error
		if parts[i], present[i], err = d.optionalText(f, name, what); err != nil {
			return parts, present, err
		}
	}
	return parts, present, nil
}
