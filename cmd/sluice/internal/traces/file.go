package traces

import (
	"context"
	"encoding/base64"
	"encoding/hex"
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
	for _, resource := range spans {
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				s.TraceId, s.SpanId, s.ParentSpanId = shownInHex(s.GetTraceId()), shownInHex(s.GetSpanId()), shownInHex(s.GetParentSpanId())
				for _, l := range s.GetLinks() {
					l.TraceId, l.SpanId = shownInHex(l.GetTraceId()), shownInHex(l.GetSpanId())
				}
			}
		}
	}
	text, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.f.Write(append(text, '\n'))
	return err
}

// shownInHex corrects an ID for OTLP, which requires hexadecimal digits. The JSON encoding of protocol buffers has decoded those digits as
// base64. They are a part of that alphabet, and IDs have 8 or 16 bytes, so encoding the bytes as base64 again needs no padding.
func shownInHex(id []byte) []byte {
	shown, err := base64.StdEncoding.DecodeString(hex.EncodeToString(id))
	if err != nil {
		return id // it is not an ID
	}
	return shown
}
