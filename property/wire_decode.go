package property

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/urn"
)

// UnmarshalStruct decodes s, which may be packed (see [PackStruct]); nil is the empty object. Errors are like those of
// [MarshalStruct]. Outputs and other values that the options do not keep are downgraded ([protocol.md 2.3]).
//
// The texts of the result share one string with all that is encoded.
//
// [protocol.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#23-for-peers-that-understand-less
func UnmarshalStruct(s *structpb.Struct, o WireOptions) (Map, error) {
	packed := s.ProtoReflect().GetUnknown()
	var err error
	if len(s.GetFields()) > 0 {
		packed, err = proto.Marshal(s)
	}
	if err != nil {
		return Map{}, outermost(unreadable(err), o.Name)
	}
	return decoded(packed, &structpb.Struct{}, o, func(d *wireDecoder, packed string) (Map, error) { return d.object(packed, 0) })
}

// UnmarshalValue decodes one value; nil is null. An unknown that is dropped becomes null.
func UnmarshalValue(v *structpb.Value, o WireOptions) (Value, error) {
	packed, err := proto.Marshal(v)
	if err != nil {
		return Null, outermost(unreadable(err), o.Name)
	}
	return decoded(packed, &structpb.Value{}, o, func(d *wireDecoder, packed string) (Value, error) {
		v, _, err := d.value(packed, 0)
		return v, err
	})
}

// decoded decodes the encoding of a message. If that fails, the library reads the encoding into the message and writes it again as it
// understands it, with each key once, and the errors are those of that text in the order of names.
func decoded[T any](packed []byte, m proto.Message, o WireOptions, decode func(*wireDecoder, string) (T, error)) (T, error) {
	out, err := decode(&wireDecoder{options: o}, string(packed))
	if err == nil {
		return out, nil
	}
	again := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(packed, m)
	if again == nil {
		packed, again = proto.Marshal(m)
	}
	switch {
	case again == nil:
		out, err = decode(&wireDecoder{options: o, ordered: true}, string(packed))
	case errors.Is(err, errUnusual):
		err = unreadable(again)
	}
	if err != nil {
		return *new(T), outermost(err, o.Name)
	}
	return out, nil
}

func unreadable(err error) error {
	return &ValueError{before: "", after: " cannot be read: " + err.Error()}
}

// errUnusual reports an encoding that is valid or not, but not what programs and plugins send: a field twice, an unknown field.
var errUnusual = errors.New("unusual encoding")

// wireDecoder reads the encodings of google.protobuf.Struct and Value. It walks objects in the order in which they are encoded, which
// costs less than sorting. The order would show only in which error comes first: after an error the walk is repeated in the order of
// names.
type wireDecoder struct {
	options WireOptions
	budget  budget
	ordered bool
}

// wireEntry is one entry of an object. Value is the encoding of its value.
type wireEntry struct{ key, value string }

// nextVarint reads a varint. It returns n = 0 if there is none.
func nextVarint(in string) (x uint64, n int) {
	for shift := 0; n < len(in) && shift < 64; shift += 7 {
		b := in[n]
		n++
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x, n
		}
	}
	return 0, 0
}

// nextTag reads the number and the type of a field.
func nextTag(in string) (field protowire.Number, kind protowire.Type, rest string, err error) {
	x, n := nextVarint(in)
	if n == 0 || x>>3 > uint64(protowire.MaxValidNumber) {
		return 0, 0, "", errUnusual
	}
	return protowire.Number(x >> 3), protowire.Type(x & 7), in[n:], nil
}

// nextBytes reads a content after its length.
func nextBytes(in string) (content, rest string, err error) {
	size, n := nextVarint(in)
	if n == 0 || size > uint64(len(in)-n) {
		return "", "", errUnusual
	}
	return in[n:][:size], in[n:][size:], nil
}

// nextField reads a field of a message whose content has a length. rest is what follows it.
func nextField(in string) (field protowire.Number, content, rest string, err error) {
	field, kind, in, err := nextTag(in)
	if err != nil || kind != protowire.BytesType {
		return 0, "", "", errUnusual
	}
	content, rest, err = nextBytes(in)
	return field, content, rest, err
}

