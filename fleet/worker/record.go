package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/fleet/run"
)

// tag is the tag of a stack with the inputs of its last update by a fleet.
const tag = "sluice:fleet"

// record has digests of the inputs of an update, and of the resulting state.
type record struct{ program, settings, inputs, state string }

func (r record) String() string {
	return fmt.Sprintf("program=%s settings=%s inputs=%s state=%s", r.program, r.settings, r.inputs, r.state)
}

// readRecord parses the text of a tag. For an invalid text it returns the zero record, which equals no other.
func readRecord(text string) record {
	var r record
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "program":
			r.program = value
		case "settings":
			r.settings = value
		case "inputs":
			r.inputs = value
		case "state":
			r.state = value
		}
	}
	return r
}

// since describes the changes since the update of r, "" if there are none.
func (r record) since(now record) string {
	if r.program == "" {
		return "the fleet had not updated it before"
	}
	var changed []string
	for _, c := range []struct{ what, was, is string }{
		{"the program", r.program, now.program}, {"the settings", r.settings, now.settings},
		{"the outputs that it reads", r.inputs, now.inputs}, {"what is recorded", r.state, now.state},
	} {
		if c.was != c.is || c.is == "" {
			changed = append(changed, c.what)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return strings.Join(changed, " and ") + " changed since its last update"
}

// recorder has the records of the updates by a fleet. That of a stack's last update is in a tag of the stack.
type recorder struct {
	sluice  *sluice
	root    string // the folder of the fleet
	version string // of sluice
}

// remembered returns the record in the tag of a stack.
func (r *recorder) remembered(ctx context.Context, s stack) (record, error) {
	text, err := r.sluice.run(ctx, s, "stack", "tag", "ls", "--json", "--stack", s.Stack.Stack)
	if err != nil {
		return record{}, readable(err)
	}
	tags := map[string]string{}
	if err := json.Unmarshal([]byte(text), &tags); err != nil {
		return record{}, fmt.Errorf("the tags of the stack: %w", err)
	}
	return readRecord(tags[tag]), nil
}

// remember writes the tag of a stack.
func (r *recorder) remember(ctx context.Context, s stack, is record) error {
	_, err := r.sluice.run(ctx, s, "stack", "tag", "set", "--stack", s.Stack.Stack, tag, is.String())
	return readable(err)
}

// now returns the record for an update. It lacks the digests of unknown inputs.
func (r *recorder) now(ctx context.Context, s stack, is recorded, asked run.StackRequest) (record, error) {
	program, err := programDigest(s.directory, r.root, r.version)
	if err != nil {
		return record{}, err
	}
	settings, err := r.settings(s)
	if err != nil {
		return record{}, err
	}
	return record{program: program, settings: settings, inputs: r.inputs(ctx, s, is, asked), state: is.fingerprint}, nil
}

// settings returns the digest of the settings file and of the settings in fleet.yaml.
func (r *recorder) settings(s stack) (string, error) {
	short := s.Stack.Stack[strings.LastIndexByte(s.Stack.Stack, '/')+1:]
	var parts [][]byte
	for _, end := range []string{".yaml", ".yml", ".json"} {
		text, err := os.ReadFile(filepath.Join(s.directory, "Pulumi."+short+end))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		parts = append(parts, text)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		parts = append(parts, []byte(key), []byte(s.Config[key]))
	}
	return digest(parts...), nil
}

// inputs returns the digest of the outputs that the stack reads, "" if one is unknown or a preview predicts its change.
func (r *recorder) inputs(ctx context.Context, s stack, is recorded, asked run.StackRequest) string {
	return run.InputsDigest(is.reads, func(reference string) string {
		if !asked.Planned[reference].IsEmpty() {
			return ""
		}
		if outputs := asked.Inputs[reference]; outputs != "" {
			return outputs
		}
		// The stack is not in the fleet.
		other, err := r.sluice.recorded(ctx, s, reference)
		if err != nil || other.missing {
			return ""
		}
		return other.outputs
	})
}

// same returns the digest of a stack's inputs at its last update, if nothing else has changed since.
func (r *recorder) same(ctx context.Context, s stack, is recorded) (inputs string, same bool) {
	if is.missing || is.pending > 0 {
		return "", false
	}
	was, err := r.remembered(ctx, s)
	if err != nil || was.program == "" || was.state != is.fingerprint {
		return "", false
	}
	program, err := programDigest(s.directory, r.root, r.version)
	if err != nil || was.program != program {
		return "", false
	}
	settings, err := r.settings(s)
	return was.inputs, err == nil && was.settings == settings
}
