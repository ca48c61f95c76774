package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"

	"github.com/sluice-iac/sluice/providers"
)

// Mapper says how the names of other tools' providers correspond to those of packages. It asks the providers themselves, first
// the one that is most likely to know and then all others (protocol.md 5.3). It is served to converters.
type Mapper struct {
	codegen.UnimplementedMapperServer

	// Tool is the tool whose providers are meant if a converter does not name one: "terraform".
	Tool string
	// Given are mappings that the user has, by the name of the other tool's provider. They take precedence.
	Given map[string][]byte
	// Host starts providers. It may install them.
	Host providers.Host
	// Installed are the names of the providers that are there.
	Installed []string
	// Warn is called for providers that cannot be asked, once for each; nil discards.
	Warn func(message string)

	mu      sync.Mutex // guards what follows; held while providers are asked, since many questions are about one of them
	answers map[string][]byte
	offers  map[string]offer
}

// offer is what one provider has mappings for.
type offer struct {
	names []string
	only  providers.MappingResponse // of a provider that names none
}

// GetMapping returns a mapping, without data if nobody has one.
func (m *Mapper) GetMapping(ctx context.Context, req *codegen.GetMappingRequest) (*codegen.GetMappingResponse, error) {
	if data, ok := m.Given[req.GetProvider()]; ok {
		return &codegen.GetMappingResponse{Data: data}, nil
	}
	tool := cmp.Or(newer(req).text(fieldEcosystem), m.Tool)
	likely := likelyProvider(req)
	key := req.GetProvider() + " " + offerKey(tool, likely)
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, known := m.answers[key]; known {
		return &codegen.GetMappingResponse{Data: data}, nil
	}
	data, err := m.find(ctx, tool, req.GetProvider(), likely)
	if err != nil {
		return nil, err
	}
	if m.answers == nil {
		m.answers = map[string][]byte{}
	}
	m.answers[key] = data
	return &codegen.GetMappingResponse{Data: data}, nil
}

// likelyProvider returns the provider that is most likely to have a mapping: the one that the converter names, else the one of
// the same name.
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

// find asks one provider after the other. That the likely one cannot be asked is only a warning: another may know.
func (m *Mapper) find(ctx context.Context, tool, name string, likely providers.Spec) ([]byte, error) {
	candidates := []providers.Spec{likely}
	for _, installed := range slices.Sorted(slices.Values(m.Installed)) {
		if installed != likely.Package || likely.Parameterization != nil {
			candidates = append(candidates, providers.Spec{Package: installed})
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
			m.leaveOut(tool, spec, err)
		}
	}
	return nil, nil
}

// ask asks one provider. It returns nil if that has no mapping, or cannot be started.
func (m *Mapper) ask(ctx context.Context, tool, name string, spec providers.Spec) (data []byte, err error) {
	known, asked := m.offers[offerKey(tool, spec)]
	if asked && !slices.Contains(known.names, name) {
		return known.mapping(name), nil
	}
	p, err := m.Host.Load(ctx, spec)
	if err != nil {
		if ctx.Err() == nil {
			m.leaveOut(tool, spec, err)
		}
		return nil, nil
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if !asked {
		if known, err = offerOf(ctx, p, tool); err != nil {
			return nil, err
		}
		m.keep(tool, spec, known)
	}
	if !slices.Contains(known.names, name) {
		return known.mapping(name), nil
	}
	answer, err := p.Mapping(ctx, providers.MappingRequest{Key: tool, Provider: name})
	if err == nil && answer.Provider != name {
		err = fmt.Errorf("it answers with that of %q; this is a bug in the provider", answer.Provider)
	}
	return answer.Data, err
}

// leaveOut warns of a provider that cannot be asked, which has no mappings from then on.
func (m *Mapper) leaveOut(tool string, spec providers.Spec, err error) {
	m.keep(tool, spec, offer{})
	if m.Warn != nil {
		m.Warn(fmt.Sprintf("the provider %s cannot be asked how names of %s correspond to its own: %v", spec.Package, tool, err))
	}
}

func (m *Mapper) keep(tool string, spec providers.Spec, o offer) {
	if m.offers == nil {
		m.offers = map[string]offer{}
	}
	m.offers[offerKey(tool, spec)] = o
}

// offerKey names a provider and a tool.
func offerKey(tool string, spec providers.Spec) string {
	parts := []string{tool, spec.Package, spec.Version}
	if p := spec.Parameterization; p != nil {
		parts = append(parts, p.Plugin, string(p.Value))
	}
	return fmt.Sprintf("%q", parts)
}

// offerOf asks a provider what it has mappings for.
func offerOf(ctx context.Context, p providers.Provider, tool string) (offer, error) {
	names, err := p.Mappings(ctx, tool)
	if err != nil || len(names) > 0 {
		return offer{names: names}, err
	}
	only, err := p.Mapping(ctx, providers.MappingRequest{Key: tool})
	return offer{only: only}, err
}

// mapping returns the mapping of a provider that names none, if it is the one that is asked for.
func (o offer) mapping(name string) []byte {
	if o.only.Provider != name {
		return nil
	}
	return o.only.Data
}
