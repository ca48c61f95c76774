package property

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/sluice-iac/sluice/internal/text/jsonscan"
	"github.com/sluice-iac/sluice/urn"
)

// DecodeState reads an object in the encoding of state files ([state.md 2]). Empty data and null are the empty
// object. Errors are a [*ValueError] or a [*LimitError], which name the property, or a [*SyntaxError].
//
// [state.md 2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#2-values
func DecodeState(ctx context.Context, data []byte, o StateDecodeOptions) (Map, error) {
	if len(data) == 0 {
		return Map{}, nil
	}
	v, err := DecodeStateValue(ctx, data, o)
	if err != nil {
		return Map{}, err
	}
	if !v.IsMap() && !v.IsNull() {
		return Map{}, fmt.Errorf("a property map in the state must be an object: %.40q", data)
	}
	return v.AsMap(), nil
}

// DecodeStateValue is [DecodeState] for one value. The result does not refer to data.
func DecodeStateValue(ctx context.Context, data []byte, o StateDecodeOptions) (Value, error) {
	d := stateDecoder{options: o, ctx: ctx}
	v, err := d.parse(data, 0)
	if err != nil {
		return Null, outermost(err, "")
	}
	return d.readMarks(v), nil
}

// FromJSON reads a value that package encoding/json has already decoded into an any: nil, bool, float64, string, []any
// and map[string]any. [DecodeStateValue] is several times as fast if the text is available.
func FromJSON(ctx context.Context, raw any, o StateDecodeOptions) (Value, error) {
	d := stateDecoder{options: o, ctx: ctx}
	v, err := d.value(raw, 0)
	if err != nil {
		return Null, outermost(err, "")
	}
	return d.readMarks(v), nil
}

// stateDecoder makes values of JSON. Objects are made bottom up; one that turns out to have the signature key is then
// read as a special value.
type stateDecoder struct {
	options  StateDecodeOptions
	budget   budget
	ctx      context.Context //nolint:containedctx // it lives as long as the call that it belongs to
	isMarked bool            // a text contains the mark of an unknown value; it may be a part of a special value
}

// readMarks returns v with the texts of which a part is unknown as unknown values. Pulumi records the outputs of programs that put an unknown
// value into a text so.
func (d *stateDecoder) readMarks(v Value) Value {
	if !d.isMarked {
		return v
	}
	return v.ReplaceTexts(func(text string) (Value, bool) { return Computed(), HasUnknownMarker(text) })
}

func (d *stateDecoder) value(raw any, depth int) (Value, error) {
	if err := d.budget.spend(depth, 0); err != nil {
		return Null, err
	}
	switch x := raw.(type) {
	case nil:
		return Null, nil
	case bool:
		return Bool(x), nil
	case float64:
		return Number(x), nil
	case string:
		return d.text(x)
	case []any:
		a := make([]Value, len(x))
		for i, e := range x {
			v, err := d.value(e, depth+1)
			if err != nil {
				return Null, within(err, Index(i))
			}
			a[i] = v
		}
		return Of(Array{a}), nil
	case map[string]any:
		list := make(members, 0, len(x))
		for _, k := range sortedNames(x) {
			v, err := d.value(x[k], depth+1)
			if err != nil {
				return Null, within(err, Key(k))
			}
			list = append(list, member{k, v})
		}
		return d.finish(list.object(), depth)
	}
	return Null, &ValueError{before: "the value of ", after: fmt.Sprintf(" has the Go type %T", raw)}
}

func (d *stateDecoder) text(s string) (Value, error) {
	if kind, ok := unknownFromSentinel(s); ok {
		return UnknownOf(kind), nil
	}
	d.isMarked = d.isMarked || HasUnknownMarker(s)
	return String(s), d.budget.spend(0, len(s))
}

// finish makes a value of the members of an object.
func (d *stateDecoder) finish(m Map, depth int) (Value, error) {
	signature, special := m.Get(SignatureKey)
	if !special {
		return Of(m), nil
	}
	switch signature.AsString() {
	case secretSignature:
		return d.secret(m, depth)
	case assetSignature:
		parts, err := fieldTexts(m, "asset", "hash", "text", "path", "uri")
		return Of(newAsset(parts[0], parts[1], parts[2], parts[3], false)), err
	case archiveSignature:
		a, err := archive(m)
		return Of(a), err
	case referenceSignature:
		r, err := reference(m)
		return Of(r), err
	case byteStringSignature:
		return byteString(m)
	case floatSignature:
		return float(m)
	}
	text, isText := fieldText(signature)
	if !isText {
		return Null, malformed("special value", "signature not a string")
	}
	return Null, &ValueError{before: fmt.Sprintf("unrecognized signature '%v' in property map for ", text)}
}

func malformed(what, problem string) error {
	return &ValueError{before: "malformed " + what + " for ", after: ": " + problem}
}

// fieldText returns the text of a field of a special value. Such a field is never an unknown, whatever its text.
func fieldText(v Value) (string, bool) {
	if v.IsUnknown() {
		return v.AsUnknown().Kind.sentinel(), true
	}
	return v.AsString(), v.IsString()
}

