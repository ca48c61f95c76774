package state

import (
	"encoding/json"
	"slices"

	"github.com/sluice-iac/sluice/urn"
)

// Snippet is a part of a program that a state keeps ([state.md 1.10]). The resources that it has made have its UUID.
//
// [state.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#110-snippets-and-extensions
type Snippet struct {
	UUID string   `json:"uuid"`
	Name string   `json:"name"`
	Type urn.Type `json:"type"`
	// Code declares the properties of the resource. It may have secrets in the clear.
	Code       string             `json:"code"`
	References map[string]urn.URN `json:"references"`
}

// ReadSnippets returns the snippets of a state, in its order. Of one that cannot be read it returns what can be.
func ReadSnippets(s *Snapshot) []Snippet {
	if s == nil {
		return nil
	}
	list := make([]Snippet, len(s.Snippets))
	for i, raw := range s.Snippets {
		_ = json.Unmarshal(raw, &list[i]) // only the UUID is sure to be a text (rule I-11)
	}
	return list
}

// WithoutSnippets returns the list without the snippets with these UUIDs.
func WithoutSnippets(list []json.RawMessage, uuids []string) []json.RawMessage {
	if len(uuids) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(raw json.RawMessage) bool {
		var s struct {
			UUID string `json:"uuid"`
		}
		return json.Unmarshal(raw, &s) == nil && slices.Contains(uuids, s.UUID)
	})
}
