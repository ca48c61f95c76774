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
	edits       []edit        // of settings, since the file was read or saved
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

// edit is a change of settings that can be made again on another content. It reports whether there was something to remove.
type edit func(*settings) (removed bool, err error)

// edit makes a change, and keeps it for [StackFile.Save].
func (f *StackFile) edit(e edit) (removed bool, err error) {
	if removed, err = e(f.settings); err == nil {
		f.edits = append(f.edits, e)
	}
	return removed, err
}

// Set sets the value of a setting. If typed is set, this write keeps the type of a scalar (state.md 6.4).
func (f *StackFile) Set(k Key, v Value, typed bool) error {
	_, err := f.edit(func(s *settings) (bool, error) { return false, s.set(k, v, typed) })
	return err
}

// Put is like Set, but the value may contain ciphertexts.
func (f *StackFile) Put(k Key, v Value) error {
	_, err := f.edit(func(s *settings) (bool, error) { return false, s.put(k, v) })
	return err
}

// SetPath sets the value at a path inside a setting. The name of k is the text of the path (state.md 6.6). It makes
// missing lists and mappings on the way.
func (f *StackFile) SetPath(k Key, v Value) error {
	_, err := f.edit(func(s *settings) (bool, error) { return false, s.setPath(k, v) })
	return err
}

// Remove deletes a setting, and reports whether it existed.
func (f *StackFile) Remove(k Key) (bool, error) {
	return f.edit(func(s *settings) (bool, error) { return s.remove(k) })
}

// RemovePath deletes the value at a path, and reports whether it existed.
func (f *StackFile) RemovePath(k Key) (bool, error) {
	return f.edit(func(s *settings) (bool, error) { return s.removePath(k) })
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
		f.doc.changed, f.doc.whole = true, true
	}
}

// Save writes the settings if they have changed. After a crash the file has either the old content or the new one. Save does not write settings
// without a file. If another command or an editor has changed the file since it was read, the edits of settings are made on what is there now. Save
// refuses to write if that is impossible, because something else was edited or because the secrets are encrypted in another way now.
func (f *StackFile) Save() error {
	if !f.doc.changed || f.Path == "" {
		return nil
	}
	if f.kept {
		return fmt.Errorf("the settings of the stack are kept in %s, and cannot be changed from here; change them there", f.Path)
	}
	// The project's directory for settings may not exist yet.
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return fmt.Errorf("make the directory of the stack's configuration: %w", err)
	}
	return files.Alone(filepath.Dir(f.Path), f.write)
}

// write is Save while no other command saves a file of the folder.
func (f *StackFile) write() error {
	if now, err := os.ReadFile(f.Path); err == nil && !bytes.Equal(now, f.read) {
		if err := f.editAnew(now); err != nil {
			return fmt.Errorf("%s was changed by something else after this command had read it, so nothing was written; run the command again: %w", f.Path, err)
		}
	}
	data, err := f.doc.bytes()
	if err != nil {
		return err
	}
	if _, err := parseStackFile(f.Path, f.project, data, true); err != nil {
		return fmt.Errorf("the edited configuration cannot be read back, so nothing was written: %w", err)
	}
	if err := files.Replace(f.Path, private.File, files.Content(data)); err != nil {
		return fmt.Errorf("write the stack's configuration: %w", err)
	}
	f.doc.changed, f.doc.whole, f.exists, f.read, f.edits = false, false, true, data, nil
	return nil
}

// editAnew makes the edits on another content of the file.
func (f *StackFile) editAnew(content []byte) error {
	now, err := parseStackFile(f.Path, f.project, content, true)
	switch {
	case err != nil:
		return err
	case f.doc.whole:
		return errors.New("more than settings is to be changed")
	case now.SecretsProvider() != f.SecretsProvider(), now.EncryptedKey() != f.EncryptedKey(), now.EncryptionSalt() != f.EncryptionSalt():
		return errors.New("its secrets are encrypted in another way now")
	}
	for _, e := range f.edits {
		if _, err := now.edit(e); err != nil {
			return err
		}
	}
	f.doc, f.settings, f.Environments = now.doc, now.settings, now.Environments
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
	f.doc.whole = true
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
	f.doc.whole = true
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
