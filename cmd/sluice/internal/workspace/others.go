package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"gopkg.in/yaml.v3"
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
		if near := near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		r.p.Warnings = append(r.p.Warnings, fmt.Sprintf("%s:%d: `%s` in %s is not used; %s", r.doc.path, key.Line, key.Value, what, advice))
	}
}

// near returns the name that wanted may stand for: the one with the fewest other letters. It returns "" if none is near.
func near(wanted string, names []string) string {
	distance := func(name string) int {
		return levenshtein.Distance(strings.ToLower(wanted), strings.ToLower(name), nil)
	}
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	if distance(best) > len(wanted)/3 {
		return ""
	}
	return best
}