// nextEntry reads an entry of a struct.
func nextEntry(in string) (e wireEntry, rest string, err error) {
	number, content, rest, err := nextField(in)
	if err != nil || number != structFields {
		return wireEntry{}, "", errUnusual
	}
	if number, e.key, content, err = nextField(content); err != nil || number != entryKey || !utf8.ValidString(e.key) {
		return wireEntry{}, "", errUnusual
	}
	if number, e.value, content, err = nextField(content); err != nil || number != entryValue || content != "" {
		return wireEntry{}, "", errUnusual
	}
	return e, rest, nil
}

// entriesOf reads all entries of a struct.
func entriesOf(in string) (list wireFields, err error) {
	for len(in) > 0 {
		var e wireEntry
		if e, in, err = nextEntry(in); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// wireFields are the fields of a special value.
type wireFields []wireEntry

// find returns the encoding of the last value with a name.
func (f wireFields) find(name string) (value string, ok bool) {
	for _, e := range slices.Backward(f) {
		if e.key == name {
			return e.value, true
		}
	}
	return "", false
}

// isSpecial reports whether a struct is a special value.
func isSpecial(in string) (bool, error) {
	for len(in) > 0 {
		e, rest, err := nextEntry(in)
		if err != nil {
			return false, err
		}
		if e.key == SignatureKey {
			return true, nil
		}
		in = rest
	}
	return false, nil
}

func (d *wireDecoder) object(in string, depth int) (Map, error) {
	if len(in) == 0 {
		return Map{}, nil
	}
	if d.ordered {
		all, err := entriesOf(in)
		if err != nil {
			return Map{}, err
		}
		slices.SortStableFunc(all, func(a, b wireEntry) int { return strings.Compare(a.key, b.key) })
		list := make(members, 0, len(all))
		for _, e := range all {
			if err := d.field(&list, e, depth); err != nil {
				return Map{}, err
			}
		}
		return list.object(), nil
	}
	var list members
	for len(in) > 0 {
		e, rest, err := nextEntry(in)
		if err != nil {
			return Map{}, err
		}
		if list == nil {
			list = make(members, 0, countOf(rest)+1)
		}
		if err := d.field(&list, e, depth); err != nil {
			return Map{}, err
		}
		in = rest
	}
	return list.object(), nil
}

// countOf returns the number of fields of a message.
func countOf(in string) (n int) {
	for len(in) > 0 {
		_, _, rest, err := nextField(in)
		if err != nil {
			return n
		}
		n, in = n+1, rest
	}
	return n
}

func (d *wireDecoder) field(list *members, e wireEntry, depth int) error {
	d.budget.size += int64(len(e.key))
	v, kept, err := d.value(e.value, depth+1)
	if err != nil {
		return within(err, Key(e.key))
	}
	if kept {
		*list = append(*list, member{e.key, v})
	} else { // the last value of a key counts
		*list = slices.DeleteFunc(*list, func(m member) bool { return m.name == e.key })
	}
	return nil
}

// value returns kept = false for a dropped value.
func (d *wireDecoder) value(in string, depth int) (v Value, kept bool, err error) {
	if err := d.budget.spend(depth, 0); err != nil {
		return Null, false, err
	}
	if len(in) == 0 {
		return Null, true, nil
	}
	number, kind, content, err := nextTag(in)
	switch {
	case err != nil:
		return Null, false, err
	case number == valueText && kind == protowire.BytesType:
		text, rest, err := nextBytes(content)
		if err != nil || rest != "" || !utf8.ValidString(text) {
			return Null, false, errUnusual
		}
		if kind, unknown := unknownFromSentinel(text); unknown {
			return d.unknown(kind)
		}
		return String(text), true, d.budget.spend(0, len(text))
	case number == valueNumber && kind == protowire.Fixed64Type && len(content) == 8:
		return Number(math.Float64frombits(fixed64Of(content))), true, nil
	case (number == valueBool || number == valueNull) && kind == protowire.VarintType:
		return boolOrNull(number, content)
	case (number == valueStruct || number == valueList) && kind == protowire.BytesType:
		nested, rest, err := nextBytes(content)
		switch {
		case err != nil || rest != "":
			return Null, false, errUnusual
		case number == valueList:
			return d.array(nested, depth)
		}
		return d.structure(nested, depth)
	}
	return Null, false, errUnusual
}

// fixed64Of reads a number of eight bytes.
func fixed64Of(in string) (bits uint64) {
	for i := range 8 {
		bits |= uint64(in[i]) << (8 * i)
	}
	return bits
}

// boolOrNull reads a bool or the one null.
func boolOrNull(field protowire.Number, content string) (v Value, kept bool, err error) {
	x, n := nextVarint(content)
	switch {
	case n == 0 || n != len(content):
		return Null, false, errUnusual
	case field == valueNull:
		return Null, true, nil
	}
	return Bool(protowire.DecodeBool(x)), true, nil
}

// structure decodes a nested struct: an object or a special value.
func (d *wireDecoder) structure(in string, depth int) (Value, bool, error) {
	special, err := isSpecial(in)
	if err != nil {
		return Null, false, err
	}
	if special {
		return d.special(in, depth)
	}
	m, err := d.object(in, depth)
	return Of(m), true, err
}

func (d *wireDecoder) array(in string, depth int) (Value, bool, error) {
	a := make([]Value, 0, countOf(in))
	for len(in) > 0 {
		number, element, rest, err := nextField(in)
		if err != nil || number != listValues {
			return Null, false, errUnusual
		}
		v, _, err := d.value(element, depth+1)
		if err != nil {
			return Null, false, within(err, Index(len(a)))
		}
		a, in = append(a, v), rest
	}
	return Of(Array{a}), true, nil
}

func (d *wireDecoder) unknown(k UnknownKind) (Value, bool, error) {
	switch {
	case d.options.Unknowns == RejectUnknowns:
		return Null, false, &ValueError{before: "unexpected unknown property value for "}
	case d.options.Unknowns == DropUnknowns:
		return Null, false, nil
	case d.options.Outputs == UpgradeOutputs:
		return OutputOf(Output{}), true, nil
	default:
		return UnknownOf(k), true, nil
	}
}

func (d *wireDecoder) special(in string, depth int) (Value, bool, error) {
	f, err := entriesOf(in)
	if err != nil {
		return Null, false, err
	}
	signature, _ := f.find(SignatureKey)
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
		before: fmt.Sprintf("unrecognized signature '%v' in property map for ", plainOf(signature)),
	}
}

// textOf returns the text of a value that must be a text.
func textOf(in string) (string, bool) {
	text, ok := contentOf(in, valueText)
	return text, ok && utf8.ValidString(text)
}

// contentOf returns the content of a value of one kind.
func contentOf(in string, kind protowire.Number) (content string, ok bool) {
	if number, content, rest, err := nextField(in); err == nil && number == kind && rest == "" {
		return content, true
	}
	return "", false
}

// plainOf returns a value for an error message.
func plainOf(in string) any {
	w := &structpb.Value{}
	if proto.Unmarshal([]byte(in), w) != nil {
		return nil
	}
	return w.AsInterface()
}

// optionalText returns a field that must be a string if it is there.
func (d *wireDecoder) optionalText(f wireFields, name, what string) (s string, present bool, err error) {
	w, present := f.find(name)
	if !present {
		return "", false, nil
	}
	s, ok := textOf(w)
	if !ok {
		return "", true, &ValueError{before: "malformed " + what + " for ", after: ": " + name + " not a string"}
	}
	return s, true, d.budget.spend(0, len(s))
}

func (d *wireDecoder) secret(f wireFields, depth int) (Value, bool, error) {
	w, ok := f.find("value")
	if !ok {
		return Null, false, &ValueError{before: "malformed RPC secret: missing value for "}
	}
	element, kept, err := d.value(w, depth+1)
	if err != nil || !kept {
		return Null, false, err
	}
	switch {
	case !d.options.KeepSecrets:
		return element, true, nil
	case d.options.Outputs == UpgradeOutputs:
		return OutputOf(mergeOutput(Output{Known: true, Secret: true}, element)), true, nil
	default:
		return Secret(element), true, nil
	}
}

func (d *wireDecoder) output(f wireFields, depth int) (Value, bool, error) {
	o := Output{}
	if w, ok := f.find("secret"); ok {
		v, _, err := (&wireDecoder{}).value(w, 0)
		if err != nil || !v.IsBool() {
			return Null, false, &ValueError{before: "malformed output value for ", after: ": secret not a bool"}
		}
		o.Secret = v.AsBool()
	}
	deps, err := d.dependencies(f)
	if err != nil {
		return Null, false, err
	}
	o.Dependencies = deps

	w, known := f.find("value")
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
	if d.options.Outputs != DowngradeOutputs {
		return OutputOf(mergeOutput(o, element)), true, nil
	}
	if o.Secret && d.options.KeepSecrets {
		element = MakeSecret(element)
	}
	return element, true, nil
}

func (d *wireDecoder) dependencies(f wireFields) ([]urn.URN, error) {
	w, ok := f.find("dependencies")
	if !ok {
		return nil, nil
	}
	list, ok := contentOf(w, valueList)
	if !ok {
		return nil, &ValueError{before: "malformed output value for ", after: ": dependencies not an array"}
	}
	deps := make([]urn.URN, 0, countOf(list))
	for len(list) > 0 {
		number, element, rest, err := nextField(list)
		if err != nil || number != listValues {
			return nil, errUnusual
		}
		s, ok := textOf(element)
		if !ok {
			return nil, &ValueError{before: "malformed output value for ", after: ": element in dependencies not a string"}
		}
		if err := d.budget.spend(0, len(s)); err != nil {
			return nil, err
		}
		deps, list = append(deps, urn.URN(s)), rest
	}
	return deps, nil
}

// reference does not apply the policy for unknowns to an ID: a reference to a resource that does not exist yet is
// itself a known value. Only the sentinel, which the sender chose knowingly, may be rejected.
func (d *wireDecoder) reference(f wireFields) (Value, bool, error) {
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
	case d.options.KeepReferences:
		return Of(Reference{URN: urn.URN(u), ID: id, PackageVersion: version}), true, nil
	case id.IsNull():
		return String(u), true, nil
	case id.IsUnknown():
		return d.unknown(UnknownString)
	default:
		return id, true, nil
	}
}

