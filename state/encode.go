package state

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/property"
)

// The schema versions of deployments that are written (state.md 1.2).
const (
	versionPlain    = 3
	versionFeatures = 4
)

// EncoderOptions define how an [Encoder] writes secrets.
type EncoderOptions struct {
	Encrypter property.Encrypter // needed when there is a secret without a ciphertext made by Crypter
	// Crypter is the identity of the secrets provider, see [SecretsProvider.Identity]. Secrets that were read under the
	// same identity keep their ciphertexts (state.md 5.6).
	Crypter string
	// Plaintext writes secrets in the clear, for exports with --show-secrets.
	Plaintext bool
	// Masked writes "[secret]" in place of each secret, for people.
	Masked bool
}

// Encoder writes snapshots in the file format of [state.md 1]. It caches the encoding of each resource it has
// written, by pointer, until a snapshot no longer has the resource: writing a snapshot again costs a copy of the
// unchanged parts. It may be used from many goroutines; one at a time writes.
//
// [state.md 1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#1-checkpoints
type Encoder struct {
	options EncoderOptions

	mu    sync.Mutex // guards known
	known map[*Resource]encoded
}

type encoded struct {
	text     []byte
	features featureSet
}

// NewEncoder makes an encoder.
func NewEncoder(o EncoderOptions) *Encoder {
	return &Encoder{options: o, known: map[*Resource]encoded{}}
}

// Resource returns the encoding of one resource, as it is in a checkpoint but with its aliases. With keep set it is
// cached until the next snapshot is written. The result must not be changed.
func (e *Encoder) Resource(ctx context.Context, r *Resource, keep bool) ([]byte, error) {
	e.mu.Lock()
	known, ok := e.known[r]
	e.mu.Unlock()
	if ok {
		return known.text, nil
	}
	text, err := e.resource(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("encode resource %s: %w", r.URN, err)
	}
	if keep {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.known[r] = encoded{text, featuresOf(r, holdsBytesEncoded(r, text))}
	}
	return text, nil
}

// Checkpoint returns the content of a stack file: compact JSON, version 3, or 4 with the features in use
// ([state.md 1.1], [state.md 1.2], [state.md 1.17]). stack is the fully qualified name. A nil snapshot writes a stack that was never deployed.
// Any integrity error recorded in the metadata is left out: only a snapshot that passes [Verify] may be written.
//
// [state.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#11-envelope
// [state.md 1.17]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#117-bytes
// [state.md 1.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#12-version
func (e *Encoder) Checkpoint(ctx context.Context, stack string, s *Snapshot) ([]byte, error) {
	if s == nil {
		s = &Snapshot{}
		b := append([]byte(`{"version":3,"checkpoint":{"stack":`), appendString(nil, stack)...)
		return append(b, "}}"...), nil
	}
	parts, features, err := e.parts(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("encode the checkpoint of stack %s: %w", stack, err)
	}
	b := features.appendHeader(make([]byte, 0, parts.size()+len(stack)+4096))
	b = append(b, `,"checkpoint":{"stack":`...)
	b = appendString(b, stack)
	b = append(b, `,"latest":`...)
	b = parts.appendDeployment(b, s)
	return append(b, "}}"...), nil
}

// Deployment returns the content of an export: the deployment in its envelope, indented by 4 spaces and ending in a
// newline ([state.md 1.1], [state.md 7.6]).
//
// [state.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#11-envelope
// [state.md 7.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#76-stack-export-stack-import
func (e *Encoder) Deployment(ctx context.Context, s *Snapshot) ([]byte, error) {
	parts, features, err := e.parts(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("encode the deployment: %w", err)
	}
	b := features.appendHeader(nil)
	b = append(b, `,"deployment":`...)
	b = parts.appendDeployment(b, s)
	return indent(append(b, '}'))
}

