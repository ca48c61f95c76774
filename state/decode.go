package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/sourcegraph/conc/iter"

	"github.com/sluice-iac/sluice/internal/text/jsonscan"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// DecodeOptions define how a checkpoint or an export is read.
type DecodeOptions struct {
	// Name is the file's name, for error messages.
	Name string
	// Decrypter returns the decrypter for a deployment with this secrets provider, which is nil if it names none. A nil
	// function, or a nil result, leaves secrets sealed: they can be written back, but not read (see
	// [property.Value.IsSealed]).
	Decrypter func(ctx context.Context, p *SecretsProvider) (property.Decrypter, error)
}

// ErrTruncated is wrapped by the error for text that ends in the middle of a value.
var ErrTruncated = jsonscan.ErrTruncated

// ErrVersion is wrapped by the errors for versions of the file format that cannot be read.
var ErrVersion = errors.New("unsupported checkpoint version")

// ErrTooOld is the [ErrVersion] of exports that are older than version numbers.
var ErrTooOld = fmt.Errorf("%w 0", ErrVersion)

// DecodeError reports which part of a state file cannot be read.
type DecodeError struct {
	Name  string  // of the file
	Field string  // for example "resources[3]"; "" for the file as a whole
	URN   urn.URN // of the resource, if it is known
	Err   error
}

