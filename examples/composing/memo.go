package composing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Memo is a table of answers to Check and Diff, for operations on one stack. An operation that asks what is in the table does not call the provider.
// It is safe for concurrent use.
type Memo struct {
	mu    sync.Mutex
	table map[string]json.RawMessage // the answers of earlier operations, by the digests of their questions
	used  map[string]json.RawMessage // those that this operation has had; the others are not kept
}

// NewMemo reads the text that Encode has returned after an earlier operation. An empty text is an empty table.
func NewMemo(text []byte) (*Memo, error) {
	m := &Memo{table: map[string]json.RawMessage{}, used: map[string]json.RawMessage{}}
	if len(text) == 0 {
		return m, nil
	}
	if err := json.Unmarshal(text, &m.table); err != nil {
		return nil, fmt.Errorf("the table of answers cannot be read: %w; remove it, and the providers are asked again", err)
	}
	return m, nil
}

// Encode returns the table for the next operation. It has no secrets, and nothing that this operation has not asked.
func (m *Memo) Encode() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.Marshal(m.used)
}

// Host returns a host whose providers answer from the table. identify returns a text that changes with the plugin, such as the digest of its file.
func (m *Memo) Host(next providers.Host, identify func(providers.Spec) string) providers.Host {
	return providers.HostFunc(func(ctx context.Context, s providers.Spec) (providers.Provider, error) {
		p, err := next.Load(ctx, s)
		if err != nil {
			return nil, err
		}
		return &remembering{Provider: p, memo: m, question: question{Plugin: identify(s)}}, nil
	})
}

// question has everything that an answer depends on.
type question struct {
	Plugin, Config, Method    string
	URN                       urn.URN
	Olds, News, Outputs       string
	IgnoreChanges             []string
	Autonaming                *providers.Autonaming
	AllowUnknowns             bool
	inputs, outputs, recorded property.Map
}

// digest returns the key of a question; ok is false if its answer must not be kept: it could contain a secret, or depends on what is unknown.
func (q question) digest(ctx context.Context) (key string, ok bool) {
	for at, m := range map[*string]property.Map{&q.News: q.inputs, &q.Olds: q.recorded, &q.Outputs: q.outputs} {
		if m.HasSecrets() || m.HasUnknowns() {
			return "", false
		}
		text, err := property.EncodeState(ctx, m, property.StateOptions{})
		if err != nil {
			return "", false
		}
		*at = string(text)
	}
	text, err := json.Marshal(q)
	if err != nil || q.Config == "" {
		return "", false
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), true
}

// remembering is a provider that answers from a table.
type remembering struct {
	providers.Provider
	memo     *Memo
	question question // what all of its questions have in common
}

// Configure takes the configuration into all questions. Without one that can be written down, nothing is remembered.
func (p *remembering) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	if !req.Inputs.HasSecrets() && !req.Inputs.HasUnknowns() {
		if text, err := property.EncodeState(ctx, req.Inputs, property.StateOptions{}); err == nil {
			p.question.Config = string(text)
		}
	}
	return p.Provider.Configure(ctx, req)
}

// Check remembers only checks of recorded resources: the answer for a new one depends on the random seed, which is another in each operation.
func (p *remembering) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	if req.Olds.Len() == 0 {
		return p.Provider.Check(ctx, req)
	}
	q := p.question
	q.Method, q.URN, q.Autonaming, q.AllowUnknowns = "Check", req.URN, req.Autonaming, req.AllowUnknowns
	q.inputs, q.recorded, q.outputs = req.News, req.Olds, req.OldOutputs
	return remember(ctx, p.memo, q, codec[providers.CheckResponse]{encodeCheck, decodeCheck}, func() (providers.CheckResponse, error) {
		return p.Provider.Check(ctx, req)
	})
}

// Diff remembers each comparison.
func (p *remembering) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	q := p.question
	q.Method, q.URN, q.IgnoreChanges, q.AllowUnknowns = "Diff "+req.ID, req.URN, req.IgnoreChanges, req.AllowUnknowns
	q.inputs, q.recorded, q.outputs = req.NewInputs, req.OldInputs, req.OldOutputs
	return remember(ctx, p.memo, q, codec[providers.DiffResponse]{encodeDiff, decodeDiff}, func() (providers.DiffResponse, error) {
		return p.Provider.Diff(ctx, req)
	})
}

// codec writes answers into the table, and reads them.
type codec[R any] struct {
	encode func(ctx context.Context, r R) (json.RawMessage, bool)
	decode func(ctx context.Context, text json.RawMessage) (R, error)
}

// encodeCheck encodes the accepted inputs. An answer with failures is not kept: the user corrects what caused them.
func encodeCheck(ctx context.Context, r providers.CheckResponse) (json.RawMessage, bool) {
	if len(r.Failures) > 0 || r.AutonamingUnsupported || r.Inputs.HasSecrets() || r.Inputs.HasUnknowns() {
		return nil, false
	}
	text, err := property.EncodeState(ctx, r.Inputs, property.StateOptions{})
	return text, err == nil
}

func decodeCheck(ctx context.Context, text json.RawMessage) (r providers.CheckResponse, err error) {
	r.Inputs, err = property.DecodeState(ctx, text, property.StateDecodeOptions{})
	return r, err
}

func encodeDiff(_ context.Context, r providers.DiffResponse) (json.RawMessage, bool) {
	text, err := json.Marshal(r)
	return text, err == nil
}

func decodeDiff(_ context.Context, text json.RawMessage) (r providers.DiffResponse, err error) {
	err = json.Unmarshal(text, &r)
	return r, err
}

// remember returns the answer of the table, or asks and keeps the answer. Errors are not kept.
func remember[R any](ctx context.Context, m *Memo, q question, c codec[R], ask func() (R, error)) (R, error) {
	key, ok := q.digest(ctx)
	if !ok {
		return ask()
	}
	m.mu.Lock()
	text, known := m.used[key]
	if !known {
		text, known = m.table[key]
	}
	m.mu.Unlock()
	if known {
		if r, err := c.decode(ctx, text); err == nil { // otherwise the table is damaged, and the answer is written anew
			m.keep(key, text)
			return r, nil
		}
	}
	r, err := ask()
	if err != nil {
		return r, err
	}
	if text, ok := c.encode(ctx, r); ok {
		m.keep(key, text)
	}
	return r, nil
}

func (m *Memo) keep(key string, text json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[key] = text
}
