package monitor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// unavailable is a [stages.Monitor] that hides values that are not available (see [property.Unavailable]) from programs. SDKs have no such
// values, and cannot handle an unknown one in an update. A program therefore gets a text in place of the value. When a request contains
// that text, unavailable puts the value back, and the engine refuses to use it, with the reason. Other values of the same object are not
// affected.
type unavailable struct {
	stages.Monitor

	mu    sync.Mutex // guards marks
	marks []mark
}

// mark is the text that stands for one value.
type mark struct {
	text  string
	forms []string // for the search in other texts: the text itself, and in base64
	why   string
}

func withUnavailable(m stages.Monitor) *unavailable { return &unavailable{Monitor: m} }

// Register implements [stages.Monitor].
func (u *unavailable) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	if u.hasMarks() {
		own := *req
		own.Inputs, own.ReplacementTrigger = u.restored(req.Inputs), u.restoredValue(req.ReplacementTrigger)
		req = &own
	}
	reply, err := u.Monitor.Register(ctx, req)
	return u.markedReply(reply), err
}

// Read implements [stages.Monitor].
func (u *unavailable) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	if u.hasMarks() {
		own := *req
		own.ID, own.Properties = u.restoredValue(req.ID), u.restored(req.Properties)
		req = &own
	}
	reply, err := u.Monitor.Read(ctx, req)
	return u.markedReply(reply), err
}

// RegisterOutputs implements [stages.Monitor].
func (u *unavailable) RegisterOutputs(ctx context.Context, of urn.URN, outputs property.Map) error {
	return u.Monitor.RegisterOutputs(ctx, of, u.restored(outputs))
}

// Invoke implements [stages.Monitor].
func (u *unavailable) Invoke(ctx context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	if u.hasMarks() {
		own := *req
		own.Args = u.restored(req.Args)
		req = &own
	}
	reply, err := u.Monitor.Invoke(ctx, req)
	if err != nil || !reply.Return.HasUnavailable() {
		return reply, err
	}
	marked := *reply
	marked.Return = u.marked(reply.Return)
	return &marked, nil
}

// Call implements [stages.Monitor].
func (u *unavailable) Call(ctx context.Context, req *stages.CallRequest) (*stages.CallReply, error) {
	if u.hasMarks() {
		own := *req
		own.Args = u.restored(req.Args)
		req = &own
	}
	return u.Monitor.Call(ctx, req)
}

func (u *unavailable) markedReply(reply *stages.RegisterReply) *stages.RegisterReply {
	if reply == nil || !reply.Outputs.HasUnavailable() {
		return reply
	}
	marked := *reply
	marked.Outputs = u.marked(reply.Outputs)
	return &marked
}

// marked returns properties for a program, with marks in place of values that are not available.
func (u *unavailable) marked(m property.Map) property.Map {
	return m.ReplaceUnavailable(func(_ property.Value, why string) property.Value {
		return property.Secret(property.String(u.markOf(why)))
	})
}

// markOf returns the mark of a value, which depends only on the reason.
func (u *unavailable) markOf(why string) string {
	sum := sha256.Sum256([]byte(why))
	text := "unavailable-" + hex.EncodeToString(sum[:16])
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.marks {
		if m.text == text {
			return text
		}
	}
	u.marks = append(u.marks, mark{text: text, forms: formsOf(text), why: why})
	return text
}

// formsOf returns a text and its forms in base64: there is one for each position of its first byte in a group of three.
func formsOf(text string) []string {
	forms := []string{text}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("xx"[:before] + text))
		begin := (before*8 + 5) / 6         // the first character that depends on the text alone
		end := (before + len(text)) * 8 / 6 // after the last such character
		forms = append(forms, encoded[begin:end])
	}
	return forms
}

func (u *unavailable) hasMarks() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.marks) > 0
}

// restored returns properties from a program, in which a text with a mark becomes a value that is not available.
func (u *unavailable) restored(m property.Map) property.Map {
	return u.restoredValue(property.Of(m)).AsMap()
}

func (u *unavailable) restoredValue(v property.Value) property.Value {
	u.mu.Lock()
	marks := u.marks
	u.mu.Unlock()
	if len(marks) == 0 {
		return v
	}
	return v.ReplaceTexts(func(text string) (property.Value, bool) {
		for _, m := range marks {
			for _, form := range m.forms {
				if strings.Contains(text, form) {
					return property.Unavailable(m.why), true
				}
			}
		}
		return property.Null, false
	})
}
