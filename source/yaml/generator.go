package yaml

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
)

// Generator writes what YAML programs need of a package: a lock file that says which plugin serves it (protocol.md 11.10).
type Generator struct{}

var _ source.Generator = Generator{}

// Generate writes the lock file.
func (Generator) Generate(_ context.Context, sdk source.SDK, _ string) ([]source.Remark, error) {
	s, err := source.ReadPackageSchema(sdk.Schema)
	if err != nil {
		return nil, err
	}
	text, err := packages.Lock(s.Package())
	if err != nil {
		return nil, err
	}
	name := s.Name
	if s.Version != "" {
		name += "-" + s.Version
	}
	return nil, os.WriteFile(filepath.Join(sdk.Directory, name+".yaml"), text, 0o644)
}

// Link does nothing: lock files below sdks/ are found.
func (Generator) Link(context.Context, source.Project, []source.LinkedSDK, string) (string, error) {
	return "", nil
}
