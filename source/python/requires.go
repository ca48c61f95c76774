package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// requirement matches the beginning of a requirement (PEP 508): the name, and what follows it.
var requirement = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*($|[\[(<>=!~;@])`)

// bringsSDK reports whether a requirement may bring the SDK: because it names it or a package that is made for it, or because it is an
// address or a file, of which the name says nothing.
func bringsSDK(text string) bool {
	parts := requirement.FindStringSubmatch(strings.TrimSpace(text))
	return parts == nil || parts[2] == "@" || isOfPulumi(parts[1])
}

var separators = regexp.MustCompile(`[-_.]+`)

// isOfPulumi reports whether "pulumi" is a word of the name of a package, as names are compared (PEP 503).
func isOfPulumi(name string) bool {
	return slices.Contains(separators.Split(strings.ToLower(name), -1), "pulumi")
}

// listBringsSDK reports whether a requirements.txt may bring the SDK. Of the options, those that name other files and folders may.
func listBringsSDK(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimSuffix(comment.ReplaceAllString(strings.TrimSpace(line), ""), "\\"))
		named, _, _ := strings.Cut(line, " --") // hashes and other options of the requirement
		switch {
		case line == "":
		case strings.HasPrefix(line, "-r"), strings.HasPrefix(line, "--requirement"), strings.HasPrefix(line, "-e"), strings.HasPrefix(line, "--editable"):
			return true
		case strings.HasPrefix(line, "-"):
		case bringsSDK(named):
			return true
		}
	}
	return false
}

// needs is what a pyproject.toml says of the packages that are installed. uv takes them from project, the groups and its own table, poetry
// from project and its own table, too.
type needs struct {
	Project struct {
		Dependencies []string `toml:"dependencies"`
		Dynamic      []string `toml:"dynamic"`
	} `toml:"project"`
	Groups map[string][]any `toml:"dependency-groups"`
	Tool   struct {
		UV struct {
			Dev     []string       `toml:"dev-dependencies"`
			Sources map[string]any `toml:"sources"`
		} `toml:"uv"`
		Poetry struct {
			poetryGroup
			Dev    map[string]any         `toml:"dev-dependencies"`
			Groups map[string]poetryGroup `toml:"group"`
		} `toml:"poetry"`
	} `toml:"tool"`
}

type poetryGroup struct {
	Dependencies map[string]any `toml:"dependencies"`
}

// fileBringsSDK reports whether what a pyproject.toml names may bring the SDK. The tool itself reports a file that cannot be read.
func fileBringsSDK(text string) bool {
	var n needs
	if _, err := toml.Decode(text, &n); err != nil {
		return true
	}
	lists := [][]string{n.Project.Dependencies, n.Tool.UV.Dev}
	for _, group := range n.Groups {
		for _, entry := range group {
			if text, is := entry.(string); is {
				lists = append(lists, []string{text})
			}
		}
	}
	tables := []map[string]any{n.Tool.Poetry.Dependencies, n.Tool.Poetry.Dev}
	for _, group := range n.Tool.Poetry.Groups {
		tables = append(tables, group.Dependencies)
	}
	return slices.Contains(n.Project.Dynamic, "dependencies") || len(n.Tool.UV.Sources) > 0 ||
		slices.ContainsFunc(lists, func(list []string) bool { return slices.ContainsFunc(list, bringsSDK) }) ||
		slices.ContainsFunc(tables, tableBringsSDK)
}

// tableBringsSDK is [bringsSDK] for a table of poetry: from names to versions, or to what else describes a package.
func tableBringsSDK(table map[string]any) bool {
	for name, described := range table {
		if isOfPulumi(name) {
			return true
		}
		options, _ := described.(map[string]any)
		for _, place := range []string{"path", "git", "url"} {
			if options[place] != nil {
				return true
			}
		}
	}
	return false
}
