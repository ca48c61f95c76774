package python

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// uvRoot returns the folder in which uv keeps the lock file and the virtual environment of a program: that of the nearest pyproject.toml,
// or of the workspace around it. It returns "" if there is no pyproject.toml.
func uvRoot(directory string) string {
	project := ""
	for dir := directory; ; dir = filepath.Dir(dir) {
		w, is := workspaceOf(dir)
		switch {
		case project == "" && (is || files.IsThere(filepath.Join(dir, "uv.lock")) || files.IsThere(filepath.Join(dir, "pyproject.toml"))):
			project = dir
			if is {
				return dir
			}
		case is && w.has(dir, project):
			return dir
		case is:
			return project
		}
		if dir == filepath.Dir(dir) {
			return project
		}
	}
}

// workspace is the description of projects that share an environment, in uv's form: patterns of folders.
type workspace struct {
	Members []string `toml:"members"`
	Exclude []string `toml:"exclude"`
}

// workspaceOf returns the workspace that the pyproject.toml of a folder declares. uv itself reports an unreadable file.
func workspaceOf(directory string) (workspace, bool) {
	text, err := os.ReadFile(filepath.Join(directory, "pyproject.toml"))
	if err != nil {
		return workspace{}, false
	}
	var file struct {
		Tool struct {
			UV struct {
				Workspace *workspace `toml:"workspace"`
			} `toml:"uv"`
		} `toml:"tool"`
	}
	if toml.Unmarshal(text, &file) != nil || file.Tool.UV.Workspace == nil {
		return workspace{}, false
	}
	return *file.Tool.UV.Workspace, true
}

// has reports whether a project is a member of the workspace of root.
func (w workspace) has(root, project string) bool {
	relative, err := filepath.Rel(root, project)
	return err == nil && matches(w.Members, relative) && !matches(w.Exclude, relative)
}

// matches reports whether a path matches one of the patterns.
func matches(patterns []string, relative string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := doublestar.Match(path.Clean(pattern), filepath.ToSlash(relative))
		return err == nil && ok
	})
}
