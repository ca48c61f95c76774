package convert_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source/convert"
)

// cloud is a host of providers, by their packages. It counts the starts of each.
type cloud struct {
	started map[string]int
	known   map[string]*providertest.Fake
	specs   []providers.Spec
}

func (c *cloud) Load(_ context.Context, spec providers.Spec) (providers.Provider, error) {
	c.started[spec.Package]++
	c.specs = append(c.specs, spec)
	if p := c.known[spec.Package]; p != nil {
		return p, nil
	}
	return nil, errors.New("there is no plugin " + spec.Package)
}

// knows is a provider with mappings for providers of a tool.
func knows(pkg, tool string, names ...string) *providertest.Fake {
	p := providertest.NewFake(pkg)
	p.OnMappings = func(_ context.Context, key string) ([]string, error) {
		if key != tool {
			return nil, nil
		}
		return names, nil
	}
	p.OnMapping = func(_ context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
		return providers.MappingResponse{Provider: req.Provider, Data: []byte(pkg + " knows " + req.Provider)}, nil
	}
	return p
}

// only is an old provider that lists no names and has one mapping.
func only(pkg, name string) *providertest.Fake {
	p := providertest.NewFake(pkg)
	p.OnMapping = func(_ context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
		if req.Provider != "" {
			return providers.MappingResponse{}, errors.New("it has one mapping")
		}
		return providers.MappingResponse{Provider: name, Data: []byte(pkg + " has one for " + name)}, nil
	}
	return p
}

func newMapper(known ...*providertest.Fake) (*convert.Mapper, *cloud, *[]string) {
	c := &cloud{started: map[string]int{}, known: map[string]*providertest.Fake{}}
	warned := &[]string{}
	m := &convert.Mapper{Tool: "terraform", Host: c, Warn: func(text string) { *warned = append(*warned, text) }}
	var installed []string
	for _, p := range known {
		c.known[p.Package()] = p
		installed = append(installed, p.Package())
	}
	m.Installed = func() []string { return installed }
	return m, c, warned
}

func ask(t *testing.T, m *convert.Mapper, req *codegen.GetMappingRequest) string {
	t.Helper()
	answer, err := m.GetMapping(t.Context(), req)
	require.NoError(t, err)
	return string(answer.GetData())
}

func TestAMappingComesFromTheLikelyProviderFirst(t *testing.T) {
	m, c, warned := newMapper(knows("azure", "terraform", "azurerm", "aws"), knows("aws", "terraform", "aws"), only("old", "ancient"))
	require.Equal(t, "aws knows aws", ask(t, m, &codegen.GetMappingRequest{Provider: "aws"}))
	require.Equal(t, map[string]int{"aws": 1}, c.started)
	require.Equal(t, "azure knows azurerm", ask(t, m, &codegen.GetMappingRequest{Provider: "azurerm", PulumiProvider: "azure"}))
	require.Equal(t, "azure knows aws", ask(t, m, &codegen.GetMappingRequest{Provider: "aws", PulumiProvider: "azure"}))
	require.Equal(t, "old has one for ancient", ask(t, m, &codegen.GetMappingRequest{Provider: "ancient", PulumiProvider: "old"}))
	require.Empty(t, *warned)
}

func TestOthersAreAskedWhereTheLikelyProviderIsMissing(t *testing.T) {
	m, c, warned := newMapper(only("old", "ancient"), knows("azure", "terraform", "azurerm"), knows("other", "bicep", "azurerm"))
	require.Equal(t, "azure knows azurerm", ask(t, m, &codegen.GetMappingRequest{Provider: "azurerm"}))
	require.Len(t, *warned, 1)
	require.Contains(t, (*warned)[0], "there is no plugin azurerm")
	require.Equal(t, "old has one for ancient", ask(t, m, &codegen.GetMappingRequest{Provider: "ancient"}))
	require.Empty(t, ask(t, m, &codegen.GetMappingRequest{Provider: "nobody"}))
	started := c.started["old"] + c.started["azure"] + c.started["other"]
	require.Empty(t, ask(t, m, &codegen.GetMappingRequest{Provider: "nobody"}))
	require.Equal(t, "azure knows azurerm", ask(t, m, &codegen.GetMappingRequest{Provider: "azurerm"}))
	require.Equal(t, started, c.started["old"]+c.started["azure"]+c.started["other"], "what was answered is asked again")
}

