package runtimes

import (
	"strings"

	"github.com/sluice-iac/sluice/source"
)

// Meant returns the runtime that name likely stands for, "" if there is none.
func Meant(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "node", "node.js", "typescript", "ts", "javascript", "js":
		return "nodejs"
	case "golang":
		return "go"
	case "py", "python3":
		return "python"
	case "csharp", "c#", ".net", "net":
		return "dotnet"
	case "yml":
		return "yaml"
	}
	return source.Near(name, []string{"nodejs", "bun", "python", "go", "java", "yaml", "dotnet"})
}
