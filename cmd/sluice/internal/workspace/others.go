package workspace

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/source"
)

// optionNames returns the options of a runtime, nil if they are not known: those of a language plugin are its own.
func optionNames(runtime string) []string {
	switch runtime {
	case "nodejs":
		return []string{"nodeargs", "packagemanager", "tsconfig", "typescript"}
	case "python":
		return []string{"toolchain", "typechecker", "virtualenv"}
	case "go":
		return []string{"binary", "buildTarget"}
	case "java":
		return []string{"binary", "use-executor"}
	case "yaml":
		return []string{"compiler"}
	}
	return nil
}

// warnAboutOthers warns of the fields of a mapping that nothing reads.
func (r *projectReader) warnAboutOthers(mapping *yaml.Node, what string, known ...string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		if slices.Contains(known, key.Value) || key.Value == "<<" {
			continue
		}
		advice := fmt.Sprintf("what is known: `%s`", strings.Join(known, "`, `"))
		if near := source.Near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		r.p.Warnings = append(r.p.Warnings, fmt.Sprintf("%s:%d: `%s` in %s is not used; %s", r.doc.path, key.Line, key.Value, what, advice))
	}
}
