package display

import (
	"github.com/sluice-iac/sluice/property"
)

// arrow stands between an old value and a new one.
const arrow = " → "

// secrecy describes whether a value has become a secret, or stopped being one. The masks of both values often look the same.
func secrecy(old, new property.Value) string {
	text := ""
	switch was, is := isSecret(old), isSecret(new); {
	case was == is:
		return ""
	case is:
		text = " (now secret"
	default:
		text = " (no longer secret"
	}
	if property.Equal(old.StripSecretsAndOutputs(), new.StripSecretsAndOutputs()) {
		return text + ", the same value)"
	}
	return text + ")"
}

// hiddenPaths parses the paths that a resource hides. It ignores texts that are not paths.
func hiddenPaths(texts []string) []property.Path {
	var out []property.Path
	for _, t := range texts {
		if path, err := property.ParsePath(t); err == nil && len(path) > 0 {
			out = append(out, path)
		}
	}
	return out
}
