package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// cached is one directory of the plugin cache.
type cached struct {
	directory string
	version   *semver.Version // nil for a directory without a version
}

// inCache looks in the plugin cache for exactly the given version, or for the best one if version is "" (protocol.md
// 1.4).
func (f Finder) inCache(k Kind, name, version string) (Location, error) {
	missing := &MissingError{Kind: k, Name: name, Version: version}
	if f.Home == "" {
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
	best := f.choose(f.cachedPlugins(k, name), want)
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

// cachedPlugins lists the complete installations of a plugin.
func (f Finder) cachedPlugins(k Kind, name string) []cached {
	root := filepath.Join(f.Home, "plugins")
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var list []cached
	stem := string(k) + "-" + name
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), stem)
		directory := filepath.Join(root, e.Name())
		if !ok || !e.IsDir() || exists(directory+".partial") {
			continue
		}
		if rest == "" {
			list = append(list, cached{directory: directory})
			continue
		}
		text, ok := strings.CutPrefix(rest, "-v")
		if !ok {
			continue
		}
		// The remains of an installation, such as "1.2.3.tmp42", are not versions.
		if v, err := semver.StrictNewVersion(text); err == nil {
			list = append(list, cached{directory: directory, version: v})
		}
	}
	return list
}

func (f Finder) choose(list []cached, want *semver.Version) *cached {
	legacy := f.isSet("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH")
	var best *cached
	for i := range list {
		c := &list[i]
		switch {
		case want == nil:
		case c.version == nil:
			continue
		case legacy && c.version.LessThan(want):
			continue
		case !legacy && !identical(c.version, want):
			continue
		}
		if best == nil || better(c.version, best.version) {
			best = c
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
