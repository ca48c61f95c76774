package workspace

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Reencrypted returns v with every ciphertext decrypted by dec and encrypted again by enc.
func Reencrypted(ctx context.Context, v Value, dec Decrypter, enc Encrypter) (Value, error) {
	switch v := v.(type) {
	case Secure:
		text, err := dec.Decrypt(ctx, string(v))
		if err != nil {
			return nil, err
		}
		sealed, err := enc.Encrypt(ctx, text)
		return Secure(sealed), err
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = Reencrypted(ctx, e, dec, enc); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			e, err := Reencrypted(ctx, v[k], dec, enc)
			if err != nil {
				return nil, err
			}
			out[k] = e
		}
		return out, nil
	}
	return v, nil
}

// Reencrypt encrypts every secret of the file again. Settings without secrets stay unchanged. dec may be nil if there
// are no secrets.
func (f *StackFile) Reencrypt(ctx context.Context, dec Decrypter, enc Encrypter) error {
	if err := ReencryptAhead(ctx, dec, enc, maps.Values(f.Values())); err != nil {
		return err
	}
	for _, k := range f.Keys() {
		v, _ := f.Value(k)
		if !HasSecrets(v) {
			continue
		}
		now, err := Reencrypted(ctx, v, dec, enc)
		if err != nil {
			return Undecryptable(k, err)
		}
		if err := f.replace(k, now); err != nil {
			return err
		}
	}
	return nil
}

// replace sets the value of a setting, which may contain ciphertexts at any depth.
func (f *StackFile) replace(k Key, v Value) error {
	config, err := f.configNode()
	if err != nil {
		return err
	}
	f.spellOut(config, k)
	setChild(config, k.String(), nodeOf(v))
	f.changed = true
	return f.load()
}

// Put is like Set, but the value may contain ciphertexts.
func (f *StackFile) Put(k Key, v Value) error { return f.replace(k, v) }

// Replace replaces the settings of the file by the given ones. Settings with the same value keep their spelling.
func (f *StackFile) Replace(values map[Key]Value) error {
	for _, k := range f.Keys() {
		if _, stays := values[k]; !stays {
			if _, err := f.Remove(k); err != nil {
				return err
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(values), CompareKeys) {
		present, there := f.Value(k)
		if there && fmt.Sprintf("%#v", present) == fmt.Sprintf("%#v", values[k]) {
			continue
		}
		if err := f.replace(k, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// RecordedSettings parses settings in the form of the history (state.md 6.5).
func RecordedSettings(project string, config []byte) (map[Key]Value, error) {
	text := append(append([]byte(`{"config":`), config...), '}')
	f, err := parseStackFile("the settings in the history.json", project, text, true)
	if err != nil {
		return nil, err
	}
	return f.values, nil
}
