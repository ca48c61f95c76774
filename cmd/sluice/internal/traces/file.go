package traces

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"sync"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// file writes spans as JSON lines: each line is one request of OTLP in its JSON encoding, as collectors read it.
type file struct {
	mu sync.Mutex // guards f
	f  *os.File
}

// Start implements [otlptrace.Client].
func (*file) Start(context.Context) error { return nil }

// Stop closes the file.
func (c *file) Stop(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.f.Close()
}

// UploadTraces writes a line.
func (c *file) UploadTraces(_ context.Context, spans []*tracepb.ResourceSpans) error {
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	// The encoding of OTLP has the bytes of IDs in hexadecimal digits.
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := errors.Join(decoder.Decode(&tree), hexadecimal(tree)); err != nil {
		return err
	}
	if text, err = json.Marshal(tree); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.f.Write(append(text, '\n'))
	return err
}

// hexadecimal replaces the IDs in a tree.
func hexadecimal(tree any) error {
	var errs []error
	switch tree := tree.(type) {
	case []any:
		for _, v := range tree {
			errs = append(errs, hexadecimal(v))
		}
	case map[string]any:
		for key, v := range tree {
			text, isText := v.(string)
			switch key {
			case "traceId", "spanId", "parentSpanId":
				id, err := base64.StdEncoding.DecodeString(text)
				if !isText || err != nil {
					errs = append(errs, err)
					continue
				}
				tree[key] = hex.EncodeToString(id)
			default:
				errs = append(errs, hexadecimal(v))
			}
		}
	}
	return errors.Join(errs...)
}
