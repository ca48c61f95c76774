package providers

import (
	"context"
	"errors"
)

// checkConfig accepts the inputs of a provider that cannot check its configuration (protocol.md 3.3).
func checkConfig(ctx context.Context, p Provider, req CheckRequest) (CheckResponse, error) {
	answer, err := p.CheckConfig(ctx, req)
	if errors.Is(err, ErrUnsupported) {
		return CheckResponse{Inputs: req.News}, nil
	}
	return answer, err
}

// diffConfig returns "unknown" for a provider that cannot compare its configurations (protocol.md 3.3).
func diffConfig(ctx context.Context, p Provider, req DiffRequest) (DiffResponse, error) {
	answer, err := p.DiffConfig(ctx, req)
	if errors.Is(err, ErrUnsupported) {
		return DiffResponse{Changes: DiffUnknown}, nil
	}
	return answer, err
}

// The packages of dynamic providers, and the plugins that run them. The SDKs of Node.js and Python contain them.
const (
	DynamicNodejs = "pulumi-nodejs"
	DynamicPython = "pulumi-python"
)

// IsDynamic reports whether a package, or the plugin of that name, has dynamic providers.
func IsDynamic(name string) bool { return name == DynamicNodejs || name == DynamicPython }
