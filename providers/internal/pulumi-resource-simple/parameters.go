package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/sluice-iac/sluice/providers"
)

// parameterized is the package that the process serves instead of "simple".
type parameterized struct {
	name, version string
	value         []byte
	extends       bool
}

// Parameterize makes a package from a value, or from the arguments NAME [VERSION [TEXT]], where "extend" before them extends the
// package "simple". The arguments become the value, and the value defines the package.
func (p *provider) Parameterize(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	is := parameterized{name: req.Name, version: req.Version, value: req.Value}
	args := strings.Fields(string(req.Value))
	if req.Args != nil {
		args = req.Args
		is = parameterized{version: "2.0.0", value: []byte(strings.Join(args, " "))}
	}
	if len(args) > 0 && args[0] == "extend" {
		is.extends, args = true, args[1:]
	}
	if req.Args != nil {
		if len(args) == 0 {
			return providers.ParameterizeResponse{}, errors.New("write the name of a package")
		}
		is.name = args[0]
		if len(args) > 1 {
			is.version = args[1]
		}
	}
	p.serves.Store(&is)
	return providers.ParameterizeResponse{Name: is.name, Version: is.version}, nil
}

// Schema describes the package that the process serves.
func (p *provider) Schema(_ context.Context, req providers.SchemaRequest) (string, error) {
	if path := os.Getenv("SIMPLE_SCHEMA"); path != "" {
		text, err := os.ReadFile(path)
		return string(text), err
	}
	is := p.serves.Load()
	if is == nil {
		is = &parameterized{name: "simple", version: version}
	} else if req.SubpackageName != is.name || req.SubpackageVersion != is.version {
		return "", errors.New("the process serves the package " + is.name + " " + is.version)
	}
	token := is.name + ":index:Thing"
	if is.extends {
		token = "simple:index:Extended" // an extension adds to the package of its plugin
	}
	schema := map[string]any{"name": is.name, "version": is.version}
	if is.value != nil { // the package "simple" has every type
		properties := map[string]any{"text": map[string]string{"type": "string"}}
		schema["resources"] = map[string]any{token: map[string]any{"properties": properties, "inputProperties": properties}}
	}
	base := map[string]any{"name": "simple", "version": version}
	switch {
	case is.value == nil:
	case is.extends:
		schema["extensionParameterization"] = map[string]any{"baseProvider": base, "parameter": is.value}
	default:
		schema["parameterization"] = map[string]any{"baseProvider": base, "parameter": is.value}
	}
	text, err := json.Marshal(schema)
	return string(text), err
}

// Mappings names two providers of the tool "terraform".
func (p *provider) Mappings(_ context.Context, key string) ([]string, error) {
	if key != "terraform" {
		return nil, nil
	}
	return []string{"simple", "other"}, nil
}

// Mapping returns a mapping with the name of its provider.
func (p *provider) Mapping(_ context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	if req.Key != "terraform" {
		return providers.MappingResponse{}, nil
	}
	return providers.MappingResponse{Provider: req.Provider, Data: []byte("mapping of " + req.Provider + "\n")}, nil
}