// fieldTexts returns fields that must be strings if they are there.
func fieldTexts(m Map, what string, names ...string) ([4]string, error) {
	var parts [4]string
	for i, name := range names {
		v, ok := m.Get(name)
		if !ok {
			continue
		}
		if parts[i], ok = fieldText(v); !ok {
			return parts, malformed(what, name+" not a string")
		}
	}
	return parts, nil
}

func (d *stateDecoder) secret(m Map, depth int) (Value, error) {
	parts, err := fieldTexts(m, "secret", "plaintext", "ciphertext")
	if err != nil {
		return Null, err
	}
	plaintext, ciphertext := parts[0], parts[1]
	if (plaintext == "") == (ciphertext == "") {
		return Null, malformed("secret", "it must have one of ciphertext and plaintext")
	}
	if ciphertext != "" && d.options.Decrypter == nil {
		return sealedSecret(Computed(), &sealed{ciphertext: ciphertext, crypter: d.options.Crypter, opaque: true}), nil
	}
	if ciphertext != "" {
		if plaintext, err = d.options.Decrypter.Decrypt(d.ctx, ciphertext); err != nil {
			if l, ok := d.options.Decrypter.(lenient); ok && d.ctx.Err() == nil && !l.isFatal(err) {
				return Unavailable(err.Error()), nil
			}
			return Null, &ValueError{before: "decrypt ", Err: err}
		}
	}
	inner := stateDecoder{options: StateDecodeOptions{Decrypter: identity{}}, budget: d.budget, ctx: d.ctx}
	element, err := inner.parse([]byte(plaintext), depth+1)
	d.budget = inner.budget
	if syntax := (*SyntaxError)(nil); errors.As(err, &syntax) {
		// The message may quote the text, which is a secret.
		return Null, malformed("secret", "its text is not JSON")
	}
	if err != nil {
		return Null, err
	}
	element = inner.readMarks(element)
	if ciphertext == "" || d.options.Crypter == "" {
		return Secret(element), nil
	}
	return sealedSecret(element, &sealed{ciphertext: ciphertext, crypter: d.options.Crypter}), nil
}

// parse reads one JSON text straight into values. It accepts what encoding/json accepts and reads it the same way
// (of two members with one name the last counts, broken UTF-8 becomes U+FFFD) but makes no intermediate tree: reading
// the state is the first thing that every command waits for.
func (d *stateDecoder) parse(data []byte, depth int) (Value, error) {
	p := jsonParser{decoder: d, text: *jsonscan.New(data)}
	v, err := p.element(depth)
	if err == nil {
		err = p.text.End()
	}
	if e, is := err.(*jsonscan.ScanError); is { //nolint:errorlint // only the parser itself returns one
		err = &SyntaxError{Offset: e.Offset, Problem: e.Problem}
	}
	if err != nil {
		return Null, err
	}
	return v, nil
}

func archive(m Map) (Archive, error) {
	parts, err := fieldTexts(m, "archive", "hash", "path", "uri")
	if err != nil {
		return Archive{}, err
	}
	members := m.At("assets")
	if !members.IsMap() && !members.IsNull() {
		return Archive{}, malformed("archive", "assets not an object")
	}
	if err := checkMembers(members.AsMap()); err != nil {
		return Archive{}, err
	}
	return newArchive(parts[0], parts[1], parts[2], members.AsMap()), nil
}

// reference also reads the form of an old release, in which the ID is an object with the single field "V" (state.md
// 2.7).
func reference(m Map) (Reference, error) {
	const what = "resource reference"
	parts, err := fieldTexts(m, what, "urn", "packageVersion")
	if err != nil {
		return Reference{}, err
	}
	r := Reference{URN: urn.URN(parts[0]), PackageVersion: parts[1]}
	id := m.At("id")
	if id.IsMap() {
		if id = id.AsMap().At("V"); id.IsMap() {
			id = Computed()
		}
	}
	switch {
	case id.IsNull():
	case id.IsUnknown(), id.IsString() && id.AsString() == "":
		r.ID = Computed()
	case id.IsString():
		r.ID = id
	default:
		return r, malformed(what, "id not a string")
	}
	return r, nil
}

func byteString(m Map) (Value, error) {
	parts, err := fieldTexts(m, "byte string", "value")
	if err != nil {
		return Null, err
	}
	b, err := base64.StdEncoding.DecodeString(parts[0])
	if err != nil {
		return Null, malformed("byte string", "value is not base64")
	}
	return String(string(b)), nil
}

func float(m Map) (Value, error) {
	parts, err := fieldTexts(m, "number", "value")
	if err != nil {
		return Null, err
	}
	b, err := hex.DecodeString(parts[0])
	if err != nil || len(b) != 8 {
		return Null, malformed("number", "value is not 16 hexadecimal digits")
	}
	return Number(math.Float64frombits(binary.BigEndian.Uint64(b))), nil
}

// sealedSecret returns a secret with its encrypted form.
func sealedSecret(element Value, s *sealed) Value {
	v := &secret{element: element}
	v.sealed.Store(s)
	return Value{v}
}
