package property

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// EncodeState returns m in the encoding of state files ([state.md 2]): compact JSON with sorted keys.
//
// [state.md 2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#2-values
func EncodeState(ctx context.Context, m Map, o StateOptions) (json.RawMessage, error) {
	return AppendState(ctx, nil, m, o)
}

// AppendState appends what [EncodeState] returns to dst. Errors are a [*ValueError] or a [*LimitError] and name the
// property; dst is returned at its old length then. Outputs are reduced to unknowns, secrets and plain values.
func AppendState(ctx context.Context, dst []byte, m Map, o StateOptions) ([]byte, error) {
	return AppendStateValue(ctx, dst, Of(m), o)
}

// AppendStateValue is [AppendState] for one value.
func AppendStateValue(ctx context.Context, dst []byte, v Value, o StateOptions) ([]byte, error) {
	e := stateEncoder{options: o, ctx: ctx, dst: dst}
	if err := e.value(v, 0); err != nil {
		return dst, outermost(err, "")
	}
	return e.dst, nil
}

type stateEncoder struct {
	options StateOptions
	budget  budget
	ctx     context.Context //nolint:containedctx // it lives as long as the call that it belongs to
	dst     []byte
}

func (e *stateEncoder) value(v Value, depth int) error {
	before := len(e.dst)
	if err := e.budget.spend(depth, 0); err != nil {
		return err
	}
	switch x := v.v.(type) {
	case nil:
		e.dst = append(e.dst, "null"...)
	case bool:
		if x {
			e.dst = append(e.dst, "true"...)
		} else {
			e.dst = append(e.dst, "false"...)
		}
	case float64:
		e.number(x)
	case string:
		e.text(x)
	case Array:
		return e.array(x, depth)
	case Map:
		return e.object(x, depth)
	case Unknown:
		e.dst = appendJSONString(e.dst, unknownStringSentinel)
	case *secret:
		return e.secret(x, depth)
	case *Output:
		downgraded, _ := downgradeOutputs(v)
		return e.value(downgraded, depth)
	case Reference:
		e.reference(x)
	case Asset:
		e.asset(x)
	case Archive:
		return e.archive(x, depth)
	}
	return e.budget.spend(depth, len(e.dst)-before)
}

func (e *stateEncoder) array(a Array, depth int) error {
	e.dst = append(e.dst, '[')
	for i, v := range a.a {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		if err := e.value(v, depth+1); err != nil {
			return within(err, Index(i))
		}
	}
	e.dst = append(e.dst, ']')
	return nil
}

func (e *stateEncoder) object(m Map, depth int) error {
	e.dst = append(e.dst, '{')
	for i, p := range m.members() {
		k := p.name
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		if k == SignatureKey {
			return within(reservedName(), Key(k))
		}
		if !utf8.ValidString(k) {
			return within(nameNotUTF8(), Key(k))
		}
		e.dst = appendJSONString(e.dst, k)
		e.dst = append(e.dst, ':')
		e.budget.size += int64(len(k))
		if err := e.value(p.value, depth+1); err != nil {
			return within(err, Key(k))
		}
	}
	e.dst = append(e.dst, '}')
	return nil
}

// open begins a special object; field adds a member. Members are written in ascending order of their names, in which
// the signature key comes first.
func (e *stateEncoder) open(signature string) {
	e.dst = append(e.dst, `{"`+SignatureKey+`":"`...)
	e.dst = append(e.dst, signature...)
	e.dst = append(e.dst, '"')
}

func (e *stateEncoder) field(name, text string) {
	e.dst = append(e.dst, `,"`...)
	e.dst = append(e.dst, name...)
	e.dst = append(e.dst, `":`...)
	e.dst = appendJSONString(e.dst, text)
}

func (e *stateEncoder) optionalField(name, text string) {
	if text != "" {
		e.field(name, text)
	}
}

func (e *stateEncoder) close() { e.dst = append(e.dst, '}') }

func (e *stateEncoder) number(f float64) {
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		e.dst = appendJSONNumber(e.dst, f)
		return
	}
	var bits [8]byte
	for i, b := 0, math.Float64bits(f); i < 8; i++ {
		bits[i] = byte(b >> (56 - 8*i))
	}
	e.open(floatSignature)
	e.field("value", hex.EncodeToString(bits[:]))
	e.close()
}

