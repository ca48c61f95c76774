package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validate checks the configuration of each policy against its schema and returns the problems, ordered.
func validate(policies []described, config map[string]setting) []string {
	var problems []string
	for _, p := range policies {
		for _, problem := range p.problems(config[p.Name].Properties) {
			problems = append(problems, p.Name+": "+problem)
		}
	}
	slices.Sort(problems)
	return problems
}

// noFiles is a loader that refuses references to files or addresses: the schema of a policy must be complete.
type noFiles struct{}

func (noFiles) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and may refer to nothing outside of itself", url)
}

func (p described) problems(properties map[string]any) []string {
	if len(p.properties) == 0 && len(p.required) == 0 {
		return nil
	}
	schema := map[string]any{"type": "object"}
	if len(p.properties) > 0 {
		schema["properties"] = p.properties
	}
	if len(p.required) > 0 {
		required := make([]any, len(p.required))
		for i, name := range p.required {
			required[i] = name
		}
		schema["required"] = required
	}
	const name = "sluice:policy"
	c := jsonschema.NewCompiler()
	c.UseLoader(noFiles{})
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource(name, schema); err != nil {
		return []string{"the schema of its configuration cannot be read: " + err.Error()}
	}
	compiled, err := c.Compile(name)
	if err != nil {
		if wrapped, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
			err = wrapped.Err
		}
		return []string{"the schema of its configuration cannot be used: " + strings.Join(violations(err), "; ")}
	}
	return violations(compiled.Validate(properties))
}

// violations returns the problems in err, ordered. The validator visits maps, so its own text has another order each time.
func violations(err error) []string {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		if err != nil {
			return []string{err.Error()}
		}
		return nil
	}
	var out []string
	for _, unit := range invalid.BasicOutput().Errors {
		if unit.Error == nil {
			continue
		}
		at := strings.TrimPrefix(strings.ReplaceAll(unit.InstanceLocation, "/", "."), ".")
		if at != "" {
			at += ": "
		}
		out = append(out, fmt.Sprint(at, unit.Error.String()))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
