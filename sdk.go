package sluice

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/yaml"
)

// SDKGenerator generates SDKs of packages for one language. Make one with [NewSDKGenerator].
type SDKGenerator struct {
	generator source.Generator
	host      *PluginHost
	loader    *loader.Server
}

// NewSDKGenerator returns what generates SDKs for a language: "nodejs", "python", "go", "java", "dotnet" and so on need their language
// plugin, "yaml" does not. known are schemas of packages that have no provider, as JSON. said gets what the language plugin
// prints; nil discards. Close must be called.
func NewSDKGenerator(ctx context.Context, language string, known [][]byte, o PluginOptions, said func(plugin.Line)) (*SDKGenerator, error) {
	options := loader.Options{Warn: o.Warn}
	for _, text := range known {
		s, err := source.ReadPackageSchema(text)
		if err != nil {
			return nil, err
		}
		options.Known = append(options.Known, loader.Known{Package: s.Name, Version: s.Version, Schema: string(text)})
	}
	generator, err := runtimes.ChooseGenerator(ctx, language, o.runtimes(), said)
	if err != nil {
		return nil, err
	}
	g := &SDKGenerator{generator: generator, host: NewPluginHost(o)}
	options.Providers = SchemaHost(g.host)
	g.loader = loader.NewServer(ctx, options)
	return g, nil
}

// Generate writes an SDK. The remarks are about its schema; if one of them is an error, there is no SDK.
func (g *SDKGenerator) Generate(ctx context.Context, sdk source.SDK) ([]source.Remark, error) {
	address, err := g.loader.Address()
	if err != nil {
		return nil, err
	}
	return g.generator.Generate(ctx, sdk, address)
}

// Link makes a program use SDKs, and returns what its author has to do to import them.
func (g *SDKGenerator) Link(ctx context.Context, p source.Project, list []source.LinkedSDK) (string, error) {
	address, err := g.loader.Address()
	if err != nil {
		return "", err
	}
	return g.generator.Link(ctx, p, list, address)
}

// Close ends what was started.
func (g *SDKGenerator) Close() error { return errors.Join(g.loader.Close(), g.host.Close()) }

// SchemaHost returns a host for [providers.Schema]: it starts plugins through next, and serves components that are written in YAML.
func SchemaHost(next providers.Host) providers.Host {
	return yaml.ComponentHost(next, yaml.ComponentOptions{})
}
