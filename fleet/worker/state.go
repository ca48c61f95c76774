package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// recorded has the recorded properties of a stack that a fleet needs. Secrets in it are encrypted.
type recorded struct {
	missing     bool // the stack does not exist
	resources   int
	pending     int      // interrupted operations
	reads       []string // its references to the stacks that it reads
	outputs     string   // the digest of the outputs
	fingerprint string   // of the whole state
}

const (
	rootType      = "pulumi:pulumi:Stack"
	referenceType = "pulumi:pulumi:StackReference"
)

// parse reads a state. It holds one resource at a time.
func parse(text io.Reader) (recorded, error) {
	r := recorded{outputs: digest(nil)}
	all, pending := sha256.New(), sha256.New()
	dec := json.NewDecoder(text)
	err := members(dec, func(name string) error {
		if name != "deployment" {
			return skip(dec)
		}
		return members(dec, func(name string) error {
			switch name {
			case "resources":
				return elements(dec, func(raw json.RawMessage) {
					r.resources++
					all.Write(raw)
					r.take(raw)
				})
			case "pending_operations":
				return elements(dec, func(raw json.RawMessage) {
					r.pending++
					pending.Write(raw)
				})
			}
			return skip(dec)
		})
	})
	if err != nil {
		return recorded{}, fmt.Errorf("the state is not understood: %w", err)
	}
	if r.pending > 0 {
		all.Write(pending.Sum(nil))
	}
	r.fingerprint = hex.EncodeToString(all.Sum(nil)[:16])
	slices.Sort(r.reads)
	r.reads = slices.Compact(r.reads)
	return r, nil
}

// take extracts the needed properties of a resource.
func (r *recorded) take(raw json.RawMessage) {
	var res struct {
		Type    string             `json:"type"`
		ID      string             `json:"id"`
		Inputs  struct{ Name any } `json:"inputs"`
		Outputs json.RawMessage    `json:"outputs"`
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return // in inputs of other types, a name may have another form
	}
	switch res.Type {
	case rootType:
		r.outputs = digest(res.Outputs)
	case referenceType:
		name, isText := res.Inputs.Name.(string)
		if !isText {
			name = res.ID
		}
		r.reads = append(r.reads, name)
	}
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
