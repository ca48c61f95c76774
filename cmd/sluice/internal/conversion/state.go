package conversion

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/convert"
)

// Encryption returns the encrypter for secrets of a stack. It is called only if there are properties, which may be secret.
type Encryption func(context.Context) (property.Encrypter, error)

// State converts a state of another tool to a list of resources to import. args are for the converter.
func State(
	ctx context.Context, t *terminal.Terminal, tool string, args []string, encryption Encryption, o host.PluginOptions,
) (*importfile.File, error) {
	ctx, stop := interruptible(ctx)
	defer stop()
	file, err := convertState(ctx, t, tool, args, encryption, o)
	if err != nil && ctx.Err() != nil {
		return nil, exit.Cancelledf("interrupted; nothing has been imported")
	}
	return file, err
}

func convertState(
	ctx context.Context, t *terminal.Terminal, tool string, args []string, encryption Encryption, o host.PluginOptions,
) (*importfile.File, error) {
	c, err := open(ctx, t, tool, nil, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // an error of an ending plugin changes nothing
	resources, said, err := c.State(ctx, args)
	if err != nil {
		return nil, err
	}
	if !show(t, said) {
		return nil, fmt.Errorf("the state could not be converted: %w", errReported)
	}
	if len(resources) == 0 {
		return nil, fmt.Errorf("nothing to import: the converter %s found no resources (its arguments are %q)", tool, strings.Join(args, " "))
	}
	file := &importfile.File{}
	for _, r := range resources {
		q, err := entry(ctx, r, encryption)
		if err != nil {
			return nil, fmt.Errorf("the resource %q of the converter %s: %w", r.Name, tool, err)
		}
		file.Resources = append(file.Resources, q)
	}
	return file, nil
}

// entry returns a converted resource as an entry of an import file.
func entry(ctx context.Context, r convert.Resource, encryption Encryption) (importfile.Resource, error) {
	q := importfile.Resource{
		Type: r.Type, Name: r.Name, LogicalName: r.LogicalName, ID: r.ID, Version: r.Version, PluginDownloadURL: r.DownloadURL,
		Component: r.Component, Remote: r.Remote && r.Component, Parent: r.Parent, Provider: r.Provider, Properties: r.Properties,
	}
	if p := r.Parameterization; p != nil {
		q.Parameterization = &importfile.Parameterization{PluginName: p.Name, PluginVersion: p.Version, Value: p.Value}
	}
	if p := r.Extension; p != nil {
		q.Extension = &importfile.Extension{Name: p.Name, Version: p.Version, Value: p.Value}
	}
	var err error
	if q.Inputs, err = encoded(ctx, r.Inputs, encryption); err != nil {
		return q, err
	}
	q.Outputs, err = encoded(ctx, r.Outputs, encryption)
	return q, err
}

// encoded returns properties in the form of state files; nil for none.
func encoded(ctx context.Context, m *property.Map, encryption Encryption) (json.RawMessage, error) {
	if m == nil {
		return nil, nil
	}
	encrypt, err := encryption(ctx)
	if err != nil {
		return nil, err
	}
	return property.EncodeState(ctx, *m, property.StateOptions{Secrets: property.SecretsEncrypted, Encrypter: encrypt})
}
