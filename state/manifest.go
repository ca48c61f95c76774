package state

import "time"

// Manifest records which tool wrote a snapshot and when ([state.md 1.5]).
//
// [state.md 1.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#15-manifest
type Manifest struct {
	Time    time.Time
	Magic   string
	Version string
	Plugins []ManifestPlugin // only in old files
}

// ManifestPlugin is a plugin that an old engine used.
type ManifestPlugin struct{ Name, Path, Type, Version string }
