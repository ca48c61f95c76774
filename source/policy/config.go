package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/source/policy/internal/jsonschema"
	"github.com/sluice-iac/sluice/stages"
)

// allPolicies stands for every policy in a configuration. environments is the key of the list of environments of Pulumi's service.
const (
	allPolicies  = "all"
	environments = "environments"
	levelKey     = "enforcementLevel"
)

// setting is the configuration of one policy. Level is nil if the configuration does not set it.
type setting struct {
	Level      *stages.EnforcementLevel
	Properties map[string]any
}

// readConfig reads the configuration of a pack: a JSON object by the names of policies (protocol.md 7.3).
func readConfig(path string) (config map[string]setting, environments []string, err error) {
	if path == "" {
		return nil, nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read the configuration of the policy pack: %w", err)
	}
	if config, environments, err = parseConfig(text); err != nil {
		return nil, nil, fmt.Errorf("the configuration of the policy pack in %s: %w", path, err)
	}
	return config, environments, nil
}

func parseConfig(text []byte) (config map[string]setting, names []string, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, nil
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, fmt.Errorf("it must be a JSON object with the names of policies: %w", err)
	}
	if given, there := file[environments]; there {
		list, isList := given.([]any)
		for _, one := range list {
			name, isText := one.(string)
			isList = isList && isText
			names = append(names, name)
		}
		if !isList {
			return nil, nil, fmt.Errorf("%q must be a list of the names of environments", environments)
		}
	}
	config, err = settingsOf(file)
	return config, names, err
}

// requiredConfig reads the configuration of a required pack.
func requiredConfig(given map[string]json.RawMessage) (map[string]setting, error) {
	policies := map[string]any{}
	for name, text := range given {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("policy %q: %w", name, err)
		}
		if v != nil {
			policies[name] = v
		}
	}
	return settingsOf(policies)
}

func settingsOf(file map[string]any) (map[string]setting, error) {
	config := map[string]setting{}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if name == environments {
			continue
		}
		s, err := parseSetting(file[name])
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", name, err)
		}
		config[name] = s
	}
	return config, nil
}

// parseSetting reads a level, or an object with properties, one of which may be the level.
func parseSetting(v any) (setting, error) {
	switch v := v.(type) {
	case string:
		level, err := parseLevel(v)
		return setting{Level: level}, err
	case map[string]any:
		s := setting{Properties: maps.Clone(v)}
		given, ok := v[levelKey]
		if !ok {
			return s, nil
		}
		delete(s.Properties, levelKey)
		text, isText := given.(string)
		if !isText {
			return setting{}, fmt.Errorf("%v is not an enforcement level; %s", given, levelsHint)
		}
		var err error
		s.Level, err = parseLevel(text)
		return s, err
	}
	return setting{}, fmt.Errorf("%v is neither an enforcement level nor an object with properties", v)
}

const levelsHint = "write advisory, mandatory, remediate or disabled"

func parseLevel(text string) (*stages.EnforcementLevel, error) {
	level, ok := stages.ParseEnforcementLevel(text)
	if !ok {
		return nil, fmt.Errorf("%q is not an enforcement level; %s", text, levelsHint)
	}
	return &level, nil
}

// described is a pack's description of a policy, with the schema of its configuration.
type described struct {
	stages.PolicyInfo
	properties map[string]any // JSON schemas by name
	required   []string
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
	checked, faults := jsonschema.New(schema)
	if checked == nil {
		return []string{"the schema of its configuration cannot be used: " + strings.Join(faults, "; ")}
	}
	return checked.Faults(properties)
}

// reconcile overrides the defaults with the configuration of the pack, and then with that of the user (protocol.md 7.3). The result has all
// policies of the pack; other names are ignored.
func reconcile(policies []described, initial, user map[string]setting) map[string]setting {
	out := map[string]setting{}
	for _, p := range policies {
		level := p.Level
		s := setting{Level: &level, Properties: map[string]any{}}
		for name, schema := range p.properties {
			if object, ok := schema.(map[string]any); ok {
				if v, ok := object["default"]; ok {
					s.Properties[name] = v
				}
			}
		}
		for _, layer := range []map[string]setting{initial, user} {
			if all := layer[allPolicies].Level; all != nil {
				s.Level = all
			}
			if given, ok := layer[p.Name]; ok {
				if given.Level != nil {
					s.Level = given.Level
				}
				maps.Copy(s.Properties, given.Properties)
			}
		}
		out[p.Name] = s
	}
	return out
}

// ConfigError reports that the configuration of a pack is invalid for its policies.
type ConfigError struct {
	Pack, Version string
	Problems      []string // "<policy>: <problem>", ordered
}

func (e *ConfigError) Error() string { return strings.Join(e.Messages(), "\n") }

// Messages returns the problems, one message each.
func (e *ConfigError) Messages() []string {
	out := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		out[i] = fmt.Sprintf("validating policy config: %s %s  %s", e.Pack, e.Version, p)
	}
	return out
}

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
