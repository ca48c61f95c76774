package workspace

import (
	"context"
	"iter"

	"github.com/sluice-iac/sluice/state/secrets"
)

// OpenAhead decrypts the secrets in values by few calls, if dec calls a service. It ignores a secret that cannot be decrypted; decrypting it later
// returns the error. dec may be nil if there are no secrets.
func OpenAhead(ctx context.Context, dec Decrypter, values iter.Seq[Value]) error {
	var all []string
	for v := range values {
		all = appendSealed(all, v)
	}
	return secrets.DecryptAhead(ctx, dec, all)
}

// ReencryptAhead is OpenAhead, and also prepares enc for the same secrets.
func ReencryptAhead(ctx context.Context, dec Decrypter, enc Encrypter, values iter.Seq[Value]) error {
	if err := OpenAhead(ctx, dec, values); err != nil {
		return err
	}
	if _, asks := enc.(secrets.Batch); !asks {
		return nil
	}
	var texts []string
	for v := range values {
		for _, sealed := range appendSealed(nil, v) {
			if text, err := dec.Decrypt(ctx, sealed); err == nil {
				texts = append(texts, text)
			}
		}
	}
	return secrets.EncryptAhead(ctx, enc, texts)
}

// appendSealed appends the ciphertexts in a value.
func appendSealed(all []string, v Value) []string {
	switch v := v.(type) {
	case Secure:
		return append(all, string(v))
	case Declared:
		return appendSealed(all, v.Plain)
	case []any:
		for _, e := range v {
			all = appendSealed(all, e)
		}
	case map[string]any:
		for _, e := range v {
			all = appendSealed(all, e)
		}
	}
	return all
}
