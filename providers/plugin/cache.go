package plugin

import (
	"github.com/Masterminds/semver/v3"
)

// cached is one directory of the plugin cache.
type cached struct {
	directory string
	version   *semver.Version // nil for a directory without a version
}
