package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/providers"
)

// description is the part of a plugin that describes packages: their schemas, their mappings, and those that it makes from parameters.
type description struct{ remote *remote }

// parameterize makes the plugin serve another package. The plugin must confirm its name, or return it if the plugin makes the
// package from arguments.
func (d description) parameterize(
	ctx context.Context, req providers.ParameterizeRequest,
) (providers.ParameterizeResponse, error) {
	s, msg := subject{method: "parameterize", token: req.Name}, &pulumirpc.ParameterizeRequest{}
	if req.Args != nil {
		s.token = d.remote.name
		msg.Parameters = &pulumirpc.ParameterizeRequest_Args{Args: &pulumirpc.ParameterizeRequest_ParametersArgs{Args: req.Args}}
	} else {
		msg.Parameters = &pulumirpc.ParameterizeRequest_Value{Value: &pulumirpc.ParameterizeRequest_ParametersValue{
			Name: req.Name, Version: req.Version, Value: req.Value,
		}}
	}
	answer, err := roundTrip(ctx, d.remote, s, d.remote.rpc.Parameterize, msg)
	switch {
	case err != nil && req.Args != nil:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize plugin %s with %q: %w", d.remote.name, strings.Join(req.Args, " "), err)
	case err != nil:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize plugin %s as %q: %w", d.remote.name, req.Name, err)
	case req.Args != nil && answer.GetName() == "":
		return providers.ParameterizeResponse{}, d.remote.fault(s, "a package that has no name")
	case req.Args == nil && answer.GetName() != req.Name:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize response name %q does not match expected package %q",
			answer.GetName(), req.Name)
	}
	return providers.ParameterizeResponse{Name: answer.GetName(), Version: answer.GetVersion()}, nil
}

// schema returns the JSON schema of the package.
func (d description) schema(ctx context.Context, pkg string, req providers.SchemaRequest) (string, error) {
	s := subject{method: "schema", token: pkg}
	answer, err := roundTrip(ctx, d.remote, s, d.remote.rpc.GetSchema, &pulumirpc.GetSchemaRequest{
		SubpackageName: req.SubpackageName, SubpackageVersion: req.SubpackageVersion,
	})
	if err != nil {
		return "", err
	}
	if err := checkSchema(answer.GetSchema()); err != nil {
		return "", d.remote.fault(s, "what is not the schema of a package: %w", err)
	}
	return answer.GetSchema(), nil
}

// checkSchema checks that a text is JSON with the sections of a schema. A provider that describes nothing has none.
func checkSchema(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	type skipped struct{}
	var sections struct {
		Name, Version               string
		Provider                    skipped
		Resources, Functions, Types map[string]skipped
	}
	err := json.Unmarshal([]byte(text), &sections)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return fmt.Errorf("%q is of the wrong kind (%s)", strings.ToLower(other.Field), other.Value)
	}
	return err
}

// mapping returns a mapping. A plugin without this call has none (protocol.md 3.12).
func (d description) mapping(ctx context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	s := subject{method: "mapping", token: req.Key}
	answer, err := roundTrip(ctx, d.remote, s, d.remote.rpc.GetMapping, &pulumirpc.GetMappingRequest{Key: req.Key, Provider: req.Provider})
	if errors.Is(err, providers.ErrUnsupported) {
		return providers.MappingResponse{}, nil
	}
	return providers.MappingResponse{Provider: answer.GetProvider(), Data: answer.GetData()}, err
}

// mappings returns the names of the providers with mappings. A plugin without this call has none.
func (d description) mappings(ctx context.Context, key string) ([]string, error) {
	s := subject{method: "mappings", token: key}
	answer, err := roundTrip(ctx, d.remote, s, d.remote.rpc.GetMappings, &pulumirpc.GetMappingsRequest{Key: key})
	if errors.Is(err, providers.ErrUnsupported) {
		return nil, nil
	}
	return answer.GetProviders(), err
}

// parameterizeAs makes the plugin serve the package of spec if that is not its own (protocol.md 1.12).
func parameterizeAs(ctx context.Context, c *client, spec providers.Spec) error {
	p := spec.Parameterization
	if p == nil {
		return nil
	}
	_, err := c.Parameterize(ctx, providers.ParameterizeRequest{Name: spec.Package, Version: spec.Version, Value: p.Value})
	return err
}
