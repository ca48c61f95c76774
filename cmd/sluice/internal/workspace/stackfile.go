package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/text/similar"
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
	read        []byte // the content of the file when it was read or saved
	kept        bool   // in the backend, without a file here
	settings    *settings
	environment map[Key]Value // settings of the environments, below those of the file
	// Environments are the environments of the stack.
	Environments *Environments
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
	f := &StackFile{
		Path: path, project: project, doc: doc, exists: exists, read: data, settings: &settings{doc: doc, project: project}, Environments: &Environments{doc},
	}
	for _, key := range []string{keySecretsProvider, keyEncryptedKey, keyEncryptionSalt} {
		if _, v := child(doc.root(), key); v != nil && (resolve(v).Kind != yaml.ScalarNode) {
			return nil, doc.errorAt(v.Line, fmt.Sprintf("`%s` must be a text, not %s", key, describe(v)), "")
		}
	}
	err = f.settings.load()
	f.Warnings = append(unusedKeys(doc), f.settings.warnings...)
	return f, err
}

// Exists reports whether the file existed when it was read.
func (f *StackFile) Exists() bool { return f.exists }

// Keys returns the keys of the settings, ordered by namespace and name.
func (f *StackFile) Keys() []Key { return slices.SortedFunc(maps.Keys(f.settings.values), CompareKeys) }

// Values returns the settings. The caller must not change them.
func (f *StackFile) Values() map[Key]Value { return f.settings.values }

// Value returns a setting, and reports whether it exists.
func (f *StackFile) Value(k Key) (Value, bool) { v, ok := f.settings.values[k]; return v, ok }

// Line returns the line of the file that sets a setting, 0 if none does.
func (f *StackFile) Line(k Key) int { return f.settings.line(k) }

// HasSecrets reports whether any setting is, or contains, a ciphertext.
func (f *StackFile) HasSecrets() bool {
	for _, v := range f.settings.values {
		if HasSecrets(v) {
			return true
		}
	}
	return false
}

// Set sets the value of a setting. If typed is set, this write keeps the type of a scalar (state.md 6.4).
func (f *StackFile) Set(k Key, v Value, typed bool) error { return f.settings.set(k, v, typed) }

// Put is like Set, but the value may contain ciphertexts.
func (f *StackFile) Put(k Key, v Value) error { return f.settings.put(k, v) }

// SetPath sets the value at a path inside a setting. The name of k is the text of the path (state.md 6.6). It makes
// missing lists and mappings on the way.
func (f *StackFile) SetPath(k Key, v Value) error { return f.settings.setPath(k, v) }

// Remove deletes a setting, and reports whether it existed.
func (f *StackFile) Remove(k Key) (bool, error) { return f.settings.remove(k) }

// RemovePath deletes the value at a path, and reports whether it existed.
func (f *StackFile) RemovePath(k Key) (bool, error) { return f.settings.removePath(k) }

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
		f.doc.changed = true
	}
}

// Save writes the settings if they have changed. After a crash the file has either the old content or the new one. Save does not write settings
// without a file. It refuses to write if the file is not what was read: another command, or an editor, has changed it meanwhile.
func (f *StackFile) Save() error {
	if !f.doc.changed || f.Path == "" {
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
	if now, err := os.ReadFile(f.Path); err == nil && !bytes.Equal(now, f.read) {
		return fmt.Errorf("%s was changed by something else after this command had read it, so nothing was written; run the command again", f.Path)
	}
	// The project's directory for settings may not exist yet.
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return fmt.Errorf("make the directory of the stack's configuration: %w", err)
	}
	if err := files.Replace(f.Path, private.File, files.Content(data)); err != nil {
		return fmt.Errorf("write the stack's configuration: %w", err)
	}
	f.doc.changed, f.exists, f.read = false, true, data
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
		if err := f.Put(k, now); err != nil {
			return err
		}
	}
	return nil
}

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
		if err := f.Put(k, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// Complete adds the settings of a stack's environments: each one that the file does not set, and the missing parts of mappings. They are not written.
func (f *StackFile) Complete(values map[Key]Value) { f.environment = values }

// completed returns the settings of the file with those of its environments.
func (f *StackFile) completed() map[Key]Value {
	out := maps.Clone(f.settings.values)
	if out == nil {
		out = map[Key]Value{}
	}
	for k, v := range f.environment {
		if own, set := out[k]; set {
			v = overlaid(own, v)
		}
		out[k] = v
	}
	return out
}

// overlaid returns v, with the parts that only under has.
func overlaid(v, under Value) Value {
	over, isMapping := v.(map[string]any)
	below, areMappings := under.(map[string]any)
	if !isMapping || !areMappings {
		return v
	}
	out := maps.Clone(below)
	for name, part := range over {
		if other, both := out[name]; both {
			part = overlaid(part, other)
		}
		out[name] = part
	}
	return out
}

// RecordedSettings parses settings in the form of the history (state.md 6.5).
func RecordedSettings(project string, config []byte) (map[Key]Value, error) {
	text := append(append([]byte(`{"config":`), config...), '}')
	f, err := parseStackFile("the settings in the history.json", project, text, true)
	if err != nil {
		return nil, err
	}
	return f.settings.values, nil
}

// unusedKeys returns warnings about the top-level keys of a stack file that nothing reads, except those that may exist for their anchors.
func unusedKeys(doc *document) (warnings []string) {
	known := []string{keySecretsProvider, keyEncryptedKey, keyEncryptionSalt, keyConfig, keyEnvironment}
	root := doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		if slices.Contains(known, key.Value) || hasAnchor(root.Content[i+1]) {
			continue
		}
		advice := "settings belong below `config`"
		if near := similar.Name(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		warnings = append(warnings, fmt.Sprintf("%s:%d: `%s` is not used; %s", doc.path, key.Line, key.Value, advice))
	}
	return warnings
}

// hasAnchor reports whether other parts of a file can refer to a part of n.
func hasAnchor(n *yaml.Node) bool { return n.Anchor != "" || slices.ContainsFunc(n.Content, hasAnchor) }
