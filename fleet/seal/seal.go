package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"

	"github.com/gofrs/flock"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/crypto/chacha20poly1305"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// encoding is the encoding of sealed payloads, and keyField the field with the name of their key. The version in the encoding is that of the
// additional data to which payloads are bound.
const (
	encoding = "binary/sluice-sealed-2"
	former   = "binary/sluice-sealed"
	keyField = "sluice-key"
)

// Key is a key of 32 bytes.
type Key []byte

// Variable has the key in Base64, and FileVariable the path of a file with it.
const (
	Variable     = "SLUICE_FLEET_KEY"
	FileVariable = "SLUICE_FLEET_KEY_FILE"
)

// ReadKey returns the key from the environment, from its encrypted form wrapped, which may be nil, or from the file. If make is true, it creates a
// missing file.
func ReadKey(ctx context.Context, lookup func(string) (string, bool), wrapped *Wrapped, file string, make bool) (Key, error) {
	if text, set := lookup(Variable); set && text != "" {
		return parse(Variable, text)
	}
	if path, set := lookup(FileVariable); set && path != "" {
		file, make = path, false
	} else if wrapped != nil {
		return wrapped.open(ctx, lookup)
	}
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		return parse(file, string(text))
	case errors.Is(err, fs.ErrNotExist) && make:
		return makeKey(file)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no key for the server's data: set %s or %s to the key that the other machines have; "+
			"`sluice fleet key` makes one, and `sluice fleet key --secrets-provider` one for fleet.yaml", Variable, FileVariable)
	}
	return nil, fmt.Errorf("the key of the fleet: %w", err)
}

// makeKey creates a file with a new key, or reads the one that another process has created in the meantime.
func makeKey(file string) (Key, error) {
	mine := flock.New(file + ".lock")
	if err := mine.Lock(); err != nil {
		return nil, fmt.Errorf("the key of the fleet: %w", err)
	}
	defer func() { _ = mine.Unlock() }() // the system releases it when the process ends
	if text, err := os.ReadFile(file); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return nil, fmt.Errorf("the key of the fleet: %w", err)
		}
		return parse(file, string(text))
	}
	// A reader without the lock gets the complete file, or none.
	key := NewKey()
	if err := files.ReplacePrivate(file, files.Content([]byte(key.String()+"\n"))); err != nil {
		return nil, fmt.Errorf("the key of the fleet: %w", err)
	}
	return key, nil
}

// NewKey makes a key.
func NewKey() Key {
	key := make([]byte, chacha20poly1305.KeySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// String returns the key in Base64.
func (k Key) String() string { return base64.StdEncoding.EncodeToString(k) }

func parse(where, text string) (Key, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != chacha20poly1305.KeySize {
		return nil, fmt.Errorf("%s does not have 32 bytes in Base64; `sluice fleet key` makes such a key", where)
	}
	return key, nil
}

// Converters returns the converters of data and of failures for the key.
func Converters(key Key) (converter.DataConverter, converter.FailureConverter, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, nil, fmt.Errorf("the key of the fleet: %w", err)
	}
	sum := sha256.Sum256(append([]byte("sluice-fleet-key:"), key...))
	d := data{aead: aead, name: []byte(hex.EncodeToString(sum[:6])), plain: converter.GetDefaultDataConverter()}
	return d, failuresOf(d), nil
}

// data seals payloads. Each is bound to its place and to the type of its value, and cannot be opened in another place or as another type. It is safe
// for concurrent use.
type data struct {
	aead  cipher.AEAD
	name  []byte // of the key: a part of its digest
	plain converter.DataConverter
	place string // the workflow or activity of the data
	kind  string // of all values; "" stands for their types
}

// scheduled matches the suffix that a server adds to the ID of a workflow that a schedule begins.
var scheduled = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// WithSerializationContext implements [converter.DataConverterWithSerializationContext].
func (d data) WithSerializationContext(where converter.SerializationContext) converter.DataConverter {
	switch w := where.(type) {
	case converter.WorkflowSerializationContext:
		d.place = joined("workflow", w.Namespace, scheduled.ReplaceAllString(w.WorkflowID, ""))
	case converter.ActivitySerializationContext:
		d.place = joined("activity", w.Namespace, w.WorkflowID, w.ActivityType)
	}
	return d
}

// joined joins parts so that different parts give different texts.
func joined(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d:%s", len(p), p)
	}
	return b.String()
}

