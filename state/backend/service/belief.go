package service

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// Some answers of the service about a stack are compared with other answers, since a wrong one would cause a loss: after a wrong empty state
// everything would be created again, and a state that was not saved would be forgotten ([0185]).
//
// [0185]: docs/decisions/0185-answers-are-checked.md

// isEmpty reports whether a state has no resources.
func isEmpty(d api.Deployment) bool {
	var content struct {
		Resources []json.RawMessage `json:"resources"`
	}
	return isNothing(d.Deployment) || json.Unmarshal(d.Deployment, &content) == nil && len(content.Resources) == 0
}

// digests are those of the resources of a state, with the number of each. The order, references, times and ciphertexts do not count: they differ at a
// service that replays a journal.
type digests map[[sha256.Size]byte]int

func (d digests) count() int {
	n := 0
	for _, times := range d {
		n += times
	}
	return n
}

func digestsOf(deployment []byte) (digests, error) {
	all := digests{}
	if isNothing(deployment) {
		return all, nil
	}
	var d struct {
		Resources []savedResource `json:"resources"`
	}
	if err := json.Unmarshal(deployment, &d); err != nil {
		return nil, fmt.Errorf("the state at the service: %w", err)
	}
	for _, r := range d.Resources {
		r.Inputs, r.Outputs = withoutCiphertexts(r.Inputs), withoutCiphertexts(r.Outputs)
		text, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		all[sha256.Sum256(text)]++
	}
	return all, nil
}

// savedResource is the part of a resource that a service must save, whatever else it does with the resource.
type savedResource struct {
	URN                string         `json:"urn"`
	ID                 string         `json:"id"`
	Delete             bool           `json:"delete"`
	PendingReplacement bool           `json:"pendingReplacement"`
	External           bool           `json:"external"`
	Protect            bool           `json:"protect"`
	RetainOnDelete     bool           `json:"retainOnDelete"`
	Inputs             map[string]any `json:"inputs,omitempty"`
	Outputs            map[string]any `json:"outputs,omitempty"`
}

func withoutCiphertexts(object map[string]any) map[string]any {
	for key, v := range object {
		object[key] = withoutCiphertext(v)
	}
	return object
}

func withoutCiphertext(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, signed := v[property.SignatureKey]; signed {
			delete(v, "ciphertext")
		}
		return withoutCiphertexts(v)
	case []any:
		for i, e := range v {
			v[i] = withoutCiphertext(e)
		}
	}
	return v
}
