package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/urn"
)

// manifestFile describes a policy pack (protocol.md 7.1).
const manifestFile = "PulumiPolicy.yaml"

// manifest is the content of a PulumiPolicy.yaml that the engine uses. The rest of the file is for publishing.
type manifest struct {
	Runtime runtimeSpec `yaml:"runtime"`
	Main    string      `yaml:"main"`
	Version string      `yaml:"version"`
}

// runtimeSpec is a name, or a name with options.
type runtimeSpec struct {
	Name    string
	Options map[string]any
}

func (r *runtimeSpec) UnmarshalYAML(n *yaml.Node) error {
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

// readManifest reads the manifest of a folder.
func readManifest(directory string) (manifest, error) {
	path := filepath.Join(directory, manifestFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return manifest{}, fmt.Errorf("there is no policy pack in %s: it has no %s; name the folder of a policy pack", directory, manifestFile)
	case err != nil:
		return manifest{}, fmt.Errorf("read the policy pack: %w", err)
	}
	var m manifest
	if err := yaml.Unmarshal(text, &m); err != nil {
		return manifest{}, fmt.Errorf("the policy pack's file %s: %w", path, err)
	}
	if m.Runtime.Name == "" {
		return manifest{}, fmt.Errorf("the policy pack's file %s names no runtime; write `runtime: nodejs`, or the language that the pack is written in", path)
	}
	if err := urn.CheckPackageName("runtime", m.Runtime.Name); err != nil {
		return manifest{}, fmt.Errorf("the policy pack's file %s: %w", path, err)
	}
	return m, nil
}

// project describes the pack as a program.
func (m manifest) project(directory string) source.Project {
	entry := m.Main
	if entry == "" {
		entry = "."
	}
	return source.Project{Runtime: m.Runtime.Name, Options: m.Runtime.Options, Root: directory, Directory: directory, Entry: entry}
}