// bound returns the additional data to which a payload with a value is bound.
func (d data) bound(value any) []byte {
	kind := d.kind
	if kind == "" {
		if t := reflect.TypeOf(value); t != nil {
			kind = strings.TrimLeft(t.String(), "*")
		}
	}
	return []byte(joined(string(d.name), d.place, kind))
}

// ToPayload implements [converter.DataConverter].
func (d data) ToPayload(value any) (*commonpb.Payload, error) {
	p, err := d.plain.ToPayload(value)
	if err != nil {
		return nil, err
	}
	text, err := proto.Marshal(p)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, d.aead.NonceSize(), d.aead.NonceSize()+len(text)+d.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), keyField: d.name},
		Data:     d.aead.Seal(nonce, nonce, text, d.bound(value)),
	}, nil
}

// FromPayload implements [converter.DataConverter].
func (d data) FromPayload(p *commonpb.Payload, to any) error {
	if e := string(p.GetMetadata()[converter.MetadataEncoding]); e != encoding {
		if e == former {
			return errors.New("a payload was sealed by an earlier version, which did not bind it to its run: cancel the run, and give the command again")
		}
		return errors.New("a payload is not sealed: somebody without the key of the fleet has written it")
	}
	if name := p.GetMetadata()[keyField]; string(name) != string(d.name) {
		return fmt.Errorf("a payload is sealed with the key %q, and this one is %q: all machines need the same key", name, d.name)
	}
	size := d.aead.NonceSize()
	if len(p.GetData()) < size {
		return errors.New("a payload is damaged")
	}
	text, err := d.aead.Open(nil, p.GetData()[:size], p.GetData()[size:], d.bound(to))
	if err != nil {
		return errors.New("a payload is damaged, was sealed for something else, or was not sealed with the key of the fleet")
	}
	is := &commonpb.Payload{}
	if err := proto.Unmarshal(text, is); err != nil {
		return fmt.Errorf("a payload is damaged: %w", err)
	}
	return d.plain.FromPayload(is, to)
}

// ToPayloads implements [converter.DataConverter].
func (d data) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	if len(values) == 0 {
		return nil, nil
	}
	out := &commonpb.Payloads{}
	for i, v := range values {
		p, err := d.ToPayload(v)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		out.Payloads = append(out.Payloads, p)
	}
	return out, nil
}

// FromPayloads implements [converter.DataConverter].
func (d data) FromPayloads(payloads *commonpb.Payloads, to ...any) error {
	for i, p := range payloads.GetPayloads() {
		if i >= len(to) {
			return nil
		}
		if err := d.FromPayload(p, to[i]); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

// ToString implements [converter.DataConverter]. It does not show sealed data.
func (d data) ToString(*commonpb.Payload) string { return "sealed" }

// ToStrings implements [converter.DataConverter].
func (d data) ToStrings(payloads *commonpb.Payloads) []string {
	out := make([]string, len(payloads.GetPayloads()))
	for i, p := range payloads.GetPayloads() {
		out[i] = d.ToString(p)
	}
	return out
}

// failures seals the messages and details of failures. Their details are of any type, so all have one kind.
type failures struct {
	data data
	is   converter.FailureConverter
}

func failuresOf(d data) failures {
	d.kind = "failure"
	return failures{d, temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: d, EncodeCommonAttributes: true})}
}

// WithSerializationContext implements [converter.FailureConverterWithSerializationContext].
func (f failures) WithSerializationContext(where converter.SerializationContext) converter.FailureConverter {
	return failuresOf(f.data.WithSerializationContext(where).(data))
}

// ErrorToFailure implements [converter.FailureConverter].
func (f failures) ErrorToFailure(err error) *failurepb.Failure { return f.is.ErrorToFailure(err) }

// FailureToError implements [converter.FailureConverter].
func (f failures) FailureToError(failure *failurepb.Failure) error {
	return f.is.FailureToError(failure)
}
