package python

import (
	"regexp"
	"strings"
)

// release takes a version of PEP 440 apart, as far as SDKs have such versions.
var release = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|alpha|beta|c)[._-]?(\d*))?(?:[._-]?(?:post|dev)[._-]?\d*)?(?:\+.*)?$`)

// preReleases are the names of pre-releases in semantic versions.
var preReleases = map[string]string{"a": "alpha", "alpha": "alpha", "b": "beta", "beta": "beta", "c": "rc", "rc": "rc"}

// semantic turns the version of an installed package into the semantic version that it was made from: "4.1.0a1" was
// "4.1.0-alpha.1". It returns "" for what has none.
func semantic(version string) string {
	m := release.FindStringSubmatch(strings.ToLower(version))
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
