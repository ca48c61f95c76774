package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// The keys of a stack file.
const (
	keySecretsProvider = "secretsprovider"
	keyEncryptedKey    = "encryptedkey"
	keyEncryptionSalt  = "encryptionsalt"
	keyConfig          = "config"
	keyEnvironment     = "environment"
)

// StackFile is the configuration file of one stack (state.md 6.3). It is not safe for concurrent use.
type StackFile struct {
	Path        string // "" for settings that have no file
	project     string
	doc         *document
	exists      bool
	changed     bool
	kept        bool // in the backend, without a file here
	values      map[Key]Value
	written     map[Key]string // the spelling of each key in the file
	environment map[Key]Value  // settings of the environments, below those of the file
	// Warnings are remarks about the content. They do not stop an operation.
	Warnings []string
}

// ReadStackFile reads a stack file. An absent file is read as an empty one, and so is the path "".
func ReadStackFile(path, project string) (*StackFile, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return parseStackFile(path, project, nil, false)
	}
	if err != nil {
		return nil, fmt.Errorf("read the stack's configuration: %w", err)
	}
	return parseStackFile(path, project, data, true)
}

// KeptSettings returns read-only settings that are kept in the backend, from the content that a file of them would have. where names the place.
func KeptSettings(where, project string, content []byte) (*StackFile, error) {
	f, err := parseStackFile(where, project, content, false)
	if err == nil {
		f.kept = true
	}
	return f, err
}

// Kept reports whether the settings are kept in the backend.
func (f *StackFile) Kept() bool { return f.kept }

func parseStackFile(path, project string, data []byte, exists bool) (*StackFile, error) {
	doc, err := parseDocument(path, data)
	if err != nil {
		return nil, err
	}
	f := &StackFile{Path: path, project: project, doc: doc, exists: exists}
	for _, key := range []string{keySecretsProvider, keyEncryptedKey, keyEncryptionSalt} {
		if _, v := child(doc.root(), key); v != nil && (resolve(v).Kind != yaml.ScalarNode) {
			return nil, doc.errorAt(v.Line, fmt.Sprintf("`%s` must be a text, not %s", key, describe(v)), "")
		}
	}
	f.warnAboutOthers()
	return f, f.load()
}

// load decodes the settings.
func (f *StackFile) load() error {
	f.values, f.written = map[Key]Value{}, map[Key]string{}
	_, config := child(f.doc.root(), keyConfig)
	if config == nil || isNull(resolve(config)) {
		return nil
	}
	config = resolve(config)
	if config.Kind != yaml.MappingNode {
		return f.doc.errorAt(config.Line, "`config` must be a mapping of keys to values, not "+describe(config), "")
	}
	for i := 0; i+1 < len(config.Content); i += 2 {
		written := resolve(config.Content[i])
		if written.ShortTag() == "!!merge" {
			return f.doc.errorAt(written.Line, "merge keys (<<) are not supported", "write the values out")
		}
		key, err := ParseKey(written.Value, f.project)
		if err != nil {
			return f.doc.errorAt(written.Line, err.Error(), "")
		}
		if other, twice := f.written[key]; twice {
			return f.doc.errorAt(written.Line, fmt.Sprintf("%q and %q are the same setting", other, written.Value), "remove one of them")
		}
		if isNull(resolve(config.Content[i+1])) {
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s:%d: %s has no value and counts as the empty text", f.Path, written.Line, written.Value))
		}
		v, err := f.doc.topValue(config.Content[i+1])
		if err != nil {
			return err
		}
		f.values[key], f.written[key] = v, written.Value
	}
	return nil
}

// Exists reports whether the file existed when it was read.
func (f *StackFile) Exists() bool { return f.exists }

// Changed reports whether there is something to save.
func (f *StackFile) Changed() bool { return f.changed }

// Keys returns the keys of the settings, ordered by namespace and name.
func (f *StackFile) Keys() []Key { return slices.SortedFunc(maps.Keys(f.values), CompareKeys) }

// Values returns the settings. The caller must not change them.
func (f *StackFile) Values() map[Key]Value { return f.values }

// Value returns a setting, and reports whether it exists.
func (f *StackFile) Value(k Key) (Value, bool) { v, ok := f.values[k]; return v, ok }

// Line returns the line of the file that sets a setting, 0 if none does.
func (f *StackFile) Line(k Key) int {
	written, set := f.written[k]
	if !set {
		return 0
	}
	_, config := child(f.doc.root(), keyConfig)
	node, _ := child(resolve(config), written)
	return node.Line
}

