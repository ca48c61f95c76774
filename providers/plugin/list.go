package plugin

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Listing is an installed plugin.
type Listing struct {
	Kind     Kind
	Name     string
	Version  string // "" when the place does not contain it
	Location Location
}

// List returns the installed plugins by kind, name and place, the newest version first. A plugin that another one hides is
// listed as well: [Finder.Find] returns the one that is used. Directories that cannot be read are left out. Nothing is
// started.
func (f Finder) List() []Listing {
	var list []Listing
	for _, p := range f.Project {
		if file, ok := Executable(p.Directory, p.Kind, p.Name); ok {
			list = append(list, Listing{Kind: p.Kind, Name: p.Name, Version: p.Version, Location: located(file, FromProject)})
		}
	}
	if !f.isSet("PULUMI_IGNORE_AMBIENT_PLUGINS") {
		for _, directory := range filepath.SplitList(f.env("PATH")) {
			if filepath.IsAbs(directory) {
				list = append(list, executables(directory, FromPath)...)
			}
		}
	}
	list = append(list, executables(f.Bundled, FromBundle)...)
	list = append(list, f.cache()...)
	rank := []Source{FromProject, FromPath, FromBundle, FromCache}
	slices.SortStableFunc(list, func(a, b Listing) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(slices.Index(rank, a.Location.Source), slices.Index(rank, b.Location.Source)), newestFirst(a.Version, b.Version))
	})
	return list
}

// executables lists the plugins among the files of a directory.
func executables(directory string, source Source) []Listing {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	var list []Listing
	for _, e := range entries {
		rest, is := strings.CutPrefix(e.Name(), "pulumi-")
		if ending := filepath.Ext(rest); slices.Contains(endings(), ending) {
			rest = strings.TrimSuffix(rest, ending)
		}
		kind, name, known := kindAndName(rest)
		if !is || !known {
			continue
		}
		if file, ok := Executable(directory, kind, name); ok {
			list = append(list, Listing{Kind: kind, Name: name, Location: located(file, source)})
		}
	}
	return slices.CompactFunc(list, func(a, b Listing) bool { return a == b }) // the same with two endings
}

// cache lists the complete installations in the cache.
func (f Finder) cache() []Listing {
	if f.Home == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(f.Home, "plugins"))
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	var list []Listing
	for _, e := range entries {
		stem := e.Name()
		if at := strings.LastIndex(stem, "-v"); at > 0 {
			stem = stem[:at]
		}
		kind, name, known := kindAndName(stem)
		if !known || !e.IsDir() || seen[stem] {
			continue
		}
		seen[stem] = true
		for _, c := range f.cachedPlugins(kind, name) {
			l := Listing{Kind: kind, Name: name}
			if c.version != nil {
				l.Version = c.version.Original()
			}
			if file, ok := Executable(c.directory, kind, name); ok {
				l.Location = located(file, FromCache)
				list = append(list, l)
			} else if _, is := SourceFolder(c.directory, kind, name); is {
				l.Location = Location{Directory: c.directory, Source: FromCache}
				list = append(list, l)
			}
		}
	}
	return list
}

// kindAndName splits "resource-random".
func kindAndName(text string) (Kind, string, bool) {
	kind, name, _ := strings.Cut(text, "-")
	k := Kind(kind)
	return k, name, name != "" && slices.Contains([]Kind{Resource, Language, Analyzer, Converter, Tool}, k)
}

func newestFirst(a, b string) int {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	if errX != nil || errY != nil {
		return cmp.Compare(b, a)
	}
	return y.Compare(x)
}
