package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
)

// Mapper maps the names of other tools' providers to those of packages. It gets the mappings from the providers themselves: first from the
// most likely one, then from all others ([protocol.md 5.3]). It is served to converters.
//
// [protocol.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#53-schemas-and-mappings
type Mapper struct {
	codegen.UnimplementedMapperServer

	// Tool is the default tool of requests that name none: "terraform".
	Tool string
	// Given are the user's own mappings, by the name of the other tool's provider. They take precedence.
	Given map[string][]byte
	// Host starts providers. It may install them.
	Host providers.Host
	// Installed returns the names of the installed providers; nil if none are known.
	Installed func() []string
	// Warn is called once for each provider that fails; nil discards.
	Warn func(message string)

	// A provider may request mappings while a call to it runs, so a request waits only for an equal one.
	answers await.Flight[string, []byte]
	offers  await.Flight[string, offer]
	// broken are the providers whose calls failed when they were not the likely one. They are not called again.
	broken sync.Map // by offerKey
}

// offer is the result of the first call to a provider: the names of its mappings, and one mapping.
type offer struct {
	names []string
	first providers.MappingResponse // of the requested name; of a provider that lists no names, its only one
}

// GetMapping returns a mapping, without data if no provider has one.
func (m *Mapper) GetMapping(ctx context.Context, req *codegen.GetMappingRequest) (*codegen.GetMappingResponse, error) {
	if data, ok := m.Given[req.GetProvider()]; ok {
		return &codegen.GetMappingResponse{Data: data}, nil
	}
	tool := cmp.Or(req.GetEcosystem(), m.Tool)
	likely := likelyProvider(req)
	data, err := m.answers.Do(ctx, req.GetProvider()+" "+offerKey(tool, likely), func() ([]byte, error) {
		return m.find(ctx, tool, req.GetProvider(), likely)
	})
	if err != nil {
		return nil, err
	}
	return &codegen.GetMappingResponse{Data: data}, nil
}

// likelyProvider returns the provider that is most likely to have a mapping: the one that the converter names, else the one of the same
// name.
func likelyProvider(req *codegen.GetMappingRequest) providers.Spec {
	spec := providers.Spec{Package: cmp.Or(req.GetPulumiProvider(), req.GetProvider())}
	if p := req.GetParameterizationHint(); p != nil && req.GetPulumiProvider() != "" {
		spec = providers.Spec{
			Package: p.GetName(), Version: p.GetVersion(),
			Parameterization: &providers.Parameterization{Plugin: req.GetPulumiProvider(), Value: p.GetValue()},
		}
	}
	return spec
}

// find queries one provider after the other. If the likely one cannot be started, that is only a warning: another may have the mapping.
func (m *Mapper) find(ctx context.Context, tool, name string, likely providers.Spec) ([]byte, error) {
	candidates := []providers.Spec{likely}
	for _, installed := range m.installed() {
		other := providers.Spec{Package: installed}
		_, broken := m.broken.Load(offerKey(tool, other))
		if !broken && (installed != likely.Package || likely.Parameterization != nil) {
			candidates = append(candidates, other)
		}
	}
	for i, spec := range candidates {
		data, err := m.ask(ctx, tool, name, spec)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		switch {
		case len(data) > 0 && err == nil:
			return data, nil
		case err != nil && i == 0:
			return nil, fmt.Errorf("ask the provider %s for its %s mapping of %q: %w", spec.Package, tool, name, err)
		case err != nil:
			if _, before := m.broken.LoadOrStore(offerKey(tool, spec), true); !before {
				m.leftOut(tool, spec, err)
			}
		}
	}
	return nil, nil
}

// installed returns the sorted names of the installed providers.
func (m *Mapper) installed() []string {
	if m.Installed == nil {
		return nil
	}
	return slices.Sorted(slices.Values(m.Installed()))
}

// ask queries one provider. It returns nil if the provider has no such mapping or cannot be started.
func (m *Mapper) ask(ctx context.Context, tool, name string, spec providers.Spec) ([]byte, error) {
	known, err := m.offers.Do(ctx, offerKey(tool, spec), func() (offer, error) { return m.askFirst(ctx, tool, name, spec) })
	switch {
	case err != nil:
		return nil, err
	case known.first.Provider == name:
		return known.first.Data, nil
	case !slices.Contains(known.names, name):
		return nil, nil
	}
	p, err := m.Host.Load(ctx, spec)
	if err != nil {
		return nil, err
	}
	answer, err := mappingOf(ctx, p, tool, name)
	return answer.Data, errors.Join(err, p.Close())
}

// askFirst lists the mappings of a provider. One that cannot be started has none.
func (m *Mapper) askFirst(ctx context.Context, tool, name string, spec providers.Spec) (o offer, err error) {
	p, err := m.Host.Load(ctx, spec)
	if cause := context.Cause(ctx); cause != nil {
		return offer{}, cause
	}
	if err != nil {
		m.leftOut(tool, spec, err)
		return offer{}, nil
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if o.names, err = p.Mappings(ctx, tool); err != nil {
		return o, err
	}
	switch {
	case len(o.names) == 0:
		o.first, err = p.Mapping(ctx, providers.MappingRequest{Key: tool})
	case slices.Contains(o.names, name):
		o.first, err = mappingOf(ctx, p, tool, name)
	}
	return o, err
}

// mappingOf gets a mapping that the provider has listed.
func mappingOf(ctx context.Context, p providers.Provider, tool, name string) (providers.MappingResponse, error) {
	answer, err := p.Mapping(ctx, providers.MappingRequest{Key: tool, Provider: name})
	if err == nil && answer.Provider != name {
		err = fmt.Errorf("it answers with that of %q; this is a bug in the provider", answer.Provider)
	}
	return answer, err
}

// leftOut warns of a provider whose mappings cannot be read.
func (m *Mapper) leftOut(tool string, spec providers.Spec, err error) {
	if m.Warn != nil {
		m.Warn(fmt.Sprintf("cannot get the mapping of %[2]s names from provider %[1]s: %[3]v", spec.Package, tool, err))
	}
}

// offerKey identifies a provider and a tool.
func offerKey(tool string, spec providers.Spec) string {
	parts := []string{tool, spec.Package, spec.Version}
	if p := spec.Parameterization; p != nil {
		parts = append(parts, p.Plugin, string(p.Value))
	}
	return fmt.Sprintf("%q", parts)
}
