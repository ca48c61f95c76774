package yaml

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/stages"
)

// schemas asks providers what is in their packages, each once for the life of the program. It is safe for many goroutines.
type schemas struct {
	host  providers.Host
	known await.Flight[schemaKey, *schema.Package]
}

type schemaKey struct{ name, version, url, parameter string }

func newSchemas(host providers.Host) *schemas {
	return &schemas{host: host}
}

// of returns the schema of a package, which may have to be asked for. An error is not remembered.
func (s *schemas) of(ctx context.Context, p stages.Package) (*schema.Package, error) {
	if p.Name == "pulumi" {
		return builtin()
	}
	if s.host == nil {
		return schema.Unknown(namespaceOf(p)), nil
	}
	key := schemaKey{name: p.Name, version: p.Version, url: p.DownloadURL}
	for _, q := range []*stages.Parameterization{p.Parameterization, p.Extension} {
		if q != nil {
			key.parameter += q.Name + " " + q.Version + " " + string(q.Value)
		}
	}
	return s.known.Do(ctx, key, func() (*schema.Package, error) { return s.ask(ctx, p) })
}

// ask starts the provider, asks it, and ends it. A provider that has no schema leaves the package unknown.
func (s *schemas) ask(ctx context.Context, p stages.Package) (*schema.Package, error) {
	spec := providers.Spec{Package: p.Name, Version: p.Version, DownloadURL: p.DownloadURL, Checksums: p.Checksums}
	if q := p.Parameterization; q != nil {
		spec.Package, spec.Version = q.Name, q.Version
		spec.Parameterization = &providers.Parameterization{Plugin: p.Name, PluginVersion: p.Version, Value: q.Value}
	}
	provider, err := s.host.Load(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer func() { _ = provider.Close() }() // what it says while it ends changes nothing
	request := providers.SchemaRequest{}
	if q := p.Parameterization; q != nil {
		request = providers.SchemaRequest{SubpackageName: q.Name, SubpackageVersion: q.Version}
	}
	if q := p.Extension; q != nil {
		got, err := provider.Parameterize(ctx, providers.ParameterizeRequest{Name: q.Name, Version: q.Version, Value: q.Value})
		if err != nil {
			return nil, err
		}
		request = providers.SchemaRequest{SubpackageName: got.Name, SubpackageVersion: got.Version}
	}
	text, err := provider.Schema(ctx, request)
	if errors.Is(err, providers.ErrUnsupported) {
		return schema.Unknown(namespaceOf(p)), nil
	}
	if err != nil {
		return nil, err
	}
	return schema.Parse(namespaceOf(p), text)
}

// builtin is the schema of the engine's own package (protocol.md section 8).
func builtin() (*schema.Package, error) {
	return schema.Parse("pulumi", `{"resources": {
		"pulumi:pulumi:StackReference": {
			"inputProperties": {"name": {"type": "string"}},
			"properties": {"name": {"type": "string"}, "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
				"secretOutputNames": {"type": "array", "items": {"type": "string"}}}},
		"pulumi:index:Stash": {
			"inputProperties": {"input": {"$ref": "pulumi.json#/Any"}}, "requiredInputs": ["input"],
			"properties": {"input": {"$ref": "pulumi.json#/Any"}, "output": {"$ref": "pulumi.json#/Any"}}}},
		"functions": {"pulumi:pulumi:getResource": {}, "pulumi:pulumi:readStackOutputs": {}, "pulumi:pulumi:readStackResourceOutputs": {}}}`)
}
