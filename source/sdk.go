package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Generator generates SDKs of packages for one language, and makes programs use them.
type Generator interface {
	// Generate writes the SDK of a package. loader is the address of the Loader service. The remarks are about the schema; if one of
	// them is an error, there is no SDK.
	Generate(ctx context.Context, sdk SDK, loader string) ([]Remark, error)
	// Link makes a program use SDKs, and returns what its author has to do to import them. It installs nothing.
	Link(ctx context.Context, p Project, list []LinkedSDK, loader string) (instructions string, err error)
}

// ErrNoGenerator is the error of a [Generator] that cannot do what it is asked to.
var ErrNoGenerator = errors.New("the language plugin cannot generate SDKs")

// SDK is what to generate.
type SDK struct {
	Directory string // where it is written: empty, absolute
	Schema    []byte // of the package, as JSON
	// Local is true for an SDK that is used where it is, and false for one that will be published.
	Local bool
	// Extra are files to put into it, by their path in the SDK.
	Extra map[string][]byte
}

// LinkedSDK is an SDK that a program is to use.
type LinkedSDK struct {
	Directory string // relative to the root of the project
	Package   stages.Package
}

// Remark is something that a generator says about a schema.
type Remark struct {
	Text    string
	IsError bool
}

// PackageSchema are those parts of a package's schema that say what the package is.
type PackageSchema struct {
	Name        string
	Version     string
	Namespace   string
	DisplayName string
	DownloadURL string `json:"pluginDownloadURL"`

	Parameterization *struct {
		BaseProvider struct{ Name, Version string }
		Parameter    []byte
	}
	ExtensionParameterization *struct {
		BaseProvider struct {
			Name, Version    string
			Parameterization *struct {
				BasePlugin struct{ Name, Version string }
				Parameter  []byte
			}
		}
		Parameter []byte
	}
}

// ReadPackageSchema reads a schema, of which it looks at nothing but those parts.
func ReadPackageSchema(text []byte) (PackageSchema, error) {
	var s PackageSchema
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("it is not the schema of a package: %w", err)
	}
	if s.Name == "" {
		return s, errors.New(`it is not the schema of a package: it has no "name"`)
	}
	if err := urn.CheckPackageName("package", s.Name); err != nil {
		return s, err
	}
	if s.Version != "" {
		v, err := semver.NewVersion(s.Version)
		if err != nil {
			return s, fmt.Errorf("its version %q is none: it must look like 1.2.3", s.Version)
		}
		s.Version = v.String()
	}
	if s.Parameterization != nil && s.ExtensionParameterization != nil {
		return s, errors.New("it has both a parameterization and an extensionParameterization, of which it can have one")
	}
	return s, s.Package().CheckNames()
}

// Package returns the package as programs name it to the engine.
func (s PackageSchema) Package() stages.Package {
	own := func(value []byte) *stages.Parameterization {
		return &stages.Parameterization{Name: s.Name, Version: cmp.Or(s.Version, "0.0.0"), Value: value}
	}
	pkg := stages.Package{Name: s.Name, Version: s.Version, DownloadURL: s.DownloadURL}
	if p := s.Parameterization; p != nil {
		pkg.Name, pkg.Version = p.BaseProvider.Name, p.BaseProvider.Version
		pkg.Parameterization = own(p.Parameter)
	}
	if p := s.ExtensionParameterization; p != nil {
		pkg.Name, pkg.Version = p.BaseProvider.Name, p.BaseProvider.Version
		if b := p.BaseProvider.Parameterization; b != nil {
			pkg.Parameterization = &stages.Parameterization{Name: p.BaseProvider.Name, Version: p.BaseProvider.Version, Value: b.Parameter}
			pkg.Name, pkg.Version = b.BasePlugin.Name, b.BasePlugin.Version
		}
		pkg.Extension = own(p.Parameter)
	}
	return pkg
}

// Title is what messages call the package: "random 4.0.0".
func (s PackageSchema) Title() string {
	name := cmp.Or(s.DisplayName, s.Name)
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	if s.Version != "" {
		name += " " + s.Version
	}
	return name
}

// Folder is the name of the folder for the package's SDK.
func (s PackageSchema) Folder() string {
	if s.Namespace != "" && urn.CheckPackageName("namespace", s.Namespace) == nil {
		return s.Namespace + "-" + s.Name
	}
	return s.Name
}
