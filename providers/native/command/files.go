package command

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gobwas/glob"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func (l *local) assets(dir string, patterns []string) (property.Value, error) {
	files, err := matching(dir, patterns)
	members := native.Outputs{}
	for _, name := range files {
		members[name] = property.PathAsset(filepath.ToSlash(filepath.Join(dir, name)))
	}
	return native.Object(members), err
}

func (l *local) archive(dir string, patterns []string) (property.Value, error) {
	members, err := l.assets(dir, patterns)
	return property.MemberArchive(members.AsMap()), err
}

// matching returns the files below a directory that match the patterns, as paths with slashes. * matches any text without
// a slash, and ** any text. The patterns apply in their order; those with ! exclude files that others included.
func matching(dir string, patterns []string) ([]string, error) {
	rules := make([]*glob.Pattern, len(patterns))
	for i, p := range patterns {
		var err error
		if rules[i], err = glob.Compile(strings.TrimPrefix(p, "!"), '/'); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	if dir == "" {
		dir = "."
	}
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		chosen := false
		for i, rule := range rules {
			if rule.Match(path) {
				chosen = !strings.HasPrefix(patterns[i], "!")
			}
		}
		if chosen {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}
