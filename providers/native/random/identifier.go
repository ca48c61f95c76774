package random

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/google/uuid"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

func randomBytes(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := rand.Read(b)
	return b, err
}

// notNegative refuses a negative count.
func notNegative(name string, least int) func(native.Values) []providers.CheckFailure {
	return func(in native.Values) []providers.CheckFailure {
		if in.Has(name) && in.Int(name) < least {
			return []providers.CheckFailure{{
				Property: name, Reason: fmt.Sprintf("property %q must be at least %d, it is %d", name, least, in.Int(name)),
			}}
		}
		return nil
	}
}

func identifier() native.Resource {
	return native.Resource{
		Type: token("RandomId"), Doc: "An identifier of random bytes, in several notations.",
		Inputs: []native.Field{
			required("byteLength", native.KindInteger, "How many bytes."),
			optional("prefix", native.KindString, "What every notation starts with."),
		},
		Computed: []native.Field{
			computed("b64Std", native.KindString, "Base64."),
			computed("b64Url", native.KindString, "Base64 for URLs, without padding."),
			computed("dec", native.KindString, "Decimal."),
			computed("hex", native.KindString, "Hexadecimal."),
		},
		Check: notNegative("byteLength", 1),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			b, err := randomBytes(c.Inputs.Int("byteLength"))
			return identified(b, c.Inputs.Text("prefix")), err
		},
		Import: importIdentifier,
	}
}

func identified(b []byte, prefix string) native.Made {
	id := base64.RawURLEncoding.EncodeToString(b)
	return native.Made{ID: id, Outputs: native.Outputs{
		"b64Url": native.Text(prefix + id),
		"b64Std": native.Text(prefix + base64.StdEncoding.EncodeToString(b)),
		"hex":    native.Text(prefix + hex.EncodeToString(b)),
		"dec":    native.Text(prefix + new(big.Int).SetBytes(b).String()),
	}}
}

// importIdentifier reads "<b64Url>" or "<prefix>,<b64Url>".
func importIdentifier(_ context.Context, c native.Call) (native.Made, error) {
	prefix, id := "", c.ID
	if i := strings.LastIndex(id, ","); i >= 0 {
		prefix, id = id[:i], id[i+1:]
	}
	b, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		return native.Made{}, fmt.Errorf("the ID must be [<prefix>,]<base64 for URLs>: %w", err)
	}
	made := identified(b, prefix)
	made.Outputs["byteLength"] = native.Int(len(b))
	if prefix != "" {
		made.Outputs["prefix"] = native.Text(prefix)
	}
	return made, nil
}

func raw() native.Resource {
	return native.Resource{
		Type: token("RandomBytes"), Doc: "Random bytes, for keys.",
		Inputs:   []native.Field{required("length", native.KindInteger, "How many bytes.")},
		Computed: []native.Field{secret("base64", "Base64."), secret("hex", "Hexadecimal.")},
		Check:    notNegative("length", 1),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			b, err := randomBytes(c.Inputs.Int("length"))
			return rawBytes(b), err
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			b, err := base64.StdEncoding.DecodeString(c.ID)
			if err != nil {
				return native.Made{}, fmt.Errorf("the ID must be base64: %w", err)
			}
			made := rawBytes(b)
			made.Outputs["length"] = native.Int(len(b))
			return made, nil
		},
	}
}

// rawBytes returns a resource whose ID contains the bytes, as in the public package: IDs are never secret.
func rawBytes(b []byte) native.Made {
	text := base64.StdEncoding.EncodeToString(b)
	return native.Made{ID: text, Outputs: native.Outputs{
		"base64": native.Text(text), "hex": native.Text(hex.EncodeToString(b)),
	}}
}

func uuid4(name string) native.Resource {
	return uuids(name, "A random UUID (version 4).", uuid.NewRandom)
}

func uuid7() native.Resource {
	return uuids("RandomUuid7", "A UUID that begins with the time (version 7).", uuid.NewV7)
}

func uuids(name, doc string, generate func() (uuid.UUID, error)) native.Resource {
	made := func(u uuid.UUID, err error) (native.Made, error) {
		return native.Made{ID: u.String(), Outputs: native.Outputs{"result": native.Text(u.String())}}, err
	}
	return native.Resource{
		Type: token(name), Doc: doc, Computed: []native.Field{computed("result", native.KindString, "The UUID.")},
		Create: func(context.Context, native.Call) (native.Made, error) { return made(generate()) },
		Import: func(_ context.Context, c native.Call) (native.Made, error) { return made(uuid.Parse(c.ID)) },
	}
}
