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

// Schema returns the JSON schema of the package.
func (c *client) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	s := subject{method: "schema", token: c.pkg}
	answer, err := roundTrip(ctx, c, s, c.rpc.GetSchema, &pulumirpc.GetSchemaRequest{
		SubpackageName: req.SubpackageName, SubpackageVersion: req.SubpackageVersion,
	})
	if err != nil {
		return "", err
	}
	if err := checkSchema(answer.GetSchema()); err != nil {
		return "", c.fault(s, "what is not the schema of a package: %w", err)
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

// Mapping returns a mapping. A plugin without this call has none (protocol.md 3.12).
func (c *client) Mapping(ctx context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	s := subject{method: "mapping", token: req.Key}
	answer, err := roundTrip(ctx, c, s, c.rpc.GetMapping, &pulumirpc.GetMappingRequest{Key: req.Key, Provider: req.Provider})
	if errors.Is(err, providers.ErrUnsupported) {
		return providers.MappingResponse{}, nil
	}
	return providers.MappingResponse{Provider: answer.GetProvider(), Data: answer.GetData()}, err
}

// Mappings returns the names of the providers with mappings. A plugin without this call has none.
func (c *client) Mappings(ctx context.Context, key string) ([]string, error) {
	s := subject{method: "mappings", token: key}
	answer, err := roundTrip(ctx, c, s, c.rpc.GetMappings, &pulumirpc.GetMappingsRequest{Key: key})
	if errors.Is(err, providers.ErrUnsupported) {
		return nil, nil
	}
	return answer.GetProviders(), err
}
