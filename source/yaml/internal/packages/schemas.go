package packages

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/stages"
)

// Schemas requests the schemas of packages, each once for the life of the program. It is safe for many goroutines.
type Schemas struct {
	host  providers.Host
	known await.Flight[schemaKey, *schema.Package]
}

type schemaKey struct{ name, version, url, parameter string }

// NewSchemas returns an empty set of schemas. The host starts the providers; if it is nil, packages are unknown.
func NewSchemas(host providers.Host) *Schemas {
	return &Schemas{host: host}
}

// Of returns the schema of a package, which it requests if necessary. It does not keep errors.
func (s *Schemas) Of(ctx context.Context, p stages.Package) (*schema.Package, error) {
	if p.Name == "pulumi" {
		return schema.Parse(p.Name, loader.Engine)
	}
	if s.host == nil {
		return schema.Unknown(Namespace(p)), nil
	}
	key := schemaKey{name: p.Name, version: p.Version, url: p.DownloadURL}
	for _, q := range []*stages.Parameterization{p.Parameterization, p.Extension} {
		if q != nil {
			key.parameter += q.Name + " " + q.Version + " " + string(q.Value)
		}
	}
	return s.known.Do(ctx, key, func() (*schema.Package, error) { return s.ask(ctx, p) })
}

// ask requests the schema. If the provider has none, the package is unknown.
func (s *Schemas) ask(ctx context.Context, p stages.Package) (*schema.Package, error) {
	spec := p.Spec(Namespace(p))
	var extension *providers.ParameterizeRequest
	if q := p.Extension; q != nil {
		extension = &providers.ParameterizeRequest{Name: q.Name, Version: q.Version, Value: q.Value}
	}
	text, err := providers.Schema(ctx, s.host, spec, extension)
	if errors.Is(err, providers.ErrUnsupported) {
		return schema.Unknown(Namespace(p)), nil
	}
	if err != nil {
		return nil, err
	}
	return schema.Parse(Namespace(p), text)
}
