package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/fleet/run"
)

// planFile returns the path of the plan of a previewed update.
func (a *attempt) planFile() string { return filepath.Join(a.files, "plan.json") }

// look previews an operation. The plan in the outcome is a digest of the preview and of all its inputs: the program, the settings, the outputs that
// the stack reads, and the recorded state.
func (a *attempt) look(ctx context.Context, r run.StackRequest, is recorded, now record) (run.Outcome, error) {
	if r.Operation != run.Up {
		// The operation depends on the whole recorded state.
		o := run.Outcome{Status: run.Succeeded, Outputs: is.outputs, Plan: digest([]byte(r.Operation), []byte(is.fingerprint))}
		if r.Operation == run.Destroy {
			o.Changes = map[string]int{"delete": is.resources}
		}
		return o, nil
	}
	e, err := a.perform(ctx, slices.Concat([]string{string(run.Preview), "--stack", r.Stack.Stack, "--save-plan", a.planFile()}, ofStack(r))...)
	if err != nil {
		return run.Outcome{}, err
	}
	o := outcomeOf(e, r.Operation)
	if o.Status != run.Succeeded {
		return o, nil
	}
	if now.settings, err = a.settings(a.stack); err != nil { // a preview may write them
		return o, err
	}
	file, err := os.Open(a.planFile())
	if err != nil {
		return o, err
	}
	defer func() { _ = file.Close() }() // it is only read
	steps, err := planDigest(json.NewDecoder(file), a.namesThings())
	if err != nil {
		return o, fmt.Errorf("the plan is not understood: %w", err)
	}
	o.Plan = digest([]byte(r.Operation), []byte(now.String()), []byte(steps))
	return o, nil
}

// planned has the compared parts of a planned resource.
type planned struct {
	Goal *struct {
		Protect    bool
		Parent     string
		Provider   string
		ID         string
		InputDiff  difference
		OutputDiff difference
	}
	Steps []string
}

type difference struct {
	Adds, Updates map[string]any
	Deletes       []string
}

// planDigest returns a digest of the effect of a plan. It is equal for two plans with the same effect: it leaves out times, seeds and ciphertexts,
// which differ, and names that sluice generates for new resources.
func planDigest(dec *json.Decoder, custom bool) (string, error) {
	sums := map[string]string{}
	err := members(dec, func(name string) error {
		if name != "resourcePlans" {
			return skip(dec)
		}
		return members(dec, func(urn string) error {
			var p planned
			if err := dec.Decode(&p); err != nil {
				return err
			}
			if p.Goal != nil {
				isNew := slices.ContainsFunc(p.Steps, func(op string) bool { return strings.HasPrefix(op, "create") })
				for _, part := range []map[string]any{p.Goal.InputDiff.Adds, p.Goal.InputDiff.Updates} {
					for key, value := range part {
						part[key] = compared(value, isNew, urn[strings.LastIndex(urn, "::")+1:], custom)
					}
				}
				p.Goal.OutputDiff = difference{} // it is a prediction
			}
			text, err := json.Marshal(p) // keys of maps are sorted
			sums[urn] = digest(text)
			return err
		})
	})
	var all bytes.Buffer
	for _, urn := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&all, "%q %s\n", urn, sums[urn])
	}
	return digest(all.Bytes()), err
}

// ending matches the suffix that sluice adds to the name of a resource.
var ending = regexp.MustCompile(`^[-_.]?[0-9a-zA-Z]{4,}$`)

// compared returns the compared part of a top-level input.
func compared(value any, isNew bool, resource string, custom bool) any {
	if text, is := value.(string); is && isNew {
		rest, begins := strings.CutPrefix(text, strings.TrimPrefix(resource, ":"))
		if custom || begins && ending.MatchString(rest) {
			return "a name"
		}
	}
	return withoutSecrets(value)
}

// withoutSecrets replaces encrypted values. Changes of them show in the settings and the state from which they come.
func withoutSecrets(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v[secretSignature] == secretMark {
			return "a secret"
		}
		for key, member := range v {
			v[key] = withoutSecrets(member)
		}
	case []any:
		for i, element := range v {
			v[i] = withoutSecrets(element)
		}
	}
	return value
}

// The marks of a secret in a plan.
const (
	secretSignature = "4dabf18193072939515e22adb298388d"
	secretMark      = "1b47061264138c4ac30d75fd1eb44270"
)

// namesThings reports whether the project or the stack configures the names of new resources. Any text may then be a generated name.
func (a *attempt) namesThings() bool {
	files, _ := filepath.Glob(filepath.Join(a.stack.directory, "Pulumi*")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && bytes.Contains(text, []byte("autonaming")) {
			return true
		}
	}
	return false
}
