package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// plainWire is the form of configuration for CheckConfig and DiffConfig: secrets unwrapped, references downgraded.
func plainWire(preview bool) property.WireOptions {
	return property.WireOptions{Unknowns: keptIf(preview)}
}

// CheckConfig makes the plugin check its configuration. A plugin without this call accepts everything (protocol.md 3.3).
func (c *client) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	s := subject{method: methodCheckConfig, urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.CheckRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type),
		Olds: e.encode(req.Olds, plainWire(req.AllowUnknowns)), News: e.encode(req.News, plainWire(req.AllowUnknowns)),
	}
	if e.err != nil {
		return providers.CheckResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.CheckConfig, msg)
	if c.isWithoutConfig(err) {
		return providers.CheckResponse{Inputs: req.News}, nil
	}
	if err != nil {
		return providers.CheckResponse{}, err
	}
	inputs, err := c.decode(s, answer.GetInputs(), incoming(req.AllowUnknowns))
	if err != nil {
		return providers.CheckResponse{}, err
	}
	// The request was plain, so even a plugin that keeps secrets has lost them.
	inputs = property.AnnotateSecrets(inputs, req.News)
	return providers.CheckResponse{Inputs: inputs, Failures: failures(answer.GetFailures())}, nil
}

// DiffConfig makes the plugin compare configurations. A plugin without this call leaves it to the engine.
func (c *client) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	s := subject{method: methodDiffConfig, urn: req.URN}
	e := c.encoder(s)
	plain := plainWire(req.AllowUnknowns)
	msg := &pulumirpc.DiffRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, IgnoreChanges: req.IgnoreChanges,
		Olds: e.encode(req.OldOutputs, plain), OldInputs: e.encode(req.OldInputs, plain), News: e.encode(req.NewInputs, plain),
	}
	if e.err != nil {
		return providers.DiffResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.DiffConfig, msg)
	if c.isWithoutConfig(err) {
		return providers.DiffResponse{Changes: providers.DiffUnknown}, nil
	}
	if err != nil {
		return providers.DiffResponse{}, err
	}
	return diffResponse(answer), nil
}

// isWithoutConfig reports whether err means that the plugin has no CheckConfig or DiffConfig. Two kinds of plugins have
// their own errors for that (protocol.md 3.3).
func (c *client) isWithoutConfig(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, providers.ErrUnsupported) {
		return true
	}
	st, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch c.plugin {
	case "pulumi-nodejs":
		return st.Code() == codes.Internal
	case "kubernetes":
		return st.Code() == codes.Unknown &&
			(strings.Contains(st.Message(), "Unimplemented") || strings.Contains(st.Message(), "cannot unmarshal string"))
	}
	return false
}

// Configure configures the plugin. Secrets and references are always sent typed: an old plugin reports only in the
// answer whether it supports them (protocol.md 3.3). Missing settings are a *providers.ConfigMissingError.
func (c *client) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	s := subject{method: methodConfigure, urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.ConfigureRequest{
		Args: e.encode(req.Inputs, property.WireOptions{
			Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true,
		}),
		AcceptSecrets: true, AcceptResources: true, SendsOldInputs: true, SendsOldInputsToDelete: true,
		Id: optional(req.ID), Urn: optional(string(req.URN)), Name: optional(req.Name), Type: optional(string(req.Type)),
	}
	//lint:ignore SA1019 older plugins know no other form
	msg.Variables = c.variables(e, req.Inputs)
	if e.err != nil {
		return e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Configure, msg)
	if err != nil {
		return configureError(c, err)
	}
	if f := *c.features.Load(); !f.handshaken {
		c.features.Store(&features{
			secrets: answer.GetAcceptSecrets(), resources: answer.GetAcceptResources(), outputs: answer.GetAcceptOutputs(),
			autonaming: answer.GetSupportsAutonamingConfiguration(), preview: answer.GetSupportsPreview(),
		})
	}
	return nil
}

// variables is the old form of the configuration: strings as they are, everything else as JSON.
func (c *client) variables(e *encoder, inputs property.Map) map[string]string {
	plain := e.encode(inputs.Without(providers.VersionKey), property.WireOptions{Unknowns: property.KeepUnknowns})
	out := make(map[string]string, len(plain.GetFields()))
	for key, v := range plain.GetFields() {
		out[c.pkg+":config:"+key] = textOf(v)
	}
	return out
}

// configureError reads missing settings of a package from an error of Configure.
func configureError(c *client, err error) error {
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	if st.Code() == codes.Unimplemented {
		title := c.plugin
		if c.process != nil {
			title = c.process.Title() // with its location
		}
		return fmt.Errorf("plugin %s is not a resource provider and cannot be configured: %w", title, err)
	}
	for _, d := range st.Details() {
		missing, ok := d.(*pulumirpc.ConfigureErrorMissingKeys)
		if !ok || len(missing.GetMissingKeys()) == 0 {
			continue
		}
		list := &providers.ConfigMissingError{Package: c.pkg}
		for _, k := range missing.GetMissingKeys() {
			list.Keys = append(list.Keys, providers.MissingKey{Name: k.GetName(), Description: k.GetDescription()})
		}
		return list
	}
	return err
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

// Parameterize makes the plugin serve another package. The plugin must confirm its name, or return it if the plugin makes the
// package from arguments.
func (c *client) Parameterize(
	ctx context.Context, req providers.ParameterizeRequest,
) (providers.ParameterizeResponse, error) {
	s, msg := subject{method: "parameterize", token: req.Name}, &pulumirpc.ParameterizeRequest{}
	if req.Args != nil {
		s.token = c.plugin
		msg.Parameters = &pulumirpc.ParameterizeRequest_Args{Args: &pulumirpc.ParameterizeRequest_ParametersArgs{Args: req.Args}}
	} else {
		msg.Parameters = &pulumirpc.ParameterizeRequest_Value{Value: &pulumirpc.ParameterizeRequest_ParametersValue{
			Name: req.Name, Version: req.Version, Value: req.Value,
		}}
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Parameterize, msg)
	switch {
	case err != nil && req.Args != nil:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize plugin %s with %q: %w", c.plugin, strings.Join(req.Args, " "), err)
	case err != nil:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize plugin %s as %q: %w", c.plugin, req.Name, err)
	case req.Args != nil && answer.GetName() == "":
		return providers.ParameterizeResponse{}, c.fault(s, "a package that has no name")
	case req.Args == nil && answer.GetName() != req.Name:
		return providers.ParameterizeResponse{}, fmt.Errorf("parameterize response name %q does not match expected package %q",
			answer.GetName(), req.Name)
	}
	return providers.ParameterizeResponse{Name: answer.GetName(), Version: answer.GetVersion()}, nil
}
