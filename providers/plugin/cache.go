package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// cache is the folder into which plugins are installed. It is only read, except for the times of the last uses.
type cache struct {
	folder string // "<home>/plugins"; "" for no cache
	// takesNewer is true if a newer version than the wanted one fits, too.
	takesNewer bool
}

// installation is one folder in the cache.
type installation struct {
	directory string
	version   *semver.Version // nil for a directory without a version
}

// find looks for exactly the given version, or for the best one if version is "" (protocol.md
// 1.4).
func (c cache) find(k Kind, name, version string) (Location, error) {
	missing := &MissingError{Kind: k, Name: name, Version: version}
	if c.folder == "" {
		return Location{}, missing
	}
	var want *semver.Version
	if version != "" {
		v, err := semver.NewVersion(version)
		if err != nil {
			return Location{}, missing
		}
		want = v
	}
	best := c.choose(c.installations(k, name), want)
	if best == nil {
		return Location{}, missing
	}
	touch(best.directory + ".lastused")
	file, ok := Executable(best.directory, k, name)
	if !ok {
		return Location{}, noExecutable(k, name, best.directory, FromCache)
	}
	at := located(file, FromCache)
	if best.version != nil {
		at.Version = best.version.String()
	}
	return at, nil
}

// list lists the complete installations of all plugins.
func (c cache) list() []Listing {
	if c.folder == "" {
		return nil
	}
	entries, err := os.ReadDir(c.folder)
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
		for _, i := range c.installations(kind, name) {
			l := Listing{Kind: kind, Name: name}
			if i.version != nil {
				l.Version = i.version.Original()
			}
			if file, ok := Executable(i.directory, kind, name); ok {
				l.Location = located(file, FromCache)
				list = append(list, l)
			} else if _, is := SourceFolder(i.directory, kind, name); is {
				l.Location = Location{Directory: i.directory, Source: FromCache}
				list = append(list, l)
			}
		}
	}
	return list
}

// installations lists the complete installations of a plugin.
func (c cache) installations(k Kind, name string) []installation {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil
	}
	var list []installation
	stem := string(k) + "-" + name
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), stem)
		directory := filepath.Join(c.folder, e.Name())
		if !ok || !e.IsDir() || files.MayBeThere(directory+".partial") {
			continue
		}
		if rest == "" {
			list = append(list, installation{directory: directory})
			continue
		}
		text, ok := strings.CutPrefix(rest, "-v")
		if !ok {
			continue
		}
		// The remains of an installation, such as "1.2.3.tmp42", are not versions.
		if v, err := semver.StrictNewVersion(text); err == nil {
			list = append(list, installation{directory: directory, version: v})
		}
	}
	return list
}

// choose returns the best of the installations that fit, nil if none does. want is nil if any version fits.
func (c cache) choose(list []installation, want *semver.Version) *installation {
	var best *installation
	for n := range list {
		i := &list[n]
		switch {
		case want == nil:
		case i.version == nil:
			continue
		case c.takesNewer && i.version.LessThan(want):
			continue
		case !c.takesNewer && !identical(i.version, want):
			continue
		}
		if best == nil || better(i.version, best.version) {
			best = i
		}
	}
	return best
}

// identical also compares build metadata, which semantic comparison leaves out.
func identical(a, b *semver.Version) bool { return a.Equal(b) && a.Metadata() == b.Metadata() }

// better prefers a stable release to a prerelease and any version to none.
func better(a, b *semver.Version) bool {
	if a == nil || b == nil {
		return a != nil
	}
	if stableA, stableB := a.Prerelease() == "", b.Prerelease() == ""; stableA != stableB {
		return stableA
	}
	return a.GreaterThan(b)
}

// touch records that a plugin was used. It is for users who clean the cache; failing to write it must not stop a run.
func touch(file string) {
	now := time.Now()
	if os.Chtimes(file, now, now) == nil {
		return
	}
	if f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
		_ = f.Close()
	}
}
