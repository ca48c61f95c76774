package plugin

import (
	"debug/buildinfo"
	"regexp"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// builtWith finds the version that a build of a plugin sets: -X example.com/pkg/version.Version=1.2.3.
var builtWith = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-X[ =]'?\S+\.[vV]ersion=v?([0-9][^\s'"]*)`) })

// builtVersion returns the version that the Go toolchain has recorded in an executable: that of its module, or one that its build sets.
// It returns "" if there is none, as in the executables of other languages.
func builtVersion(executable string) string {
	info, err := buildinfo.ReadFile(executable)
	if err != nil {
		return ""
	}
	for _, s := range info.Settings {
		if m := builtWith().FindStringSubmatch(s.Value); s.Key == "-ldflags" && m != nil {
			return m[1]
		}
	}
	if v, err := semver.NewVersion(info.Main.Version); err == nil {
		return v.String()
	}
	return "" // "(devel)"
}
