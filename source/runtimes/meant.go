package runtimes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// Meant returns the runtime that somebody may mean who writes name, "" if there is none.
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
	return near(name, []string{"nodejs", "bun", "python", "go", "java", "yaml", "dotnet"})
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
