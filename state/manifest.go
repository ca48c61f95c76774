package state

import "time"

// Manifest records which tool wrote a snapshot and when (state.md 1.5).
type Manifest struct {
	Time    time.Time
	Magic   string
	Version string
	Plugins []ManifestPlugin // only in old files
}

// ManifestPlugin is a plugin that an old engine used.
type ManifestPlugin struct{ Name, Path, Type, Version string }
