package service

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// Some answers of the service about a stack are compared with other answers, since a wrong one would cause a loss: after a wrong empty state
// everything would be created again, and a state that was not saved would be forgotten ([0185]).
//
// [0185]: docs/decisions/0185-answers-are-checked.md

// contradicts returns the error for an answer that contradicts another one. The formats have one argument each.
func (s subject) contradicts(before, answer string, x, y any) error {
	return &ContradictionError{s.ref, s.backend.host(), fmt.Sprintf(before, x), fmt.Sprintf(answer, y)}
}

// isEmpty reports whether a state has no resources.
func isEmpty(d api.Deployment) bool {
	var content struct {
		Resources []json.RawMessage `json:"resources"`
	}
	return isNothing(d.Deployment) || json.Unmarshal(d.Deployment, &content) == nil && len(content.Resources) == 0
}

// recentUpdates is the number of operations that are checked to find out whether a stack can be empty.
const recentUpdates = 20

// mayBeEmpty returns an error if the service returns an empty state, and other answers show that the stack has
// resources.
func (s subject) mayBeEmpty(ctx context.Context, d api.Deployment) error {
	now, err := s.describe(ctx)
	if err != nil {
		return err
	}
	if now.Version > 0 && d.IsNothing() {
		return s.contradicts("the stack has version %d", "that version has no state at all%s", now.Version, "")
	}
	if now.Version == 0 && now.ActiveUpdate == "" {
		return nil // nothing was ever done to it
	}
	recent, err := s.backend.client.History(ctx, s.id(), recentUpdates, 1)
	if err != nil {
		return err
	}
	for _, u := range recent {
		n := leftBy(u)
		switch {
		case u.Result == "succeeded" && n > 0:
			return s.contradicts("its last update that succeeded has left %d resources", "the state of version %d, which it has now, has none", n, now.Version)
		case u.Result == "succeeded", u.Kind != "update" && u.Kind != "refresh" && u.Kind != "preview":
			return nil // earlier resources may be gone
		}
	}
	return nil
}

// leftBy returns the minimum number of resources after an operation, as far as the service reports it.
func leftBy(u api.Info) int {
	n := u.ResourceCount
	if u.Kind != "update" && u.Kind != "resource-import" {
		return n
	}
	for _, op := range []string{"same", "create", "update", "replace", "import"} {
		n = max(n, u.ResourceChanges[op])
	}
	return n
}

// confirm returns an error unless the service has the state of a working copy, as the given version of the stack.
func (s subject) confirm(ctx context.Context, content []byte, version int) error {
	d, err := s.outgoing(ctx, content)
	if err != nil {
		return err
	}
	return s.saved(ctx, d, version)
}

// saved returns an error unless the service has saved a state that was sent to it. version is the version of the stack with that state, 0 for the
// latest one.
func (s subject) saved(ctx context.Context, d api.Deployment, version int) error {
	there, err := s.backend.client.Export(ctx, s.id(), version)
	if version > 0 && api.Is(err, http.StatusNotFound) {
		there, err = s.backend.client.Export(ctx, s.id(), 0) // a service without old versions
	}
	if err != nil {
		return err
	}
	given, err := digestsOf(d.Deployment)
	if err != nil {
		return err
	}
	kept, err := digestsOf(there.Deployment)
	if err != nil {
		return err
	}
	if !maps.Equal(given, kept) {
		return s.contradicts("it has taken a state with %d resources", "the state that it has now, with %d resources, is another one", given.count(), kept.count())
	}
	return nil
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
