package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// ProviderAt returns the provider's plugin in a folder, or the plugin whose executable is a file, in the form of a
// project's entries.
func ProviderAt(path string) (ProjectPlugin, error) {
	info, err := os.Stat(path)
	if err != nil {
		return ProjectPlugin{}, err
	}
	const prefix = "pulumi-" + string(Resource) + "-"
	named := func(file string) string {
		return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), prefix), ".exe")
	}
	local := ProjectPlugin{Kind: Resource, Directory: path}
	if !info.IsDir() {
		if !strings.HasPrefix(filepath.Base(path), prefix) {
			return local, fmt.Errorf("%s is not a plugin: the executable of one is called %sNAME", path, prefix)
		}
		local.Name, local.Directory = named(path), filepath.Dir(path)
		return local, nil
	}
	if executables, err := filepath.Glob(filepath.Join(path, prefix+"*")); err == nil && len(executables) == 1 {
		local.Name = named(executables[0])
		return local, nil
	}
	if local.Name = named(path); urn.CheckPluginName(local.Name) != nil {
		local.Name = "local" // the folder of a plugin in source form may have any name
	}
	_, manifest := os.Stat(filepath.Join(path, PluginManifest))
	if _, found := Executable(path, Resource, local.Name); !found && manifest != nil {
		return local, fmt.Errorf("%s is not a plugin: it has neither an executable %sNAME nor a %s", path, prefix, PluginManifest)
	}
	return local, nil
}
