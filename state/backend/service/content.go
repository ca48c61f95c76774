package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// checkpoint is the content of a stack file (state.md 1.2).
type checkpoint struct {
	Version  int      `json:"version"`
	Features []string `json:"features,omitempty"`
	Content  struct {
		Stack  string          `json:"stack"`
		Latest json.RawMessage `json:"latest,omitempty"`
	} `json:"checkpoint"`
}

// contentOf returns the content of the stack file of a working copy with this state. The same state gives the same bytes.
func contentOf(ref backend.Ref, d api.Deployment) ([]byte, error) {
	c := checkpoint{Version: max(d.Version, 3), Features: d.Features}
	c.Content.Stack = backend.Ref{Project: ref.Project, Name: ref.Name}.String()
	if !isNothing(d.Deployment) {
		c.Content.Latest = d.Deployment
	}
	return json.Marshal(c)
}

// deploymentOf returns the state in the content of a stack file as it is sent.
func deploymentOf(content []byte) (api.Deployment, error) {
	var c checkpoint
	if err := json.Unmarshal(content, &c); err != nil {
		return api.Deployment{}, fmt.Errorf("the working copy of the state: %w", err)
	}
	return api.Deployment{Version: c.Version, Features: c.Features, Deployment: c.Content.Latest}, nil
}

// hasPending reports whether the state in the content of a stack file has operations that were interrupted.
func hasPending(content []byte) bool {
	var c struct {
		Content struct {
			Latest struct {
				Pending []json.RawMessage `json:"pending_operations"`
			} `json:"latest"`
		} `json:"checkpoint"`
	}
	return json.Unmarshal(content, &c) == nil && len(c.Content.Latest.Pending) > 0
}

func isNothing(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// sameJSON reports whether two documents differ in nothing but spaces and the order of members.
func sameJSON(a, b []byte) (bool, error) {
	if bytes.Equal(a, b) {
		return true, nil
	}
	var values [2]any
	for i, text := range [][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&values[i]); err != nil {
			return false, err
		}
	}
	return reflect.DeepEqual(values[0], values[1]), nil
}

// secretsIn returns the ciphertexts in a state, each once, in their order.
func secretsIn(content []byte) []string {
	const member = `"ciphertext":`
	var all []string
	seen := map[string]bool{}
	for {
		at := bytes.Index(content, []byte(member))
		if at < 0 {
			return all
		}
		content = bytes.TrimLeft(content[at+len(member):], " \n\t\r")
		end := bytes.IndexByte(content[min(1, len(content)):], '"')
		if end < 0 || content[0] != '"' {
			continue
		}
		if text, err := strconv.Unquote(string(content[:end+2])); err == nil && !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
}
