package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sluice-iac/sluice/providers/native"
)

// member is a file of an archive: a file of this machine, or a content.
type member struct {
	name    string // with slashes
	path    string // "" for a content
	info    fs.FileInfo
	content string
}

// members lists the files that the inputs define, in the order in which they are written.
func (d disk) members(in native.Values) ([]member, error) {
	switch {
	case in.Has("sourceDir"):
		w := walk{excludes: in.Texts("excludes"), follow: !in.Bool("excludeSymlinkDirectories")}
		w.output, _ = os.Stat(d.options.Path(in.Text("outputPath"))) // it may be missing
		if err := w.directory("", d.options.Path(in.Text("sourceDir"))); err != nil {
			return nil, err
		}
		if len(w.found) == 0 {
			return nil, fmt.Errorf("the archive of %s would be empty", in.Text("sourceDir"))
		}
		return w.found, nil
	case in.Has("sourceFile"):
		path := d.options.Path(in.Text("sourceFile"))
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", path)
		}
		return []member{{name: filepath.Base(path), path: path, info: info}}, err
	case in.Has("sourceContentFilename"):
		return []member{{name: filepath.ToSlash(in.Text("sourceContentFilename")), content: in.Text("sourceContent")}}, nil
	}
	contents := map[string]string{}
	for _, s := range in.List("sources") {
		contents[s.AsMap().At("filename").AsString()] = s.AsMap().At("content").AsString()
	}
	var out []member
	for name, content := range contents {
		out = append(out, member{name: filepath.ToSlash(name), content: content})
	}
	slices.SortFunc(out, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// walk looks for the files of a directory.
type walk struct {
	excludes []string
	follow   bool
	output   fs.FileInfo // the previous archive, which is not a member itself; nil for none
	inside   []string    // the parent directories, by their real paths
	found    []member
}

// directory adds the files of a directory, whose name in the archive is name.
func (w *walk) directory(name, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if slices.Contains(w.inside, real) {
		return fmt.Errorf("%s is a link to a directory above it", dir)
	}
	w.inside = append(w.inside, real)
	defer func() { w.inside = w.inside[:len(w.inside)-1] }()
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.entry(filepath.Join(name, e.Name()), filepath.Join(real, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(name, path string, e fs.DirEntry) error {
	excluded, err := w.excluded(name)
	if excluded || err != nil {
		return err
	}
	info, err := os.Stat(path) // of the target of a link
	switch {
	case err != nil:
		return err
	case info.IsDir() && e.Type()&fs.ModeSymlink != 0 && !w.follow:
		return nil
	case info.IsDir():
		return w.directory(name, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a directory", path)
	case w.output != nil && os.SameFile(info, w.output):
		return nil
	}
	w.found = append(w.found, member{name: filepath.ToSlash(name), path: path, info: info})
	return nil
}

func (w *walk) excluded(name string) (bool, error) {
	for _, pattern := range w.excludes {
		match, err := doublestar.PathMatch(filepath.FromSlash(pattern), name)
		if err != nil {
			return false, errors.Join(fmt.Errorf("excludes: %q", pattern), err)
		}
		if match {
			return true, nil
		}
	}
	return false, nil
}
