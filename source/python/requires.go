package python

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// requirement matches the beginning of a requirement (PEP 508): the name, and the character after it.
var requirement = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*($|[\[(<>=!~;@])`)
})

// bringsSDK reports whether a requirement may bring the SDK: it names the SDK or a package for it, or it is an address or a file of unknown
// content.
func bringsSDK(text string) bool {
	parts := requirement().FindStringSubmatch(strings.TrimSpace(text))
	return parts == nil || parts[2] == "@" || isOfPulumi(parts[1])
}

var separators = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-_.]+`) })

// isOfPulumi reports whether "pulumi" is a word in the normalized name of a package (PEP 503).
func isOfPulumi(name string) bool {
	return slices.Contains(separators().Split(strings.ToLower(name), -1), "pulumi")
}

// listBringsSDK reports whether a requirements.txt may bring the SDK. Options that refer to other files and folders may.
func listBringsSDK(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimSuffix(comment().ReplaceAllString(strings.TrimSpace(line), ""), "\\"))
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

// needs is the list of dependencies in a pyproject.toml. uv takes them from project, the groups and its own table, poetry from project and
// its own table.
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

// fileBringsSDK reports whether the dependencies of a pyproject.toml may bring the SDK. The tool itself reports an unreadable file.
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

// tableBringsSDK is [bringsSDK] for a table of poetry, which maps names to versions or to other descriptions of a package.
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