// HasSecrets reports whether any setting is, or contains, a ciphertext.
func (f *StackFile) HasSecrets() bool {
	for _, v := range f.values {
		if HasSecrets(v) {
			return true
		}
	}
	return false
}

// Set sets the value of a setting. If typed is set, this write keeps the type of a scalar (state.md 6.4).
func (f *StackFile) Set(k Key, v Value, typed bool) error {
	if err := checkReserved(v); err != nil {
		return err
	}
	config, err := f.configNode()
	if err != nil {
		return err
	}
	node := nodeOf(v)
	if node.Kind == yaml.ScalarNode && !typed {
		node = newText(Text(v))
	}
	f.spellOut(config, k)
	setChild(config, k.String(), node)
	f.changed = true
	return f.load()
}

// Remove deletes a setting, and reports whether it existed.
func (f *StackFile) Remove(k Key) (bool, error) {
	written, ok := f.written[k]
	if !ok {
		return false, nil
	}
	config, err := f.configNode()
	if err != nil {
		return false, err
	}
	removeChild(config, written)
	f.changed = true
	return true, f.load()
}

// configNode returns the mapping of settings. It makes the mapping if there is none.
func (f *StackFile) configNode() (*yaml.Node, error) {
	_, config := child(f.doc.root(), keyConfig)
	if config != nil && config.Kind == yaml.AliasNode {
		return nil, f.doc.errorAt(config.Line, "`config` is an alias, which cannot be edited", "write the settings out")
	}
	if config == nil || isNull(config) {
		setChild(f.doc.root(), keyConfig, newMapping())
		_, config = child(f.doc.root(), keyConfig)
	}
	return config, nil
}

// spellOut rewrites the entry of a key, if there is one, to the full form of the key.
func (f *StackFile) spellOut(config *yaml.Node, k Key) {
	written, ok := f.written[k]
	if !ok || written == k.String() {
		return
	}
	if node, _ := child(config, written); node != nil && node.Kind == yaml.ScalarNode {
		node.Value = k.String()
	}
}

func checkReserved(v Value) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := checkReserved(e); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, reserved := v[secureKey].(string); reserved && len(v) == 1 {
			return configErrorf("maps with the single key %q are reserved for secrets; use --secret, or another key", secureKey)
		}
		for _, e := range v {
			if err := checkReserved(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// SecretsProvider returns the secrets manager that the file names, "" if it names none.
func (f *StackFile) SecretsProvider() string { return f.text(keySecretsProvider) }

// EncryptedKey returns the encrypted data key of a cloud secrets manager.
func (f *StackFile) EncryptedKey() string { return f.text(keyEncryptedKey) }

// EncryptionSalt returns the salt and verifier of the passphrase secrets manager.
func (f *StackFile) EncryptionSalt() string { return f.text(keyEncryptionSalt) }

func (f *StackFile) text(key string) string {
	_, v := child(f.doc.root(), key)
	if v == nil || isNull(resolve(v)) {
		return ""
	}
	return resolve(v).Value
}

// SetSecrets records how secrets are encrypted (state.md 5.1). An empty argument removes the recorded one.
func (f *StackFile) SetSecrets(provider, encryptedKey, salt string) {
	for _, s := range [...]struct{ key, text string }{
		{keySecretsProvider, provider}, {keyEncryptedKey, encryptedKey}, {keyEncryptionSalt, salt},
	} {
		switch {
		case f.text(s.key) == s.text:
			continue
		case s.text == "":
			removeChild(f.doc.root(), s.key)
		default:
			setChild(f.doc.root(), s.key, newText(s.text))
		}
		f.changed = true
	}
}

// Save writes the file if it has changed. After a crash the file has either the old content or the new one. Save does not write settings without a
// file.
func (f *StackFile) Save() error {
	if !f.changed || f.Path == "" {
		return nil
	}
	if f.kept {
		return fmt.Errorf("the settings of the stack are kept in %s, and cannot be changed from here; change them there", f.Path)
	}
	data, err := f.doc.bytes()
	if err != nil {
		return err
	}
	if _, err := parseStackFile(f.Path, f.project, data, true); err != nil {
		return fmt.Errorf("the edited configuration cannot be read back, so nothing was written: %w", err)
	}
	// The project's directory for settings may not exist yet.
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return fmt.Errorf("make the directory of the stack's configuration: %w", err)
	}
	if err := writeAtomically(f.Path, data, private.File); err != nil {
		return fmt.Errorf("write the stack's configuration: %w", err)
	}
	f.changed, f.exists = false, true
	return nil
}

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
