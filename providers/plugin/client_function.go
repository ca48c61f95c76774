package plugin

import (
	"context"
	"errors"
	"strconv"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Invoke calls a function of the plugin (protocol.md 3.9). If an argument was a secret and the plugin does not keep
// secrets, the whole result is secret (protocol.md 2.4).
func (c *client) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	s := subject{method: "invoke", token: req.Token}
	e := c.encoder(s)
	msg := &pulumirpc.InvokeRequest{
		Tok: req.Token, Args: e.encode(req.Args, c.outgoing(property.DropUnknowns)), Preview: req.Preview,
	}
	if e.err != nil {
		return providers.InvokeResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Invoke, msg)
	if err != nil {
		return providers.InvokeResponse{}, err
	}
	result, err := c.decode(s, answer.GetReturn(), incoming(false))
	if err != nil {
		return providers.InvokeResponse{}, err
	}
	if !c.features.Load().secrets && req.Args.HasSecrets() {
		result = result.SecretsAll()
	}
	return providers.InvokeResponse{Return: result, Failures: failures(answer.GetFailures())}, nil
}

// componentOutgoing and componentIncoming are for Construct and Call, which support output values (protocol.md 2.5).
func (c *client) componentOutgoing() property.WireOptions {
	o := c.outgoing(property.KeepUnknowns)
	if c.features.Load().outputs {
		o.Outputs = property.KeepOutputs
	}
	return o
}

// An answer may have unknowns outside of previews, too: a component has no values of children that are not created
// because the run is a refresh or has targets. These unknowns are dropped.
func componentIncoming(preview bool) property.WireOptions {
	o := incoming(preview)
	o.Outputs = property.KeepOutputs
	if !preview {
		o.Unknowns = property.DropUnknowns
	}
	return o
}

// Call calls a method of a resource (protocol.md 3.11).
func (c *client) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	s := subject{method: "call", token: req.Token, args: req.Args}
	e := c.encoder(s)
	msg := &pulumirpc.CallRequest{
		Tok: req.Token, Args: e.encode(req.Args, c.componentOutgoing()), StackTraceHandle: req.StackTraceHandle,
		Project: req.Deployment.Project, Stack: req.Deployment.Stack, Organization: req.Deployment.Organization,
		Config: req.Deployment.Config, ConfigSecretKeys: req.Deployment.ConfigSecretKeys, DryRun: req.Deployment.DryRun,
		Parallel: int32(req.Deployment.Parallel), MonitorEndpoint: e.monitor(req.Deployment), AcceptsOutputValues: true,
	}
	msg.ArgDependencies = make(map[string]*pulumirpc.CallRequest_ArgumentDependencies, len(req.ArgDependencies))
	for name, urns := range req.ArgDependencies {
		msg.ArgDependencies[name] = &pulumirpc.CallRequest_ArgumentDependencies{Urns: texts(urns)}
	}
	if e.err != nil {
		return providers.CallResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Call, msg)
	if err != nil {
		return providers.CallResponse{}, err
	}
	result, err := c.decode(s, answer.GetReturn(), componentIncoming(req.Deployment.DryRun))
	if err != nil {
		return providers.CallResponse{}, err
	}
	out := providers.CallResponse{Return: result, Failures: failures(answer.GetFailures())}
	for name, d := range answer.GetReturnDependencies() {
		if out.ReturnDependencies == nil {
			out.ReturnDependencies = map[string][]urn.URN{}
		}
		if out.ReturnDependencies[name], err = c.urns(s, d.GetUrns()); err != nil {
			return providers.CallResponse{}, err
		}
	}
	return out, nil
}

// Construct makes the plugin create a component (protocol.md 3.10).
func (c *client) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	s := subject{method: "construct", token: string(req.Type) + " " + strconv.Quote(req.Name), args: req.Inputs}
	if !c.features.Load().secrets {
		return providers.ConstructResponse{}, errors.New("plugins that can construct components must support secrets")
	}
	e := c.encoder(s)
	msg := c.constructRequest(e, req)
	if e.err != nil {
		return providers.ConstructResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Construct, msg)
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	u, err := urn.Parse(answer.GetUrn())
	if err != nil {
		return providers.ConstructResponse{}, c.malformed(s, "a component without a proper URN: %w", err)
	}
	state, err := c.decode(s, answer.GetState(), componentIncoming(req.Deployment.DryRun))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	out := providers.ConstructResponse{URN: u, Outputs: state}
	for name, d := range answer.GetStateDependencies() {
		if out.OutputDependency == nil {
			out.OutputDependency = map[string][]urn.URN{}
		}
		if out.OutputDependency[name], err = c.urns(s, d.GetUrns()); err != nil {
			return providers.ConstructResponse{}, err
		}
	}
	return out, nil
}

