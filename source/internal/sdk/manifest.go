// Package sdk reads the manifests of SDKs of packages, which are the same in all languages (protocol.md 1.12).
//
// It does not find SDKs: each language has its own places.
//
// Invariant: values that a manifest lacks are those of the SDK around it.
package sdk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// Manifest is the description of the plugin that serves the package of an SDK: in a pulumi-plugin.json, or below "pulumi" in a
// package.json.
type Manifest struct {
	Resource         bool              `json:"resource"` // it is the SDK of a package
	Name             string            `json:"name"`
	Version          string            `json:"version"`
	Server           string            `json:"server"`
	Parameterization *Parameterization `json:"parameterization"`
}

// Parameterization makes one plugin serve another package.
type Parameterization struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"` // base64 in the file
}

// Package returns the package of the SDK. name and version are those of the SDK, in case the manifest lacks them.
func (m Manifest) Package(name, version string) stages.Package {
	return stages.Package{
		Name: cmp.Or(m.Name, name), Version: plain(cmp.Or(m.Version, version)), DownloadURL: m.Server,
		Parameterization: m.Parameterization.Item(),
	}
}

// Item returns p in the form of package stages, nil for nil.
func (p *Parameterization) Item() *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.Name, Version: plain(p.Version), Value: p.Value}
}

func plain(version string) string { return strings.TrimPrefix(version, "v") }

// Sort orders packages by name and version, and then by their parameters.
func Sort(list []stages.Package) { slices.SortFunc(list, Compare) }

// Compare orders packages as [Sort] does. It returns 0 for packages that one plugin serves in the same way.
func Compare(a, b stages.Package) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(Parameters(a), Parameters(b)))
}

// Parameters returns a text that is the same for packages with the same parameters.
func Parameters(p stages.Package) string {
	var text strings.Builder
	for _, q := range []*stages.Parameterization{p.Parameterization, p.Extension} {
		if q != nil {
			text.WriteString(q.Name + " " + q.Version + " " + string(q.Value))
		}
		text.WriteByte('|')
	}
	return text.String()
}