func indent(compact []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "    "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func appendHeader(b []byte, version int, features []string) []byte {
	b = append(b, fmt.Sprintf(`{"version":%d`, version)...)
	if version >= versionFeatures && len(features) > 0 {
		b = append(b, `,"features":`...)
		b = appendList(b, features)
	}
	return b
}

// parts are the encoded resources of a snapshot, those of the pending operations after the others.
type parts struct{ resources, pending []encoded }

func (p parts) size() int {
	n := 0
	for _, es := range [...][]encoded{p.resources, p.pending} {
		for _, e := range es {
			n += len(e.text) + len(`{"resource":,"type":"importing"},`)
		}
	}
	return n
}

// parts encodes the resources that are not cached, and keeps exactly those of this snapshot in the cache.
func (e *Encoder) parts(ctx context.Context, s *Snapshot) (parts, featureSet, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := make(map[*Resource]encoded, len(s.Resources)+len(s.Pending))
	var set featureSet
	encode := func(r *Resource) (encoded, error) {
		known, ok := e.known[r]
		if !ok {
			known, ok = now[r]
		}
		if !ok {
			text, err := e.resource(ctx, r)
			if err != nil {
				return encoded{}, fmt.Errorf("resource %s: %w", r.URN, err)
			}
			known = encoded{text, featuresOf(r, holdsBytesEncoded(r, text))}
		}
		now[r] = known
		set |= known.features
		return known, nil
	}
	p := parts{resources: make([]encoded, len(s.Resources)), pending: make([]encoded, len(s.Pending))}
	var err error
	for i, r := range s.Resources {
		if p.resources[i], err = encode(r); err != nil {
			return parts{}, 0, err
		}
	}
	for i, op := range s.Pending {
		if p.pending[i], err = encode(op.Resource); err != nil {
			return parts{}, 0, fmt.Errorf("pending operation: %w", err)
		}
	}
	e.known = now
	return p, set.with(s), nil
}

// resource returns the encoding of r with its fields in the order of state.md 1.6.
func (e *Encoder) resource(ctx context.Context, r *Resource) ([]byte, error) {
	w := newFields(ctx, e.options)
	w.name("urn")
	w.b = appendString(w.b, string(r.URN))
	w.always("custom", r.Custom)
	w.flag("delete", r.Delete)
	w.text("id", r.ID)
	w.name("type")
	w.b = appendString(w.b, string(r.Type))
	w.properties("inputs", r.Inputs)
	w.properties("outputs", r.Outputs)
	w.text("parent", string(r.Parent))
	w.flag("protect", r.Protect)
	w.flag("taint", r.Taint)
	w.flag("external", r.External)
	list(&w, "dependencies", r.Dependencies)
	list(&w, "initErrors", r.InitErrors)
	w.text("provider", r.Provider)
	lists(&w, "propertyDependencies", r.PropertyDependencies)
	w.flag("pendingReplacement", r.PendingReplacement)
	list(&w, "additionalSecretOutputs", r.AdditionalSecretOutputs)
	list(&w, "aliases", r.Aliases)
	w.timeouts(r.CustomTimeouts.Value())
	w.text("importID", r.ImportID)
	w.flag("retainOnDelete", r.RetainOnDelete)
	w.text("deletedWith", string(r.DeletedWith))
	list(&w, "replaceWith", r.ReplaceWith)
	w.time("created", r.Created)
	w.time("modified", r.Modified)
	w.text("sourcePosition", r.SourcePosition)
	w.stackTrace(r.StackTrace)
	list(&w, "ignoreChanges", r.IgnoreChanges)
	list(&w, "hideDiff", r.HideDiff)
	list(&w, "replaceOnChanges", r.ReplaceOnChanges)
	w.value("replacementTrigger", r.ReplacementTrigger)
	w.flag("refreshBeforeUpdate", r.RefreshBeforeUpdate)
	w.text("viewOf", string(r.ViewOf))
	lists(&w, "resourceHooks", r.ResourceHooks)
	w.text("extensionRef", r.ExtensionRef)
	w.text("snippetID", r.SnippetID)
	return append(w.b, '}'), w.err
}

// appendDeployment writes the fields of state.md 1.4 in their order.
func (p parts) appendDeployment(b []byte, s *Snapshot) []byte {
	b = append(b, `{"manifest":`...)
	b = appendManifest(b, s.Manifest)
	if s.SecretsProvider != nil {
		b = append(b, `,"secrets_providers":{"type":`...)
		b = appendString(b, s.SecretsProvider.Type)
		if len(s.SecretsProvider.State) > 0 {
			b = append(b, `,"state":`...)
			b = append(b, s.SecretsProvider.State...)
		}
		b = append(b, '}')
	}
	if len(p.resources) > 0 {
		b = append(b, `,"resources":`...)
		for i, r := range p.resources {
			b = append(b, separator(i))
			b = append(b, r.text...)
		}
		b = append(b, ']')
	}
	if len(p.pending) > 0 {
		b = append(b, `,"pending_operations":`...)
		for i, r := range p.pending {
			b = append(b, separator(i))
			b = append(b, `{"resource":`...)
			b = append(b, r.text...)
			b = append(b, `,"type":`...)
			b = appendString(b, string(s.Pending[i].Type))
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	b = append(b, `,"metadata":`...)
	b = append(b, cleanMetadata(s.Metadata)...)
	if len(s.Snippets) > 0 {
		b = append(b, `,"snippets":`...)
		for i, raw := range s.Snippets {
			b = append(b, separator(i))
			b = append(b, raw...)
		}
		b = append(b, ']')
	}
	if len(s.Extensions) > 0 {
		b = append(b, `,"extensions":{`...)
		for i, ref := range slices.Sorted(maps.Keys(s.Extensions)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, ref)
			b = append(b, ':')
			b = append(b, s.Extensions[ref]...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// separator opens an array before its first element.
func separator(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

func appendManifest(b []byte, m Manifest) []byte {
	b = append(b, `{"time":`...)
	b = appendTime(b, m.Time)
	b = append(b, `,"magic":`...)
	b = appendString(b, m.Magic)
	b = append(b, `,"version":`...)
	b = appendString(b, m.Version)
	if len(m.Plugins) > 0 {
		b = append(b, `,"plugins":`...)
		for i, p := range m.Plugins {
			b = append(b, separator(i))
			b = append(b, `{"name":`...)
			b = appendString(b, p.Name)
			b = append(b, `,"path":`...)
			b = appendString(b, p.Path)
			b = append(b, `,"type":`...)
			b = appendString(b, p.Type)
			b = append(b, `,"version":`...)
			b = appendString(b, p.Version)
			b = append(b, '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// cleanMetadata removes a recorded integrity error (state.md 1.9) and keeps everything else.
func cleanMetadata(raw json.RawMessage) []byte {
	if !bytes.Contains(raw, []byte(`"integrity_error"`)) {
		if len(raw) == 0 {
			return []byte("{}")
		}
		return raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return []byte("{}")
	}
	delete(fields, "integrity_error")
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = append(b, fields[name]...)
	}
	return append(b, '}')
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

// appendString writes a JSON string with the escapes of state.md 1.17. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
