package property

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"github.com/sluice-iac/sluice/urn"
)

// DecodeState reads an object in the encoding of state files (state.md section 2). Empty data and null are the empty
// object. Errors are a [*ValueError], a [*LimitError] or that of the JSON parser.
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

// DecodeStateValue is [DecodeState] for one value.
func DecodeStateValue(ctx context.Context, data []byte, o StateDecodeOptions) (Value, error) {
	var raw any
	if err := json.Unmarshal(data, &raw); err != nil {
		return Null, fmt.Errorf("property value in the state: %w", err)
	}
	return FromJSON(ctx, raw, o)
}

// FromJSON reads a value that package encoding/json has already decoded into an any: nil, bool, float64, string,
// []any and map[string]any.
func FromJSON(ctx context.Context, raw any, o StateDecodeOptions) (Value, error) {
	d := stateDecoder{StateDecodeOptions: o, ctx: ctx}
	v, err := d.value(raw, 0)
	if err != nil {
		d = stateDecoder{StateDecodeOptions: o, ctx: ctx, ordered: true}
		if v, err = d.value(raw, 0); err != nil {
			return Null, outermost(err, "")
		}
	}
	return v, nil
}

type stateDecoder struct {
	StateDecodeOptions
	budget
	ctx     context.Context //nolint:containedctx // it lives as long as the call that it belongs to
	ordered bool            // the second walk after an error, so that the first error in order is reported
}

func (d *stateDecoder) value(raw any, depth int) (Value, error) {
	if err := d.spend(depth, 0); err != nil {
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
		if x == unknownStringSentinel {
			return Computed(), nil
		}
		return String(x), d.spend(0, len(x))
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
		if signature, special := x[SignatureKey]; special {
			return d.special(signature, x, depth)
		}
		m, err := d.object(x, depth)
		return Of(m), err
	}
	return Null, &ValueError{before: "the value of ", after: fmt.Sprintf(" has the Go type %T", raw)}
}

func (d *stateDecoder) object(x map[string]any, depth int) (Map, error) {
	if len(x) == 0 {
		return Map{}, nil
	}
	m := make(map[string]Value, len(x))
	if d.ordered {
		for _, k := range sortedNames(x) {
			v, err := d.value(x[k], depth+1)
			if err != nil {
				return Map{}, within(err, Key(k))
			}
			m[k] = v
		}
		return Map{m}, nil
	}
	for k, e := range x {
		v, err := d.value(e, depth+1)
		if err != nil {
			return Map{}, within(err, Key(k))
		}
		d.size += int64(len(k))
		m[k] = v
	}
	return Map{m}, nil
}

func (d *stateDecoder) special(signature any, x map[string]any, depth int) (Value, error) {
	switch signature {
	case secretSignature:
		return d.secret(x, depth)
	case assetSignature:
		parts, err := fieldTexts(x, "asset", "hash", "text", "path", "uri")
		return Of(newAsset(parts[0], parts[1], parts[2], parts[3], false)), err
	case archiveSignature:
		a, err := d.archive(x, depth)
		return Of(a), err
	case referenceSignature:
		r, err := reference(x)
		return Of(r), err
	case byteStringSignature:
		return byteString(x)
	case floatSignature:
		return float(x)
	}
	return Null, &ValueError{before: fmt.Sprintf("unrecognized signature '%v' in property map for ", signature)}
}

func malformed(what, problem string) error {
	return &ValueError{before: "malformed " + what + " for ", after: ": " + problem}
}

// fieldTexts returns fields that must be strings if they are there.
func fieldTexts(x map[string]any, what string, names ...string) ([4]string, error) {
	var parts [4]string
	for i, name := range names {
		raw, ok := x[name]
		if !ok {
			continue
		}
		if parts[i], ok = raw.(string); !ok {
			return parts, malformed(what, name+" not a string")
		}
	}
	return parts, nil
}

func (d *stateDecoder) secret(x map[string]any, depth int) (Value, error) {
	parts, err := fieldTexts(x, "secret", "plaintext", "ciphertext")
	if err != nil {
		return Null, err
	}
	plaintext, ciphertext := parts[0], parts[1]
	if (plaintext == "") == (ciphertext == "") {
		return Null, malformed("secret", "it must have one of ciphertext and plaintext")
	}
	if ciphertext != "" && d.Decrypter == nil {
		return sealedSecret(Computed(), &sealed{ciphertext: ciphertext, crypter: d.Crypter, opaque: true}), nil
	}
	if ciphertext != "" {
		if plaintext, err = d.Decrypter.Decrypt(d.ctx, ciphertext); err != nil {
			return Null, &ValueError{before: "decrypt ", Err: err}
		}
	}
	var raw any
	if err := json.Unmarshal([]byte(plaintext), &raw); err != nil {
		// The parser's message may quote the text, which is a secret.
		return Null, malformed("secret", "its text is not JSON")
	}
	inner := stateDecoder{
		StateDecodeOptions: StateDecodeOptions{Decrypter: identity{}}, budget: d.budget, ctx: d.ctx, ordered: d.ordered,
	}
	element, err := inner.value(raw, depth+1)
	d.budget = inner.budget
	if err != nil {
		return Null, err
	}
	if ciphertext == "" || d.Crypter == "" {
		return Secret(element), nil
	}
	return sealedSecret(element, &sealed{ciphertext: ciphertext, crypter: d.Crypter}), nil
}

func (d *stateDecoder) archive(x map[string]any, depth int) (Archive, error) {
	parts, err := fieldTexts(x, "archive", "hash", "path", "uri")
	if err != nil {
		return Archive{}, err
	}
	members := Map{}
	if raw, ok := x["assets"]; ok && raw != nil {
		object, ok := raw.(map[string]any)
		if !ok {
			return Archive{}, malformed("archive", "assets not an object")
		}
		if members, err = d.object(object, depth+1); err != nil {
			return Archive{}, err
		}
		if err := checkMembers(members); err != nil {
			return Archive{}, err
		}
	}
	return newArchive(parts[0], parts[1], parts[2], members), nil
}

// reference also reads the form of an old release, in which the ID is an object with the single field "V" (state.md
// 2.7).
func reference(x map[string]any) (Reference, error) {
	const what = "resource reference"
	parts, err := fieldTexts(x, what, "urn", "packageVersion")
	if err != nil {
		return Reference{}, err
	}
	r := Reference{URN: urn.URN(parts[0]), PackageVersion: parts[1]}
	id := x["id"]
	if wrapped, ok := id.(map[string]any); ok {
		if id, ok = wrapped["V"].(map[string]any); ok {
			r.ID = Computed()
			return r, nil
		}
		id = wrapped["V"]
	}
	switch s := id.(type) {
	case nil:
	case string:
		r.ID = String(s)
		if s == "" || s == unknownStringSentinel {
			r.ID = Computed()
		}
	default:
		return r, malformed(what, "id not a string")
	}
	return r, nil
}

func byteString(x map[string]any) (Value, error) {
	parts, err := fieldTexts(x, "byte string", "value")
	if err != nil {
		return Null, err
	}
	b, err := base64.StdEncoding.DecodeString(parts[0])
	if err != nil {
		return Null, malformed("byte string", "value is not base64")
	}
	return String(string(b)), nil
}

func float(x map[string]any) (Value, error) {
	parts, err := fieldTexts(x, "number", "value")
	if err != nil {
		return Null, err
	}
	b, err := hex.DecodeString(parts[0])
	if err != nil || len(b) != 8 {
		return Null, malformed("number", "value is not 16 hexadecimal digits")
	}
	return Number(math.Float64frombits(binary.BigEndian.Uint64(b))), nil
}
