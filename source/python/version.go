package python

import (
	"regexp"
	"strings"
	"sync"
)

// release matches a version of PEP 440 in the forms that SDKs use.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|alpha|beta|c)[._-]?(\d*))?(?:[._-]?(?:post|dev)[._-]?\d*)?(?:\+.*)?$`)
})

// preReleases are the names of pre-releases in semantic versions.
var preReleases = map[string]string{"a": "alpha", "alpha": "alpha", "b": "beta", "beta": "beta", "c": "rc", "rc": "rc"}

// semantic returns the semantic version from which the version of an installed package was made: "4.1.0a1" was "4.1.0-alpha.1". It returns
// "" for any other text.
func semantic(version string) string {
	m := release().FindStringSubmatch(strings.ToLower(version))
	if m == nil {
		return ""
	}
	parts := strings.Split(m[1], ".")
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	out := strings.Join(parts[:3], ".")
	if m[2] != "" {
		out += "-" + preReleases[m[2]]
		if m[3] != "" {
			out += "." + m[3]
		}
	}
	return out
}
