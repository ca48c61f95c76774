package source

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/urn"
)

// The files that make a folder a plugin.
const (
	PluginManifest = "PulumiPlugin.yaml" // a provider, converter or tool (protocol.md 1.10)
	PolicyManifest = "PulumiPolicy.yaml" // a policy pack (protocol.md 7.1)
)

// Manifest is what the engine uses of the file of a plugin that is written in a program language.
type Manifest struct {
	Runtime RuntimeSpec
	Main    string
	Version string
	// RequiredVersion is the range of versions of the engine that the plugin needs; "" for any.
	RequiredVersion string
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

// ReadManifest reads the manifest of a folder; file is [PluginManifest] or [PolicyManifest]. The error wraps fs.ErrNotExist if
// there is no such file.
func ReadManifest(directory, file string) (Manifest, error) {
	path := filepath.Join(directory, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, err
	}
	var read struct {
		Runtime         RuntimeSpec `yaml:"runtime"`
		Main            string      `yaml:"main"`
		Version         string      `yaml:"version"`
		RequiredVersion string      `yaml:"requiredPulumiVersion"`
	}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	if read.Runtime.Name == "" {
		return Manifest{}, fmt.Errorf("%s names no runtime; write `runtime: nodejs`, or the language that it is written in", path)
	}
	if err := urn.CheckPackageName("runtime", read.Runtime.Name); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", path, err)
	}
	return Manifest(read), nil
}

// Project describes the plugin in a folder as a program.
func (m Manifest) Project(directory string) Project {
	return Project{
		Runtime: m.Runtime.Name, Options: m.Runtime.Options, Root: directory, Directory: directory, Entry: cmp.Or(m.Main, "."),
	}
}