func (d *wireDecoder) referenceID(f wireFields) (Value, error) {
	w, ok := f.find("id")
	if !ok {
		return Null, nil
	}
	s, isText := textOf(w)
	if !isText {
		// SDKs that send outputs may send the ID as an output.
		inner := wireDecoder{options: WireOptions{Unknowns: KeepUnknowns}}
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
		if d.options.Unknowns == RejectUnknowns {
			return Null, &ValueError{before: "unexpected unknown property value for "}
		}
		return Computed(), nil
	}
	return String(s), d.budget.spend(0, len(s))
}

func (d *wireDecoder) byteString(f wireFields) (Value, bool, error) {
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

func (d *wireDecoder) asset(f wireFields) (Asset, error) {
	parts, present, err := d.texts(f, "asset", "hash", "text", "path", "uri")
	if err != nil {
		return Asset{}, err
	}
	return newAsset(parts[0], parts[1], parts[2], parts[3], present[1]), nil
}

func (d *wireDecoder) archive(f wireFields, depth int) (Archive, error) {
	parts, _, err := d.texts(f, "archive", "hash", "path", "uri")
	if err != nil {
		return Archive{}, err
	}
	members := Map{}
	if w, ok := f.find("assets"); ok {
		content, ok := contentOf(w, valueStruct)
		if !ok {
			return Archive{}, &ValueError{before: "malformed archive for ", after: ": assets not an object"}
		}
		if members, err = d.object(content, depth+1); err != nil {
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

func (d *wireDecoder) texts(f wireFields, what string, names ...string) ([4]string, [4]bool, error) {
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
