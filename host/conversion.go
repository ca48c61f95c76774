package host

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
)

// ConverterOptions define how a converter plugin runs.
type ConverterOptions struct {
	// Plugins are the places of the converter, and of the providers whose mappings it uses.
	Plugins PluginOptions
	// Mappings take precedence over the mappings of providers. Their keys are names of the other tool's providers.
	Mappings map[string][]byte
	// Output receives the output of the converter, from several goroutines; nil discards.
	Output func(plugin.Line)
}

// Converter is a running converter plugin. It converts programs and states of another tool, one after the other, and may start and
// install the providers of the packages in them. Built-in providers have no mappings, so these come from plugins.
type Converter struct {
	*convert.Converter
	used []io.Closer // by it
}

// OpenConverter starts the converter plugin of a tool such as "terraform". The caller must Close it. The error is a
// *[plugin.MissingError] if there is none and none could be installed.
func OpenConverter(ctx context.Context, tool string, o ConverterOptions) (*Converter, error) {
	h := openWarning(ctx, o.Plugins)
	described := h.options
	asked := described
	asked.NoBuiltins = true
	mappings := NewPluginHost(asked)
	c := &Converter{used: []io.Closer{mappings, h}}
	mapper := &convert.Mapper{
		Tool: tool, Given: o.Mappings, Host: mappings, Installed: described.providers, Warn: described.Warn,
	}
	options := described.converting(h.Plugins)
	options.Mapper, options.Output = mapper, o.Output
	var err error
	if c.Converter, err = convert.Open(ctx, tool, options); err != nil {
		return nil, errors.Join(err, c.closeUsed())
	}
	return c, nil
}

// Close ends the converter and the providers that it has used.
func (c *Converter) Close() error {
	c.Converter.Close()
	return c.closeUsed()
}

func (c *Converter) closeUsed() error {
	var errs []error
	for _, u := range c.used {
		errs = append(errs, u.Close())
	}
	return errors.Join(errs...)
}

// GenerateProgram writes a program in the language of a runtime, with the language plugin. The error is a *[plugin.MissingError] if
// there is no such plugin and none could be installed: every language needs its own.
func GenerateProgram(ctx context.Context, runtime string, g convert.Generation, o PluginOptions) ([]tooling.Remark, error) {
	h := openWarning(ctx, o)
	list, err := convert.Generate(ctx, runtime, g, h.options.converting(h.Plugins))
	return list, errors.Join(err, h.Close())
}

// openWarning returns a host whose warnings and errors go to Warn of o: outside of operations nothing else shows them.
func openWarning(ctx context.Context, o PluginOptions) *Host {
	h := Open(ctx, o)
	h.Service.Attach(func(m stages.LogMessage) {
		if o.Warn != nil && (m.Severity == stages.Warning || m.Severity == stages.Error) {
			o.Warn(strings.TrimSpace(m.Message))
		}
	})
	return h
}
