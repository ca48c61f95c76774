package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice/state"
)

// format is the version of the journal's format. A journal of a later one is refused.
const format = 1

// Header is the first record of a journal.
type Header struct {
	Number    int       `json:"n"` // 0
	Format    int       `json:"format"`
	Stack     string    `json:"stack"`               // its fully qualified name
	Run       string    `json:"run"`                 // identifies the run
	Tool      string    `json:"tool"`                // that writes it, for example "sluice/0.1.0"
	Operation string    `json:"operation,omitempty"` // such as "destroy"; journals of older versions have none
	Start     time.Time `json:"start"`
	Base      Base      `json:"base"`
	Secrets   *secrets  `json:"secrets,omitempty"` // how the secrets in the records are encrypted
}

// Base is the checkpoint that a journal starts from.
type Base struct {
	Digest string `json:"sha256"` // see [state.Digest]
	// Numbered is true if the records refer to the entries of the base by their positions: its resources have the numbers from
	// 0, its pending operations those after them. If it is false, the first record replaces the base.
	Numbered  bool `json:"numbered,omitempty"`
	Resources int  `json:"resources,omitempty"`
	Pending   int  `json:"pending,omitempty"`
}

// secrets is a [state.SecretsProvider] in a record.
type secrets struct {
	Type  string          `json:"type"`
	State json.RawMessage `json:"state,omitempty"`
}

func (s *secrets) provider() *state.SecretsProvider {
	if s == nil {
		return nil
	}
	return &state.SecretsProvider{Type: s.Type, State: s.State}
}

// kind is the kind of a record.
type kind string

const (
	kindBegin      kind = "begin"  // [state.Recorder].Begin
	kindEnd        kind = "end"    // [state.Recorder].End
	kindRebase     kind = "rebase" // [state.Recorder].Rebase
	kindCheckpoint kind = "fold"   // a checkpoint with this digest is about to be written
)

// entry is one record after the header. Resources have numbers: first those of the base, then those that records introduce,
// in order.
type entry struct {
	Number int  `json:"n"`           // from 1, without gaps
	Group  int  `json:"g"`           // from 0, with the header: the records that were written and made durable at once
	First  int  `json:"f,omitempty"` // record of its group; the first versions of sluice did not write it
	Kind   kind `json:"k"`

	// New are the resources that no record has referred to before; the first has the number At.
	At  int               `json:"at,omitempty"`
	New []json.RawMessage `json:"new,omitempty"`

	// Of a begin: the type of the operation. Of an end: Add and the fields after it, as in [state.Change].
	Operation state.PendingType `json:"op,omitempty"`
	// Of is the resource of the operation that begins or ends; none if it is missing.
	Of        *int            `json:"of,omitempty"`
	Add       *int            `json:"add,omitempty"`
	Remove    []int           `json:"remove,omitempty"`
	Replace   [][2]int        `json:"replace,omitempty"`
	Refresh   bool            `json:"refresh,omitempty"`
	Extension json.RawMessage `json:"extension,omitempty"`
	// DropSnippets are UUIDs, as in [state.Change].
	DropSnippets []string `json:"dropSnippets,omitempty"`

	Base *rebase `json:"base,omitempty"` // of a rebase

	// Of a checkpoint: its digest, and the last record that the checkpoint contains.
	Digest  string `json:"sha256,omitempty"`
	Through int    `json:"through,omitempty"`
}

// rebase is a snapshot in a record, with the parts that a ledger uses of its base.
type rebase struct {
	Resources  []int                      `json:"resources,omitempty"`
	Pending    []int                      `json:"pending,omitempty"`
	Types      []state.PendingType        `json:"types,omitempty"` // of the pending operations
	Metadata   json.RawMessage            `json:"metadata,omitempty"`
	Snippets   []json.RawMessage          `json:"snippets,omitempty"`
	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
}

// maxPayload is the longest record that a frame can hold.
const maxPayload = 1<<32 - 1

// appendEntry appends the frame of e to b. The texts of resources are copied as they are: encoding them again would cost
// more than anything else here.
func appendEntry(b []byte, e *entry) ([]byte, error) {
	start := len(b)
	b = append(b, make([]byte, frameHeader)...)
	b = append(b, payloadStart...)
	b = strconv.AppendInt(b, int64(e.Number), 10)
	rest := *e
	rest.New = nil
	text, err := marshal(&rest)
	if err != nil {
		return nil, fmt.Errorf("record %d of the journal: %w", e.Number, err)
	}
	if len(e.New) > 0 {
		b = append(b, `,"new":[`...)
		for i, r := range e.New {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, r...)
		}
		b = append(b, ']')
	}
	b = append(b, text[len(payloadStart)+digits(e.Number):]...)
	if len(b)-start-frameHeader > maxPayload {
		return nil, fmt.Errorf("record %d of the journal is too long", e.Number)
	}
	sealFrame(b, start)
	return b, nil
}

// marshal is [json.Marshal], but keeps the bytes of texts that are copied into checkpoints.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func digits(n int) int { return len(strconv.Itoa(n)) }

func appendHeader(b []byte, h *Header) ([]byte, error) {
	text, err := marshal(h)
	if err != nil {
		return nil, fmt.Errorf("the header of the journal: %w", err)
	}
	start := len(b)
	b = append(append(b, make([]byte, frameHeader)...), text...)
	sealFrame(b, start)
	return b, nil
}
