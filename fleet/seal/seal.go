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
	"strings"

	"github.com/gofrs/flock"
	"golang.org/x/crypto/chacha20poly1305"
	"google.golang.org/protobuf/proto"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/internal/private"
)

// encoding is the encoding of sealed payloads, and keyField the field with the name of their key.
const (
	encoding = "binary/sluice-sealed"
	keyField = "sluice-key"
)

// Key is a key of 32 bytes.
type Key []byte

// Variable has the key in Base64, and FileVariable the path of a file with it.
const (
	Variable     = "SLUICE_FLEET_KEY"
	FileVariable = "SLUICE_FLEET_KEY_FILE"
)

// ReadKey returns the key from the environment, from what encrypts it, which may be nil, or from the file. If make is true, a file that is missing is made.
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
		return nil, fmt.Errorf("there is no key for what the server keeps: set %s or %s to the key that the other machines have; "+
			"`sluice fleet key` makes one, and `sluice fleet key --secrets-provider` one for fleet.yaml", Variable, FileVariable)
	}
	return nil, fmt.Errorf("the key of the fleet: %w", err)
}

// makeKey makes a file with a key, or reads the one that somebody else has made meanwhile.
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
	// Who reads the file without the lock sees the whole of it, or none.
	key, next := NewKey(), file+".new"
	if err := private.Write(next, []byte(key.String()+"\n")); err != nil {
		return nil, fmt.Errorf("the key of the fleet: %w", err)
	}
	return key, os.Rename(next, file)
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
	c, err := newCodec(key)
	if err != nil {
		return nil, nil, err
	}
	data := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c)
	failures := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: true})
	return data, failures, nil
}

// codec seals payloads. It is safe for many goroutines.
type codec struct {
	aead cipher.AEAD
	name []byte // of the key: a part of its digest
}

func newCodec(key Key) (*codec, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("the key of the fleet: %w", err)
	}
	sum := sha256.Sum256(append([]byte("sluice-fleet-key:"), key...))
	return &codec{aead, []byte(hex.EncodeToString(sum[:6]))}, nil
}

// Encode implements [converter.PayloadCodec].
func (c *codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		text, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, c.aead.NonceSize())
		_, _ = rand.Read(nonce) // never fails
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), keyField: c.name},
			Data:     c.aead.Seal(nonce, nonce, text, c.name),
		}
	}
	return out, nil
}

// Decode implements [converter.PayloadCodec].
func (c *codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encoding {
			return nil, errors.New("a payload is not sealed: somebody without the key of the fleet has written it")
		}
		size := c.aead.NonceSize()
		if name := p.GetMetadata()[keyField]; string(name) != string(c.name) {
			return nil, fmt.Errorf("a payload is sealed with the key %q, and this one is %q: all machines need the same key", name, c.name)
		}
		if len(p.GetData()) < size {
			return nil, errors.New("a payload is damaged")
		}
		text, err := c.aead.Open(nil, p.GetData()[:size], p.GetData()[size:], c.name)
		if err != nil {
			return nil, errors.New("a payload is damaged, or was not sealed with the key of the fleet")
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(text, out[i]); err != nil {
			return nil, fmt.Errorf("a payload is damaged: %w", err)
		}
	}
	return out, nil
}