func (c *client) constructRequest(e *encoder, req providers.ConstructRequest) *pulumirpc.ConstructRequest {
	d := req.Deployment
	msg := &pulumirpc.ConstructRequest{
		Project: d.Project, Stack: d.Stack, Organization: d.Organization, Config: d.Config,
		ConfigSecretKeys: d.ConfigSecretKeys, DryRun: d.DryRun, Parallel: int32(d.Parallel), MonitorEndpoint: e.monitor(d),
		Type: string(req.Type), Name: req.Name, Parent: string(req.Parent),
		Inputs: e.encode(req.Inputs, c.componentOutgoing()), Providers: req.Providers, Dependencies: texts(req.Dependencies),
		Protect: req.Protect, Aliases: aliases(req.Aliases), AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		DeletedWith: string(req.DeletedWith), DeleteBeforeReplace: req.DeleteBeforeReplace, IgnoreChanges: req.IgnoreChanges,
		ReplaceOnChanges: req.ReplaceOnChanges, RetainOnDelete: req.RetainOnDelete, AcceptsOutputValues: true,
		ReplaceWith: texts(req.ReplaceWith), ResourceHooks: hooks(req.ResourceHooks), StackTraceHandle: req.StackTraceHandle,
		CustomTimeouts: &pulumirpc.ConstructRequest_CustomTimeouts{
			Create: seconds(req.CustomTimeouts.Create), Update: seconds(req.CustomTimeouts.Update),
			Delete: seconds(req.CustomTimeouts.Delete), Read: seconds(req.CustomTimeouts.Read),
		},
		InputDependencies: make(map[string]*pulumirpc.ConstructRequest_PropertyDependencies, len(req.InputDependencies)),
	}
	for name, urns := range req.InputDependencies {
		msg.InputDependencies[name] = &pulumirpc.ConstructRequest_PropertyDependencies{Urns: texts(urns)}
	}
	if !req.ReplacementTrigger.IsNull() && e.err == nil {
		msg.ReplacementTrigger, e.err = property.MarshalValue(req.ReplacementTrigger, c.outgoing(property.KeepUnknowns))
	}
	return msg
}

// urns reads the names of resources in an answer.
func (c *client) urns(s subject, list []string) ([]urn.URN, error) {
	out := make([]urn.URN, 0, len(list))
	for _, text := range list {
		u, err := urn.Parse(text)
		if err != nil {
			return nil, c.malformed(s, "a dependency on something that is not a resource: %w", err)
		}
		out = append(out, u)
	}
	return out, nil
}

func texts(list []urn.URN) []string {
	var out []string
	for _, u := range list {
		out = append(out, string(u))
	}
	return out
}

// seconds writes a timeout in the form of Go durations; "" is the default.
func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return strconv.FormatFloat(s, 'f', -1, 64) + "s"
}

func aliases(list []urn.Alias) []*pulumirpc.Alias {
	var out []*pulumirpc.Alias
	for _, a := range list {
		if a.URN != "" {
			out = append(out, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(a.URN)}})
			continue
		}
		spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: string(a.Type), Stack: a.Stack, Project: a.Project}
		switch {
		case a.NoParent:
			spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
		case a.Parent != "":
			spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
		}
		out = append(out, &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}})
	}
	return out
}

// hooks writes the bindings of hooks. The kinds of hooks are written in several ways ("before_create", "BeforeCreate",
// "beforeCreate") by different SDKs.
func hooks(byKind map[string][]string) *pulumirpc.ConstructRequest_ResourceHooksBinding {
	if len(byKind) == 0 {
		return nil
	}
	out := &pulumirpc.ConstructRequest_ResourceHooksBinding{}
	fields := map[string]*[]string{
		"beforecreate": &out.BeforeCreate, "aftercreate": &out.AfterCreate, "beforeupdate": &out.BeforeUpdate,
		"afterupdate": &out.AfterUpdate, "beforedelete": &out.BeforeDelete, "afterdelete": &out.AfterDelete,
		"onerror": &out.OnError,
	}
	for kind, names := range byKind {
		if field, ok := fields[strings.ToLower(strings.ReplaceAll(kind, "_", ""))]; ok {
			*field = names
		}
	}
	return out
}
