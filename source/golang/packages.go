package golang

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/stages"
)

// sdkModule matches the modules of published SDKs, which are recognized without a file.
var sdkModule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^github\.com/pulumi/pulumi-([^/]+)/sdk(/v[0-9]+)?$`) })

// module is the Go module of an imported package.
type module struct{ path, version, root string }

// pkg returns the package of the SDK in an imported directory. Its file is in the directory or in one above it, up to the module's.
func (m module) pkg(directory string) (stages.Package, bool) {
	for dir := directory; ; dir = filepath.Dir(dir) {
		if pkg, found, is := m.fromFile(dir); found {
			return pkg, is
		}
		if dir == m.root || dir == filepath.Dir(dir) {
			break
		}
	}
	match := sdkModule().FindStringSubmatch(m.path)
	if match == nil {
		return stages.Package{}, false
	}
	return stages.Package{Name: match[1], Version: m.version}, true
}

// fromFile reads a directory's pulumi-plugin.json: found reports whether there is one, is whether it names a resource plugin.
func (m module) fromFile(directory string) (pkg stages.Package, found, is bool) {
	b, err := os.ReadFile(filepath.Join(directory, "pulumi-plugin.json"))
	if err != nil {
		return stages.Package{}, false, false
	}
	var f sdk.Manifest
	if json.Unmarshal(b, &f) != nil || !f.Resource {
		return stages.Package{}, true, false
	}
	return f.Package(filepath.Base(directory), m.version), true, true
}
