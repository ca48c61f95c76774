// Package build tells from which source this program was built.
package build

import "runtime/debug"

// Revision returns the revision that the program was built from, and whether it was changed. It is "" if the build did not record it.
func Revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}

// Identity returns the revision or, for a module that was installed by its version, that version.
func Identity() string {
	if revision := Revision(); revision != "" {
		return revision
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}
