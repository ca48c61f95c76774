package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/fleet/spec"
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
	noStack       = 6 // the exit status of sluice
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

// statusOf returns the exit status of a process, 0 if it has none.
func statusOf(err error) int {
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode()
	}
	return 0
}

// readable returns the error of a process with its error output.
func readable(err error) error {
	var ended *exec.ExitError
	if errors.As(err, &ended) && len(ended.Stderr) > 0 {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(string(ended.Stderr)), "error: "))
	}
	return err
}

// projectOf returns the name of the project in a folder.
func projectOf(directory string) (string, error) {
	text, err := os.ReadFile(spec.ProjectFile(directory))
	if err != nil {
		return "", err
	}
	var project struct{ Name string }
	if err := yaml.Unmarshal(text, &project); err != nil {
		return "", fmt.Errorf("%s: %w", spec.ProjectFile(directory), err)
	}
	return project.Name, nil
}
