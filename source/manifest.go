package source

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/urn"
)

// Manifest is the part of a project file that the engine uses, or of the file of a plugin in source form.
type Manifest struct {
	Name    string      `yaml:"name"` // of a project
	Runtime RuntimeSpec `yaml:"runtime"`
	Main    string      `yaml:"main"`
	Version string      `yaml:"version"`

	RequiredVersion string `yaml:"requiredPulumiVersion"` // a range of versions of Pulumi; "" for any
}

// RuntimeSpec is the name of a runtime with its options. A file may have the name alone.
type RuntimeSpec struct {
	Name    string
	Options map[string]any
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (r *RuntimeSpec) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&r.Name)
	}
	var long struct {
		Name    string         `yaml:"name"`
		Options map[string]any `yaml:"options"`
	}
	if err := n.Decode(&long); err != nil {
		return err
	}
	r.Name, r.Options = long.Name, long.Options
	return nil
}

// ReadManifest reads the manifest of a folder. file is plugin.PluginManifest, plugin.PolicyManifest, or the name of a project file. The
// error wraps fs.ErrNotExist if there is no such file.
func ReadManifest(directory, file string) (Manifest, error) {
	path := filepath.Join(directory, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := yaml.Unmarshal(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	if m.Runtime.Name == "" {
		return Manifest{}, fmt.Errorf("%s names no runtime; write `runtime: nodejs`, or the language that it is written in", path)
	}
	if err := urn.CheckPackageName("runtime", m.Runtime.Name); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Project returns the plugin in a folder as a program.
func (m Manifest) Project(directory string) Project {
	return Project{
		Runtime: m.Runtime.Name, Options: m.Runtime.Options, Root: directory, Directory: directory, Entry: cmp.Or(m.Main, "."),
	}
}