func TestABrokenProviderIsAnErrorOnlyIfItIsTheLikelyOne(t *testing.T) {
	broken := providertest.NewFake("broken")
	broken.OnMappings = func(context.Context, string) ([]string, error) { return nil, errors.New("out of order") }
	wrong := knows("wrong", "terraform", "wrong")
	wrong.OnMapping = func(context.Context, providers.MappingRequest) (providers.MappingResponse, error) {
		return providers.MappingResponse{Provider: "another", Data: []byte("x")}, nil
	}
	m, c, warned := newMapper(broken, wrong, knows("zoo", "terraform", "animals"))
	require.Equal(t, "zoo knows animals", ask(t, m, &codegen.GetMappingRequest{Provider: "animals"}))
	require.Len(t, *warned, 2) // the plugin animals is missing, and broken fails
	require.Contains(t, (*warned)[1], "out of order")
	require.Empty(t, ask(t, m, &codegen.GetMappingRequest{Provider: "plants", PulumiProvider: "zoo"}))
	require.Equal(t, 1, c.started["broken"])
	_, err := m.GetMapping(t.Context(), &codegen.GetMappingRequest{Provider: "wrong"})
	require.ErrorContains(t, err, `it answers with that of "another"`)
}

func TestMappingsOfTheUserWin(t *testing.T) {
	m, c, _ := newMapper(knows("aws", "terraform", "aws"))
	m.Given = map[string][]byte{"aws": []byte("mine")}
	require.Equal(t, "mine", ask(t, m, &codegen.GetMappingRequest{Provider: "aws"}))
	require.Empty(t, c.started)
}

func TestAConverterCanNameTheToolAndAParameter(t *testing.T) {
	m, c, _ := newMapper(knows("aws", "bicep", "aws"), knows("mine", "terraform", "mine"))
	req := &codegen.GetMappingRequest{Provider: "aws"}
	require.Empty(t, ask(t, m, req))
	req.Ecosystem = "bicep"
	require.Equal(t, "aws knows aws", ask(t, m, req))
	require.Equal(t, "mine knows mine", ask(t, m, &codegen.GetMappingRequest{Provider: "mine"}))
	require.Equal(t, "mine knows mine", ask(t, m, &codegen.GetMappingRequest{
		Provider: "mine", PulumiProvider: "terraform-provider",
		ParameterizationHint: &codegen.MapperParameterizationHint{Name: "mine", Value: []byte("v")},
	}))
	require.Equal(t, providers.Spec{
		Package:          "mine",
		Parameterization: &providers.Parameterization{Plugin: "terraform-provider", Value: []byte("v")},
	}, c.specs[len(c.specs)-1])
}

// A provider may request a mapping while a request to it runs.
func TestAProviderThatIsAskedMayAsk(t *testing.T) {
	bridge, aws := knows("bridge", "terraform", "bridge"), knows("aws", "terraform", "aws")
	m, c, warned := newMapper(bridge, aws)
	answer := bridge.OnMappings
	bridge.OnMappings = func(ctx context.Context, key string) ([]string, error) {
		require.Equal(t, "aws knows aws", ask(t, m, &codegen.GetMappingRequest{Provider: "aws"}))
		return answer(ctx, key)
	}
	require.Equal(t, "bridge knows bridge", ask(t, m, &codegen.GetMappingRequest{Provider: "bridge"}))
	require.Equal(t, map[string]int{"aws": 1, "bridge": 1}, c.started)
	require.Empty(t, *warned)
}
