package workspace

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/similar"
)

// fieldReader reads fields of a document until the first fault.
type fieldReader struct {
	doc      *document
	err      error
	warnings []string
}

// text returns a text field, or "" if it is absent.
func (f *fieldReader) text(mapping *yaml.Node, key, advice string) string {
	_, n := child(mapping, key)
	if f.err != nil || n == nil {
		return ""
	}
	n = resolve(n)
	if isNull(n) {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		f.fail(n, fmt.Sprintf("`%s` must be a text, not %s", key, describe(n)), advice)
		return ""
	}
	return n.Value
}

// mapping returns a field that is a mapping, or nil if it is absent.
func (f *fieldReader) mapping(parent *yaml.Node, key string) *yaml.Node {
	_, n := child(parent, key)
	if f.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		f.fail(n, fmt.Sprintf("`%s` must be a mapping, not %s", key, describe(n)), "")
		return nil
	}
	return n
}

func (f *fieldReader) fail(n *yaml.Node, problem, advice string) {
	if f.err == nil {
		f.err = f.doc.errorAt(n.Line, problem, advice)
	}
}

func (f *fieldReader) value(n *yaml.Node, key string) (Value, bool) {
	_, v := child(n, key)
	if v == nil || f.err != nil {
		return nil, false
	}
	value, err := f.doc.value(v)
	if err != nil {
		f.err = err
	}
	return value, !isNull(resolve(v))
}

// warnAboutOthers warns about the fields of a mapping that nothing reads.
func (f *fieldReader) warnAboutOthers(mapping *yaml.Node, what string, known ...string) {
	others(mapping, known, func(key *yaml.Node, advice string) {
		f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: `%s` in %s is not used; %s", f.doc.path, key.Line, key.Value, what, advice))
	})
}

// refuseOthers fails if a mapping has a field that nothing reads. It is for mappings that Pulumi's schema of the file closes.
func (f *fieldReader) refuseOthers(mapping *yaml.Node, what string, known ...string) {
	others(mapping, known, func(key *yaml.Node, advice string) {
		f.fail(key, fmt.Sprintf("%s has no field `%s`", what, key.Value), advice)
	})
}

// others calls found for each key of a mapping that is not among the known ones, with advice.
func others(mapping *yaml.Node, known []string, found func(key *yaml.Node, advice string)) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		if slices.Contains(known, key.Value) || key.Value == "<<" {
			continue
		}
		advice := fmt.Sprintf("what is known: `%s`", strings.Join(known, "`, `"))
		if near := similar.Name(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		found(key, advice)
	}
}