func (e *DecodeError) Error() string {
	where := e.Name
	if e.Field != "" {
		where += ": " + e.Field
	}
	if e.URN != "" {
		where += fmt.Sprintf(" (%s)", e.URN)
	}
	return fmt.Sprintf("%s: %v", where, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }

// Checkpoint is the content of a stack file.
type Checkpoint struct {
	Version int
	Stack   string    // as the file names it; not to be relied on (state.md 1.1)
	Latest  *Snapshot // nil for a stack that was never deployed
}

// DecodeCheckpoint reads a stack file of any version from 0 to 4 ([state.md 1.1] to 1.16). Errors are a [*DecodeError];
// a file that needs unknown features is refused before anything else in it is read, with an
// [*UnsupportedFeaturesError]. It does not check integrity: see [Verify].
//
// [state.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#11-envelope
func DecodeCheckpoint(ctx context.Context, data []byte, o DecodeOptions) (*Checkpoint, error) {
	env, err := readCheckpoint(data)
	if err != nil {
		return nil, &DecodeError{Name: o.Name, Err: err}
	}
	c := &Checkpoint{Version: env.version, Stack: env.stack}
	if env.latest == nil {
		return c, nil
	}
	if c.Latest, err = decodeDeployment(ctx, env, o); err != nil {
		return c, err
	}
	c.Latest.origin = &origin{Digest(data), c.Latest.Resources, c.Latest.Pending}
	return c, nil
}

// DecodeExport reads what `stack export` prints: versions 1 to 4 ([state.md 1.16], [state.md 7.6]). Plaintext secrets are allowed.
//
// [state.md 1.16]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#116-old-versions
// [state.md 7.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#76-stack-export-stack-import
func DecodeExport(ctx context.Context, data []byte, o DecodeOptions) (*Snapshot, error) {
	env, err := readEnvelope(data)
	switch {
	case errors.Is(err, ErrVersion):
	case err == nil && !env.versioned:
		err = fmt.Errorf("%w: the version must be from 1 to %d", ErrTooOld, versionFeatures)
	case err == nil && env.latest == nil:
		err = errors.New(`there is no "deployment" in it; it must be the output of a stack export`)
	}
	if err != nil {
		return nil, &DecodeError{Name: o.Name, Err: err}
	}
	return decodeDeployment(ctx, env, o)
}

// envelope is the part of a file around a deployment. latest is the deployment's text.
type envelope struct {
	version   int
	versioned bool // there is a version above 0
	features  []string
	stack     string
	content   bool // there is a member "stack" or "latest"
	latest    json.RawMessage
}

// readCheckpoint reads the envelope of a checkpoint. An object without any of its members, such as the message of an error, is not an empty
// stack: every checkpoint has the name of its stack, or a deployment.
func readCheckpoint(data []byte) (*envelope, error) {
	env, err := readEnvelope(data)
	if err == nil && !env.content {
		err = errors.New(`it is not the state of a stack: it has no "checkpoint" with a "stack" or a "latest"`)
	}
	return env, err
}

// readEnvelope reads the envelope of a checkpoint, of an export, or a bare checkpoint of version 0.
func readEnvelope(data []byte) (*envelope, error) {
	c := jsonscan.New(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if c.Next() == 0 {
		return nil, fmt.Errorf("the file is empty: %w", ErrTruncated)
	}
	env := &envelope{}
	var member func(name string) error
	member = func(name string) (err error) {
		switch name {
		case "version":
			err = c.Decode(&env.version)
			env.versioned = env.version > 0
		case "features":
			err = c.Decode(&env.features)
		case "checkpoint":
			return c.Object(member)
		case "stack":
			env.content = true
			err = c.Decode(&env.stack)
		case "latest", "deployment":
			if env.content = true; !c.Null() {
				env.latest, err = c.Cut()
			}
		default:
			err = c.Skip()
		}
		return within(err, name)
	}
	if err := c.Members(member); err != nil {
		return nil, err
	}
	if err := c.End(); err != nil {
		return nil, err
	}
	if env.version == 0 && env.latest != nil {
		env.version = 1 // a bare checkpoint, from before there were envelopes
	}
	if env.version < 0 || env.version > versionFeatures {
		return nil, fmt.Errorf("%w %d: this sluice reads versions up to %d; use a newer one", ErrVersion, env.version, versionFeatures)
	}
	if env.version >= versionFeatures {
		return env, checkFeatures(env.features)
	}
	return env, nil
}

// within puts the name of a field in front of an error.
func within(err error, field string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

// deployment is a deployment whose resources are cut out but not read.
type deployment struct {
	snapshot  *Snapshot
	resources []json.RawMessage
	pending   []rawOperation
}

type rawOperation struct {
	Resource json.RawMessage `json:"resource"`
	Type     PendingType     `json:"type"`
}

func readDeployment(data []byte) (*deployment, error) {
	c := jsonscan.New(data)
	d := &deployment{snapshot: &Snapshot{}}
	err := c.Object(func(name string) error { return within(d.member(c, name), name) })
	if err == nil {
		err = c.End()
	}
	return d, err
}

func (d *deployment) member(c *jsonscan.Scanner, name string) (err error) {
	s := d.snapshot
	switch name {
	case "manifest":
		s.Manifest, err = readManifest(c)
	case "secrets_providers":
		s.SecretsProvider, err = readSecretsProvider(c)
	case "resources":
		d.resources, err = readRaws(c, (*jsonscan.Scanner).Cut)
	case "pending_operations":
		err = c.Decode(&d.pending)
	case "metadata":
		s.Metadata, err = compactOptional(c)
	case "snippets":
		s.Snippets, err = readRaws(c, compact)
	case "extensions":
		err = c.Object(func(ref string) error {
			if s.Extensions == nil {
				s.Extensions = map[string]json.RawMessage{}
			}
			raw, err := compact(c)
			s.Extensions[ref] = raw
			return within(err, ref)
		})
	default:
		err = c.Skip()
	}
	return err
}

// root finds the live root stack resource, usually the first one.
func (d *deployment) root() json.RawMessage {
	for _, raw := range d.resources {
		c := jsonscan.New(raw)
		var typ urn.Type
		var old bool
		err := c.Object(func(name string) error {
			switch name {
			case "type":
				return c.Decode(&typ)
			case "delete":
				return c.Decode(&old)
			}
			_, err := c.Cut()
			return err
		})
		if err == nil && typ == urn.RootStackType && !old {
			return raw
		}
	}
	return nil
}

func readRaws(c *jsonscan.Scanner, one func(*jsonscan.Scanner) (json.RawMessage, error)) ([]json.RawMessage, error) {
	var raws []json.RawMessage
	err := c.Array(func(i int) error {
		raw, err := one(c)
		raws = append(raws, raw)
		return within(err, fmt.Sprintf("element %d", i))
	})
	return raws, err
}

// compact consumes a value and returns a copy of its text without white space.
func compact(c *jsonscan.Scanner) (json.RawMessage, error) {
	raw, err := c.Cut()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// compactOptional is compact, but returns nil for null.
func compactOptional(c *jsonscan.Scanner) (json.RawMessage, error) {
	if c.Null() {
		return nil, nil
	}
	return compact(c)
}

func readManifest(c *jsonscan.Scanner) (Manifest, error) {
	var m struct {
		Time           time.Time
		Magic, Version string
		Plugins        []ManifestPlugin
	}
	err := c.Decode(&m)
	return Manifest(m), err
}

func readSecretsProvider(c *jsonscan.Scanner) (*SecretsProvider, error) {
	var p *SecretsProvider
	err := c.Object(func(name string) (err error) {
		if p == nil {
			p = &SecretsProvider{}
		}
		switch name {
		case "type":
			err = c.Decode(&p.Type)
		case "state":
			p.State, err = compactOptional(c)
		default:
			err = c.Skip()
		}
		return within(err, name)
	})
	return p, err
}

func decodeDeployment(ctx context.Context, env *envelope, o DecodeOptions) (*Snapshot, error) {
	d, err := readDeployment(env.latest)
	if err != nil {
		return nil, &DecodeError{Name: o.Name, Err: err}
	}
	read, err := newResourceReader(ctx, env.version, d.snapshot.SecretsProvider, o)
	if err != nil {
		return nil, err
	}
	pending := make([]json.RawMessage, len(d.pending))
	for i, op := range d.pending {
		pending[i] = op.Resource
	}
	if d.snapshot.Resources, err = read.all(ctx, "resources", d.resources); err != nil {
		return nil, err
	}
	ops, err := read.all(ctx, "pending_operations", pending)
	if err != nil {
		return nil, err
	}
	for i, r := range ops {
		d.snapshot.Pending = append(d.snapshot.Pending, Pending{Type: d.pending[i].Type, Resource: r})
	}
	return d.snapshot, nil
}

// ResourceDecoder reads resources that an [Encoder] has written one by one. It may be used from many goroutines.
type ResourceDecoder struct{ read resourceReader }

// NewResourceDecoder makes a decoder for resources whose secrets belong to p.
func NewResourceDecoder(ctx context.Context, p *SecretsProvider, o DecodeOptions) (*ResourceDecoder, error) {
	read, err := newResourceReader(ctx, versionFeatures, p, o)
	if err != nil {
		return nil, err
	}
	return &ResourceDecoder{read}, nil
}

// Decode reads a text that [Encoder.Resource] has returned.
func (d *ResourceDecoder) Decode(ctx context.Context, text []byte) (*Resource, error) {
	r, err := d.read.one(ctx, text)
	if err != nil {
		e := &DecodeError{Name: d.read.name, Field: "resource", Err: err}
		if r != nil {
			e.URN = r.URN
		}
		return nil, e
	}
	return r, nil
}

// resourceReader decodes resources, several at once. Of several errors the first one by position is returned.
type resourceReader struct {
	version int
	name    string
	crypt   property.StateDecodeOptions
	fields  recordFields
}

func newResourceReader(ctx context.Context, version int, p *SecretsProvider, o DecodeOptions) (resourceReader, error) {
	d := resourceReader{version: version, name: o.Name, fields: newRecordFields(), crypt: property.StateDecodeOptions{Crypter: p.Identity()}}
	if o.Decrypter == nil {
		return d, nil
	}
	var err error
	if d.crypt.Decrypter, err = o.Decrypter(ctx, p); err != nil {
		return d, &DecodeError{Name: o.Name, Field: "secrets_providers", Err: err}
	}
	return d, nil
}

func (d resourceReader) all(ctx context.Context, field string, raws []json.RawMessage) ([]*Resource, error) {
	if len(raws) == 0 {
		return nil, nil
	}
	type result struct {
		resource *Resource
		err      error
	}
	results := iter.Mapper[json.RawMessage, result]{MaxGoroutines: runtime.GOMAXPROCS(0)}.Map(raws,
		func(raw *json.RawMessage) result {
			if err := ctx.Err(); err != nil {
				return result{err: err}
			}
			r, err := d.one(ctx, *raw)
			return result{r, err}
		})
	rs := make([]*Resource, len(results))
	for i, res := range results {
		if res.err != nil {
			e := &DecodeError{Name: d.name, Field: fmt.Sprintf("%s[%d]", field, i), Err: res.err}
			if res.resource != nil {
				e.URN = res.resource.URN
			}
			return nil, e
		}
		rs[i] = res.resource
	}
	return rs, nil
}

// one decodes a resource. With an error it returns the part of the resource that it could read, perhaps nil.
func (d resourceReader) one(ctx context.Context, raw json.RawMessage) (*Resource, error) {
	rec, err := d.fields.read(raw)
	if err != nil {
		if rec == nil {
			return nil, err
		}
		return &Resource{URN: rec.URN}, err
	}
	if rec == nil {
		return nil, errors.New("null instead of a resource")
	}
	r := rec.resource()
	if err := checkRecord(r); err != nil {
		return r, err
	}
	if err := d.properties(ctx, rec, r); err != nil {
		return r, err
	}
	if d.version < versionPlain {
		r.upgrade()
	}
	return r, nil
}

// checkRecord makes the checks of state.md 1.6 that belong to decoding.
func checkRecord(r *Resource) error {
	switch {
	case r.URN == "":
		return errors.New("resource without a urn; restore an older state, or remove the entry from an export and import that")
	case r.Type == "":
		return errors.New("resource without a type; restore an older state, or remove the entry from an export and import that")
	case !r.Custom && r.ID != "":
		return fmt.Errorf("a component (custom is false) must not have an ID, this one has %q", r.ID)
	}
	return nil
}

func (d resourceReader) properties(ctx context.Context, rec *record, r *Resource) (err error) {
	if r.Inputs, err = d.object(ctx, rec.Inputs); err != nil {
		return within(err, "inputs")
	}
	if r.Outputs, err = d.object(ctx, rec.Outputs); err != nil {
		return within(err, "outputs")
	}
	if rec.ReplacementTrigger == nil {
		return nil
	}
	r.ReplacementTrigger, err = property.DecodeStateValue(ctx, rec.ReplacementTrigger, d.crypt)
	return within(err, "replacementTrigger")
}

func (d resourceReader) object(ctx context.Context, raw json.RawMessage) (property.Map, error) {
	if raw == nil {
		return property.Map{}, nil
	}
	v, err := property.DecodeStateValue(ctx, raw, d.crypt)
	if err == nil && !v.IsMap() && !v.IsNull() {
		err = errors.New("a property map must be an object")
	}
	return v.AsMap(), err
}
