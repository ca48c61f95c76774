package packages

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Masterminds/semver/v3"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/stages"
)

// lockFile is a file below sdks/ with the plugin of a package.
type lockFile struct {
	Declaration      int            `yaml:"packageDeclarationVersion"` // 1
	Name             string         `yaml:"name"`
	Version          string         `yaml:"version,omitempty"`
	DownloadURL      string         `yaml:"downloadUrl,omitempty"`
	Parameterization *lockParameter `yaml:"parameterization,omitempty"`
	Extension        *lockParameter `yaml:"extension,omitempty"`
}

type lockParameter struct {
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
	Value   string `yaml:"value"` // base64
}

// errTwice is the error of a package that extends a parameterized one: a lock file has no place for that.
var errTwice = errors.New("it has both a parameterization and an extension")

// Lock returns the lock file of a package.
func Lock(pkg stages.Package) ([]byte, error) {
	if pkg.Parameterization != nil && pkg.Extension != nil {
		return nil, errTwice
	}
	parameter := func(p *stages.Parameterization) *lockParameter {
		if p == nil {
			return nil
		}
		return &lockParameter{Name: p.Name, Version: p.Version, Value: base64.StdEncoding.EncodeToString(p.Value)}
	}
	return yamlv3.Marshal(lockFile{
		Declaration: 1, Name: pkg.Name, Version: pkg.Version, DownloadURL: pkg.DownloadURL,
		Parameterization: parameter(pkg.Parameterization), Extension: parameter(pkg.Extension),
	})
}

// Locked reads the lock files of a program, in the order of their paths. It skips files that are not lock files.
func Locked(directory string) ([]stages.Package, error) {
	var list []stages.Package
	err := filepath.WalkDir(filepath.Join(directory, "sdks"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		raw := map[string]any{}
		if yamlv3.Unmarshal(b, &raw) != nil || raw["packageDeclarationVersion"] != 1 {
			return nil
		}
		pkg, err := parseLock(b)
		if err != nil {
			return fmt.Errorf("the package declaration %s: %w", path, err)
		}
		list = append(list, pkg)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

func parseLock(text []byte) (stages.Package, error) {
	var f lockFile
	if err := yamlv3.Unmarshal(text, &f); err != nil {
		return stages.Package{}, err
	}
	switch {
	case f.Name == "":
		return stages.Package{}, errors.New("it has no name")
	case f.Parameterization != nil && f.Extension != nil:
		return stages.Package{}, errTwice
	}
	pkg := stages.Package{
		Name: f.Name, Version: plainVersion(f.Version), DownloadURL: f.DownloadURL, Exact: f.Version != "" || f.DownloadURL != "",
	}
	var err error
	if pkg.Parameterization, err = f.Parameterization.parameterization("parameterization"); err != nil {
		return stages.Package{}, err
	}
	if pkg.Extension, err = f.Extension.parameterization("extension"); err != nil {
		return stages.Package{}, err
	}
	return pkg, pkg.CheckNames()
}

func (p *lockParameter) parameterization(what string) (*stages.Parameterization, error) {
	if p == nil {
		return nil, nil
	}
	if p.Name == "" || p.Version == "" {
		return nil, fmt.Errorf("its %s has no name or no version", what)
	}
	value, err := base64.StdEncoding.DecodeString(p.Value)
	if err != nil {
		return nil, fmt.Errorf("the value of its %s is not base64: %w", what, err)
	}
	return &stages.Parameterization{Name: p.Name, Version: plainVersion(p.Version), Value: value}, nil
}

// plainVersion returns a version without a leading "v". It returns anything else unchanged, to be reported where it is used.
func plainVersion(text string) string {
	if v, err := semver.NewVersion(text); err == nil {
		return v.String()
	}
	return text
}
