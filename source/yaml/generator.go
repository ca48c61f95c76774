package yaml

import (
	"context"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
)

// Generator writes the lock file of a package for YAML programs, which names the plugin that serves it (protocol.md 11.10).
type Generator struct{}

var _ tooling.Generator = Generator{}

// Generate writes the lock file.
func (Generator) Generate(_ context.Context, sdk tooling.SDK, _ string) ([]tooling.Remark, error) {
	s, err := tooling.ReadPackageSchema(sdk.Schema)
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

// Link does nothing: programs read the lock files below sdks/.
func (Generator) Link(context.Context, source.Project, []tooling.LinkedSDK, string) (string, error) {
	return "", nil
}
