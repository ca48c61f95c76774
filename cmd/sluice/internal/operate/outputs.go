package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// plannedOutputs are changes of a stack's outputs that a preview predicts. Values are in the encoding of state files.
type plannedOutputs struct {
	Set     json.RawMessage `json:"set,omitempty"`
	Removed []string        `json:"removed,omitempty"`
}

// SaveOutputs writes the changes of outputs that a preview predicts to the file of --save-outputs.
func SaveOutputs(ctx context.Context, j *Job, r *sluice.Result) error {
	if j.Flags.Outputs.Save == "" {
		return nil
	}
	set, removed := changedOutputs(recordedOutputs(r), r.Outputs)
	file := plannedOutputs{Removed: removed}
	if set.Len() > 0 {
		text, err := property.EncodeState(ctx, set, property.StateOptions{Secrets: property.SecretsPlaintext}) // set contains no secrets
		if err != nil {
			return fmt.Errorf("write the outputs: %w", err)
		}
		file.Set = text
	}
	text, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("write the outputs: %w", err)
	}
	if err := private.Write(j.Flags.Outputs.Save, append(text, '\n')); err != nil {
		return fmt.Errorf("write the outputs: %w", err)
	}
	return nil
}

// recordedOutputs returns the outputs of the stack before a preview.
func recordedOutputs(r *sluice.Result) property.Map {
	for _, s := range r.Steps() {
		if s.URN.Type() == urn.RootStackType && s.Old != nil {
			return s.Old.Outputs
		}
	}
	return property.Map{}
}

// changedOutputs returns the differences. A value with a secret in it becomes an unknown secret.
func changedOutputs(before, after property.Map) (set property.Map, removed []string) {
	changed := map[string]property.Value{}
	for name, v := range after.All() {
		if was, had := before.Get(name); had && property.Equal(was, v) && !v.HasUnknowns() {
			continue
		}
		if v.HasSecrets() {
			v = property.Secret(property.Computed())
		}
		changed[name] = v
	}
	for name := range before.All() {
		if _, has := after.Get(name); !has {
			removed = append(removed, name)
		}
	}
	return property.NewMap(changed), removed
}

// readOutputs reads the file of --stack-outputs, and returns the predicted changes by the names of stacks.
func readOutputs(ctx context.Context, path string) (map[string]change, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("--stack-outputs: %w", err))
	}
	files := map[string]plannedOutputs{}
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, exit.Usagef("--stack-outputs: %s does not map names of stacks to documents of --save-outputs: %v", path, err)
	}
	out := map[string]change{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		set, err := property.DecodeState(ctx, files[name].Set, property.StateDecodeOptions{})
		if err != nil {
			return nil, exit.Usagef("--stack-outputs: %s: the outputs of %s: %v", path, name, err)
		}
		out[name] = change{set, files[name].Removed}
	}
	return out, nil
}

// change is a predicted change of the outputs of a stack.
type change struct {
	set     property.Map
	removed []string
}

// after applies the change to outputs.
func (c change) after(now property.Map) property.Map {
	now = now.Without(c.removed...)
	for name, v := range c.set.All() {
		now = now.With(name, v)
	}
	return now
}

// predicted returns a function that reads the outputs of other stacks, with their predicted changes. A stack that does not exist
// yet has only predicted outputs.
func predicted(changes map[string]change, read func(context.Context, string) (property.Map, error)) func(context.Context, string) (property.Map, error) {
	if len(changes) == 0 {
		return read
	}
	return func(ctx context.Context, name string) (property.Map, error) {
		c, is := changes[name]
		outputs, err := read(ctx, name)
		var missing *backend.NotFoundError
		switch {
		case !is:
			return outputs, err
		case errors.As(err, &missing):
			return c.after(property.Map{}), nil
		case err != nil:
			return outputs, err
		}
		return c.after(outputs), nil
	}
}