func (e *stateEncoder) text(s string) {
	if utf8.ValidString(s) {
		e.dst = appendJSONString(e.dst, s)
		return
	}
	e.open(byteStringSignature)
	e.field("value", base64.StdEncoding.EncodeToString([]byte(s)))
	e.close()
}

// reference writes an unknown ID as an empty one, which is how it is read back.
func (e *stateEncoder) reference(r Reference) {
	e.open(referenceSignature)
	if !r.ID.IsNull() {
		e.field("id", r.ID.AsString())
	}
	e.field("packageVersion", r.PackageVersion)
	e.field("urn", string(r.URN))
	e.close()
}

func (e *stateEncoder) asset(a Asset) {
	if e.options.ElideText && a.Kind == KindText && a.Text != "" {
		a.Text = elidedContent
	}
	e.open(assetSignature)
	e.optionalField("hash", a.Hash)
	e.optionalField("path", a.Path)
	e.optionalField("text", a.Text)
	e.optionalField("uri", a.URI)
	e.close()
}

// archive writes an elided archive with empty members, as Pulumi does after reading one.
func (e *stateEncoder) archive(a Archive, depth int) error {
	e.open(archiveSignature)
	if a.Kind == KindMembers || a.Kind == KindElided {
		e.dst = append(e.dst, `,"assets":`...)
		if err := e.object(a.Members, depth+1); err != nil {
			return err
		}
	}
	e.optionalField("hash", a.Hash)
	e.optionalField("path", a.Path)
	e.optionalField("uri", a.URI)
	e.close()
	return nil
}

func (e *stateEncoder) secret(s *secret, depth int) error {
	switch e.options.Secrets {
	case SecretsBlinded:
		e.open(secretSignature)
		e.field("ciphertext", secretMask)
		e.close()
		return nil
	case SecretsMasked:
		e.dst = appendJSONString(e.dst, secretMask)
		return nil
	case SecretsPlaintext:
		text, err := e.element(s, depth, e.options)
		if err != nil {
			return err
		}
		e.open(secretSignature)
		e.field("plaintext", text)
		e.close()
		return nil
	}
	ciphertext, err := e.ciphertext(s, depth)
	if err != nil {
		return err
	}
	e.open(secretSignature)
	e.field("ciphertext", ciphertext)
	e.close()
	return e.budget.spend(depth, len(ciphertext))
}

// element encodes the element of a secret; that text is then encrypted.
func (e *stateEncoder) element(s *secret, depth int, o StateOptions) (string, error) {
	if s.isOpaque() {
		return "", sealedError(s)
	}
	inner := stateEncoder{options: o, ctx: e.ctx, budget: e.budget}
	err := inner.value(s.element, depth+1)
	e.budget = inner.budget
	return string(inner.dst), err
}

func (e *stateEncoder) ciphertext(s *secret, depth int) (string, error) {
	if kept := s.sealed.Load(); kept != nil && e.options.Crypter != "" && kept.crypter == e.options.Crypter {
		return kept.ciphertext, nil
	}
	text, err := e.element(s, depth, StateOptions{Encrypter: identity{}, ElideText: e.options.ElideText})
	if err != nil {
		return "", err
	}
	if e.options.Encrypter == nil {
		return "", &ValueError{before: "the secret ", after: " cannot be written: there is no secrets provider"}
	}
	ciphertext, err := e.options.Encrypter.Encrypt(e.ctx, text)
	if err != nil {
		return "", &ValueError{before: "encrypt ", Err: err}
	}
	switch { // the state could not be read any more
	case ciphertext == "":
		return "", &ValueError{before: "encrypt ", after: ": the secrets provider has returned an empty ciphertext"}
	case !utf8.ValidString(ciphertext):
		return "", &ValueError{before: "encrypt ", after: ": the secrets provider has returned a ciphertext that is not UTF-8"}
	}
	if e.options.Crypter == "" {
		return ciphertext, nil
	}
	// Stored, so that writing the same snapshot again is cheap and changes nothing. Of two writers at once the first one
	// wins, and both write its text.
	mine := &sealed{ciphertext: ciphertext, crypter: e.options.Crypter}
	for {
		kept := s.sealed.Load()
		if kept != nil && kept.crypter == e.options.Crypter {
			return kept.ciphertext, nil
		}
		if s.sealed.CompareAndSwap(kept, mine) {
			return ciphertext, nil
		}
	}
}
