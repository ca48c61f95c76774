package templates

import (
	"errors"
	"maps"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// section is the part of a project file that describes the template.
type section struct {
	Description string    `yaml:"description"`
	Config      yaml.Node `yaml:"config"`
}

// settingText is a setting in a project file: only its default, or a mapping.
type settingText struct {
	Description string  `yaml:"description"`
	Default     *string `yaml:"default"`
	Secret      bool    `yaml:"secret"`
}

// personalize sets the name, the description and the runtime options in a project file, and removes the section "template". Without a
// name or options it leaves those as they are. Everything else stays unchanged, comments and empty lines included. It refuses a file in
// which entries are not whole lines.
func personalize(text string, p Project) (string, error) {
	wanted, err := entries(text)
	if err != nil {
		return "", err
	}
	edits := []edit{{key: "template"}, {key: "description"}}
	if p.Description != "" {
		edits[1].value = p.Description
	}
	if p.Name != "" {
		edits = append(edits, edit{"name", p.Name})
	}
	if len(p.RuntimeOptions) > 0 {
		runtime, err := withOptions(wanted["runtime"], p.RuntimeOptions)
		if err != nil {
			return "", err
		}
		edits = append(edits, edit{"runtime", runtime})
	}
	for _, e := range edits {
		if text, err = replaceEntry(text, e); err != nil {
			return "", err
		}
		if wanted[e.key] = e.value; e.value == nil {
			delete(wanted, e.key)
		}
	}
	if after, err := entries(text); err != nil || !reflect.DeepEqual(wanted, after) {
		return "", errors.New("the name cannot be set in this project file; begin each entry at the beginning of a line of its own")
	}
	return text, nil
}

// edit is a new value of a top-level entry. The value nil removes it.
type edit struct {
	key   string
	value any
}

// withOptions returns a runtime, which is a name or a mapping, with more options. "true" and "false" become booleans, as in a file.
func withOptions(runtime any, more map[string]string) (map[string]any, error) {
	out := map[string]any{"name": runtime}
	if m, ok := runtime.(map[string]any); ok {
		out = maps.Clone(m)
	}
	options := map[string]any{}
	switch old := out["options"].(type) {
	case nil:
	case map[string]any:
		options = maps.Clone(old)
	default:
		return nil, errors.New("the options of its runtime are not a mapping")
	}
	for name, text := range more {
		options[name] = text
		if text == "true" || text == "false" {
			options[name] = text == "true"
		}
	}
	out["options"] = options
	return out, nil
}

func entries(text string) (map[string]any, error) {
	m := map[string]any{}
	return m, yaml.Unmarshal([]byte(text), &m)
}

// unusualBreaks are characters that end a line in YAML, and in no program that edits or shows the file.
const unusualBreaks = "\r\u0085\u2028\u2029"

// replaceEntry replaces the lines of a top-level entry, or removes them. It inserts a missing entry before the first one.
func replaceEntry(text string, e edit) (string, error) {
	line := ""
	switch value := e.value.(type) {
	case nil:
	case string:
		quoted, err := quote(value)
		if err != nil {
			return "", err
		}
		line = e.key + ": " + quoted
	default:
		lines, err := yaml.Marshal(map[string]any{e.key: value})
		if err != nil {
			return "", err
		}
		line = string(lines)
	}
	if strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), unusualBreaks) {
		return "", errors.New("the project file has unusual line breaks; end each line with LF or CR LF")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return "", errors.New("the project file is not a mapping")
	}
	if doc.Content[0].Style&yaml.FlowStyle != 0 {
		return "", errors.New("the project file is written in braces; write each entry on a line of its own")
	}
	lines := strings.SplitAfter(text, "\n")
	entries := doc.Content[0].Content
	for i := 0; i < len(entries); i += 2 {
		if entries[i].Value != e.key {
			continue
		}
		from, to := entries[i].Line-1, len(lines)
		if i+2 < len(entries) {
			to = entries[i+2].Line - 1
		}
		// Comments before the next entry belong to that entry.
		for to > from+1 && isRemark(lines[to-1]) {
			to--
		}
		return strings.Join(lines[:from], "") + line + strings.Join(lines[to:], ""), nil
	}
	first := 0
	if len(entries) > 0 {
		first = entries[0].Line - 1
	}
	return strings.Join(lines[:first], "") + line + strings.Join(lines[first:], ""), nil
}

// quote writes a text as YAML. For texts that begin or end with empty lines, and those with unusual line breaks, there is an unquoted
// form that would be read differently.
func quote(text string) (string, error) {
	var value any = text
	if strings.TrimSpace(text) != text || strings.ContainsAny(text, unusualBreaks) {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	}
	b, err := yaml.Marshal(value)
	return string(b), err
}

func isRemark(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}
