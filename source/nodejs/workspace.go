package nodejs

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"
)

// installedFrom returns the directory from which a package manager installs the dependencies of a package: the root of the workspace that
// lists the package, else the package's own directory.
func installedFrom(directory string) string {
	for root := directory; ; root = filepath.Dir(root) {
		if relative, err := filepath.Rel(root, directory); err == nil && lists(members(root), filepath.ToSlash(relative)) {
			return root
		}
		if root == filepath.Dir(root) {
			return directory
		}
	}
}

// members returns the patterns of the packages in a directory's workspace. It ignores a malformed file, which the package manager reports.
func members(directory string) []string {
	var pnpm struct{ Packages []string }
	if read(filepath.Join(directory, "pnpm-workspace.yaml"), yaml.Unmarshal, &pnpm) && len(pnpm.Packages) != 0 {
		return pnpm.Packages
	}
	var short struct{ Workspaces []string }
	var long struct{ Workspaces struct{ Packages []string } } // yarn's form
	for _, target := range []any{&short, &long} {
		if read(filepath.Join(directory, "package.json"), json.Unmarshal, target) ||
			read(filepath.Join(directory, "package.yaml"), yaml.Unmarshal, target) {
			break
		}
	}
	return append(short.Workspaces, long.Workspaces.Packages...)
}

// read reports whether a file exists and fits the target.
func read(file string, decode func([]byte, any) error, target any) bool {
	b, err := os.ReadFile(file)
	return err == nil && decode(b, target) == nil
}

// lists reports whether the patterns of a workspace select a package, whose path is relative to its root. The last matching pattern
// decides, and `!` in front of it excludes.
func lists(patterns []string, relative string) bool {
	listed := false
	for _, pattern := range patterns {
		pattern, excluded := strings.CutPrefix(pattern, "!")
		if ok, err := doublestar.Match(path.Clean(pattern), relative); err == nil && ok {
			listed = !excluded
		}
	}
	return listed
}
