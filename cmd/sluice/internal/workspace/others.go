package workspace

import (
	"fmt"
	"slices"

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

// unusedKeys returns warnings about the top-level keys of a stack file that nothing reads, except those that may exist for their anchors.
func unusedKeys(doc *document) (warnings []string) {
	known := []string{keySecretsProvider, keyEncryptedKey, keyEncryptionSalt, keyConfig, keyEnvironment}
	root := doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		if slices.Contains(known, key.Value) || hasAnchor(root.Content[i+1]) {
			continue
		}
		advice := "settings belong below `config`"
		if near := source.Near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		warnings = append(warnings, fmt.Sprintf("%s:%d: `%s` is not used; %s", doc.path, key.Line, key.Value, advice))
	}
	return warnings
}

// hasAnchor reports whether other parts of a file can refer to a part of n.
func hasAnchor(n *yaml.Node) bool { return n.Anchor != "" || slices.ContainsFunc(n.Content, hasAnchor) }
