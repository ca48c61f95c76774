package workspace

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/source"
)

// optionNames returns the options of a runtime, nil if they are unknown, as for a language plugin.
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

// warnAboutOthers warns about the fields of a mapping that nothing reads.
func (pr *projectReader) warnAboutOthers(mapping *yaml.Node, what string, known ...string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		if slices.Contains(known, key.Value) || key.Value == "<<" {
			continue
		}
		advice := fmt.Sprintf("what is known: `%s`", strings.Join(known, "`, `"))
		if near := source.Near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("%s:%d: `%s` in %s is not used; %s", pr.doc.path, key.Line, key.Value, what, advice))
	}
}

// projectFields returns Pulumi's top-level fields of a project file.
func projectFields() []string {
	return []string{
		"name", "runtime", "main", "description", "author", "website", "license", "config", "stackConfigDir", "backend", "options", "plugins",
		"packages", "template", "requiredPulumiVersion",
	}
}

// isOfPrograms reports whether a field of a project file belongs to a YAML program, whose evaluator warns about misspelt ones, or to a
// component or generated SDK.
func isOfPrograms(field string) bool {
	known := []string{"pulumi", "configuration", "variables", "resources", "outputs", "components", "namespace", "version", "sdks", "artifacts"}
	return slices.Contains(known, strings.ToLower(field))
}

// warnAboutMisspelt warns about top-level fields whose names are similar to those of a project. It accepts all others as notes of people
// and of other tools.
func (pr *projectReader) warnAboutMisspelt() {
	root := pr.doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		near := source.Near(key.Value, projectFields())
		if near == "" || near == key.Value || isOfPrograms(key.Value) {
			continue
		}
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("%s:%d: `%s` is not used; did you mean `%s`?", pr.p.Path, key.Line, key.Value, near))
	}
}

// warnAboutOthers warns about the top-level keys of a stack file that nothing reads, except those that may exist for their anchors.
func (f *StackFile) warnAboutOthers() {
	known := []string{keySecretsProvider, keyEncryptedKey, keyEncryptionSalt, keyConfig, keyEnvironment}
	root := f.doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		if slices.Contains(known, key.Value) || hasAnchor(root.Content[i+1]) {
			continue
		}
		advice := "settings belong below `config`"
		if near := source.Near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s:%d: `%s` is not used; %s", f.Path, key.Line, key.Value, advice))
	}
}

// hasAnchor reports whether other parts of a file can refer to a part of n.
func hasAnchor(n *yaml.Node) bool { return n.Anchor != "" || slices.ContainsFunc(n.Content, hasAnchor) }
