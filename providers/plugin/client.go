package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// client is a provider in another process.
type client struct {
	remote *remote
	pkg    string // name of the package it serves
	// features are those of the handshake; of an old plugin those that Configure returned.
	features       atomic.Pointer[features]
	disablePreview bool

	closing   sync.Once
	hasClosed atomic.Bool // Close has begun
	closed    error
}

var _ providers.Provider = (*client)(nil)

// cancelPatience is how long a plugin may take to acknowledge Cancel before it is interrupted.
const cancelPatience = time.Second

func (c *client) Package() string { return c.pkg }

// Cancel asks the plugin to abort its work. A plugin without Cancel counts as acknowledging (protocol.md 1.13).
func (c *client) Cancel(ctx context.Context) error {
	if c.remote.process != nil && c.remote.process.Exited() != nil {
		return nil
	}
	_, err := c.remote.rpc.Cancel(ctx, &emptypb.Empty{})
	if err == nil || status.Code(err) == codes.Unimplemented {
		return nil
	}
	if c.remote.process != nil && c.remote.process.Exited() != nil {
		return nil
	}
	if cause := ended(ctx, status.Code(err)); cause != nil {
		return fmt.Errorf("cancel plugin %s: %w", c.remote.name, cause)
	}
	return fmt.Errorf("cancel plugin %s: %w", c.remote.name, plain(err))
}

// Close asks the plugin to stop, then interrupts it, then kills it and the processes that it started. An attached plugin
// only loses its connection (protocol.md 1.9, 1.13).
func (c *client) Close() error {
	c.closing.Do(func() {
		c.hasClosed.Store(true)
		if c.remote.process != nil {
			ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
			_ = c.Cancel(ctx) // it is stopped in any case
			cancel()
		}
		err := c.remote.conn.Close()
		if c.remote.process == nil {
			c.closed = err
			return
		}
		c.remote.process.Stop() // the connection may have been closed because the process had died
	})
	return c.closed
}

// isOver reports whether the client has been closed or its plugin has ended.
func (c *client) isOver() bool {
	return c.hasClosed.Load() || c.remote.process != nil && c.remote.process.Exited() != nil
}

// outgoing are the options for values that are sent typed if the provider supports it: the column "K" of protocol.md
// 2.5.
func (c *client) outgoing(u property.UnknownPolicy) property.WireOptions {
	f := c.features.Load()
	return property.WireOptions{Unknowns: u, KeepSecrets: f.secrets, KeepReferences: f.resources, KeepByteStrings: f.byteStrings}
}

func (c *client) encoder(s subject) *encoder { return &encoder{subject: s, plugin: c.remote.name} }

// received applies the secretness of the sent values to an answer of a provider that does not keep secrets (protocol.md
// 2.4).
func (c *client) received(got, sent property.Map) property.Map {
	if c.features.Load().secrets {
		return got
	}
	return property.AnnotateSecrets(got, sent)
}

// initError returns the error of a resource that exists but is not healthy, or nil when err is another one (protocol.md
// 3.7). Its properties are read like those of the response.
func (c *client) initError(s subject, err error, o property.WireOptions, sentInputs, sentState property.Map) error {
	st, ok := status.FromError(err)
	if !ok {
		return nil
	}
	for i, d := range st.Details() {
		detail, ok := d.(*pulumirpc.ErrorResourceInitFailed)
		if !ok {
			if bad, ok := d.(error); ok && st.Proto().GetDetails()[i].MessageIs(detail) {
				return c.remote.malformed(s, "an object that is not healthy and cannot be read (%w): %w", bad, plain(err))
			}
			continue
		}
		if property.IsUnknownMarker(detail.GetId()) {
			return c.remote.malformed(s, unknownID+" for an object that is not healthy (%w)", plain(err))
		}
		properties, err1 := c.remote.decode(s, detail.GetProperties(), o)
		inputs, err2 := c.remote.decode(s, detail.GetInputs(), o)
		if bad := errors.Join(err1, err2); bad != nil {
			return unusable(bad)
		}
		return &providers.InitError{
			ID: detail.GetId(), Properties: c.received(properties, sentState), Inputs: c.received(inputs, sentInputs),
			HasInputs: detail.GetInputs() != nil, Reasons: cutAll(detail.GetReasons()),
			RefreshBeforeUpdate: detail.GetRefreshBeforeUpdate(), Err: plain(err),
		}
	}
	return nil
}

// awaiting returns the error of a Create or Update: a *[providers.AwaitError] if the provider says that it could not wait.
func awaiting(err error) error {
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	for _, d := range st.Details() {
		if _, is := d.(*pulumirpc.ErrorResourceAwaitFailed); is {
			return &providers.AwaitError{Err: err}
		}
	}
	return err
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
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.CheckConfig, msg)
	if isWithoutConfig(c.remote.name, err) {
		return providers.CheckResponse{Inputs: req.News}, nil
	}
	if err != nil {
		return providers.CheckResponse{}, err
	}
	inputs, err := c.remote.decode(s, answer.GetInputs(), incoming(req.AllowUnknowns))
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
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.DiffConfig, msg)
	if isWithoutConfig(c.remote.name, err) {
		return providers.DiffResponse{Changes: providers.DiffUnknown}, nil
	}
	if err != nil {
		return providers.DiffResponse{}, err
	}
	return diffResponse(answer), nil
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
	msg.Variables = variables(c.pkg, e, req.Inputs)
	if e.err != nil {
		return e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Configure, msg)
	if err != nil {
		return configureError(c.remote, c.pkg, err)
	}
	if f := *c.features.Load(); !f.handshaken {
		c.features.Store(&features{
			secrets: answer.GetAcceptSecrets(), resources: answer.GetAcceptResources(), outputs: answer.GetAcceptOutputs(),
			autonaming: answer.GetSupportsAutonamingConfiguration(), preview: answer.GetSupportsPreview(),
		})
	}
	return nil
}

// Parameterize makes the plugin serve another package.
func (c *client) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	return description{c.remote}.parameterize(ctx, req)
}

// Schema returns the JSON schema of the package.
func (c *client) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	return description{c.remote}.schema(ctx, c.pkg, req)
}

// Mapping returns a mapping.
func (c *client) Mapping(ctx context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	return description{c.remote}.mapping(ctx, req)
}

// Mappings returns the names of the providers with mappings.
func (c *client) Mappings(ctx context.Context, key string) ([]string, error) {
	return description{c.remote}.mappings(ctx, key)
}

// Invoke calls a function of the plugin (protocol.md 3.9). If an argument was a secret and the plugin does not keep
// secrets, the whole result is secret (protocol.md 2.4).
func (c *client) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	s := subject{method: "invoke", token: req.Token}
	e := c.encoder(s)
	msg := &pulumirpc.InvokeRequest{Tok: req.Token, Preview: req.Preview}
	if o := c.outgoing(property.DropUnknowns); c.features.Load().outputsInInvoke && req.Outputs.Len() > 0 {
		msg.Args = e.encode(req.Outputs, withOutputs(o))
	} else {
		msg.Args = e.encode(req.Args, o)
	}
	if e.err != nil {
		return providers.InvokeResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Invoke, msg)
	if err != nil {
		return providers.InvokeResponse{}, err
	}
	result, err := c.remote.decode(s, answer.GetReturn(), withOutputs(incoming(false)))
	if err != nil {
		return providers.InvokeResponse{}, err
	}
	if !c.features.Load().secrets && req.Args.HasSecrets() {
		result = result.SecretsAll()
	}
	if !c.features.Load().outputsInInvoke {
		result = dependingOn(result, req.Outputs, nil)
	}
	return providers.InvokeResponse{Return: result, Failures: failures(answer.GetFailures())}, nil
}

// dependingOn returns the result of a function or method whose provider was not told what the arguments depend on: each property of the result depends
// on what any of the arguments does, besides what the provider says about it.
func dependingOn(result, args property.Map, said map[string][]urn.URN) property.Map {
	var all []urn.URN
	for _, ds := range args.OutputDependencies() {
		all = append(all, ds...)
	}
	if len(all) == 0 {
		return result
	}
	each := make(map[string][]urn.URN, result.Len())
	for name := range result.All() {
		each[name] = urn.SortedSet(slices.Concat(all, said[name]))
	}
	return result.WithDependencies(each)
}

// componentOutgoing and componentIncoming are for Construct and Call, which support output values (protocol.md 2.5).
func (c *client) componentOutgoing() property.WireOptions {
	o := c.outgoing(property.KeepUnknowns)
	if c.features.Load().outputs {
		return withOutputs(o)
	}
	return o
}

// callOutgoing is componentOutgoing for Call, for which a provider may accept outputs alone.
func (c *client) callOutgoing() property.WireOptions {
	o := c.componentOutgoing()
	if c.features.Load().outputsInCall {
		return withOutputs(o)
	}
	return o
}

// Call calls a method of a resource (protocol.md 3.11).
func (c *client) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	s := subject{method: "call", token: req.Token, args: req.Args}
	e := c.encoder(s)
	msg := &pulumirpc.CallRequest{
		Tok: req.Token, Args: e.encode(req.Args, c.callOutgoing()), StackTraceHandle: req.StackTraceHandle,
		Project: req.Deployment.Project, Stack: req.Deployment.Stack, Organization: req.Deployment.Organization,
		Config: req.Deployment.Config, ConfigSecretKeys: req.Deployment.ConfigSecretKeys, DryRun: req.Deployment.DryRun,
		Parallel: int32(req.Deployment.Parallel), MonitorEndpoint: e.monitor(req.Deployment), AcceptsOutputValues: true,
	}
	msg.ArgDependencies = make(map[string]*pulumirpc.CallRequest_ArgumentDependencies, len(req.ArgDependencies))
	for name, urns := range req.ArgDependencies {
		msg.ArgDependencies[name] = &pulumirpc.CallRequest_ArgumentDependencies{Urns: urn.Strings(urns)}
	}
	if e.err != nil {
		return providers.CallResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Call, msg)
	if err != nil {
		return providers.CallResponse{}, err
	}
	result, err := c.remote.decode(s, answer.GetReturn(), componentIncoming(req.Deployment.DryRun))
	if err != nil {
		return providers.CallResponse{}, err
	}
	out := providers.CallResponse{Return: result, Failures: failures(answer.GetFailures())}
	for name, d := range answer.GetReturnDependencies() {
		if out.ReturnDependencies == nil {
			out.ReturnDependencies = map[string][]urn.URN{}
		}
		if out.ReturnDependencies[name], err = c.remote.urns(s, d.GetUrns()); err != nil {
			return providers.CallResponse{}, err
		}
	}
	if has := c.features.Load(); !has.outputs && !has.outputsInCall {
		out.Return = dependingOn(out.Return, req.Args, out.ReturnDependencies)
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
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Construct, msg)
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	u, err := urn.Parse(answer.GetUrn())
	if err != nil {
		return providers.ConstructResponse{}, c.remote.malformed(s, "a component without a proper URN: %w", err)
	}
	state, err := c.remote.decode(s, answer.GetState(), componentIncoming(req.Deployment.DryRun))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	out := providers.ConstructResponse{URN: u, Outputs: state}
	for name, d := range answer.GetStateDependencies() {
		if out.OutputDependency == nil {
			out.OutputDependency = map[string][]urn.URN{}
		}
		if out.OutputDependency[name], err = c.remote.urns(s, d.GetUrns()); err != nil {
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
		Inputs: e.encode(req.Inputs, c.componentOutgoing()), Providers: req.Providers, Dependencies: urn.Strings(req.Dependencies),
		Protect: req.Protect, Aliases: aliases(req.Aliases), AdditionalSecretOutputs: req.AdditionalSecretOutputs,
		DeletedWith: string(req.DeletedWith), DeleteBeforeReplace: req.DeleteBeforeReplace, IgnoreChanges: req.IgnoreChanges,
		ReplaceOnChanges: req.ReplaceOnChanges, RetainOnDelete: req.RetainOnDelete, AcceptsOutputValues: true,
		ReplaceWith: urn.Strings(req.ReplaceWith), ResourceHooks: hooks(req.ResourceHooks), StackTraceHandle: req.StackTraceHandle,
		CustomTimeouts: &pulumirpc.ConstructRequest_CustomTimeouts{
			Create: seconds(req.CustomTimeouts.Create), Update: seconds(req.CustomTimeouts.Update),
			Delete: seconds(req.CustomTimeouts.Delete), Read: seconds(req.CustomTimeouts.Read),
		},
		InputDependencies: make(map[string]*pulumirpc.ConstructRequest_PropertyDependencies, len(req.InputDependencies)),
	}
	for name, urns := range req.InputDependencies {
		msg.InputDependencies[name] = &pulumirpc.ConstructRequest_PropertyDependencies{Urns: urn.Strings(urns)}
	}
	if !req.ReplacementTrigger.IsNull() && e.err == nil {
		msg.ReplacementTrigger, e.err = property.MarshalValue(req.ReplacementTrigger, c.outgoing(property.KeepUnknowns))
	}
	return msg
}

// List returns a page of the existing resources (protocol.md 3.12).
func (c *client) List(ctx context.Context, req providers.ListRequest) (providers.ListResponse, error) {
	s := subject{method: "list", token: string(req.Type)}
	e := c.encoder(s)
	msg := &pulumirpc.ListRequest{
		Token: string(req.Type), Query: e.encode(req.Query, c.outgoing(property.KeepUnknowns)), Limit: req.Limit,
		PageSize: req.PageSize, ContinuationToken: req.Continuation,
	}
	if e.err != nil {
		return providers.ListResponse{}, e.err
	}
	page, err := roundTrip(ctx, c.remote, s, pages{c.remote.rpc}.read, msg)
	if err != nil {
		return providers.ListResponse{}, err
	}
	var out providers.ListResponse
	for _, part := range page {
		switch r := part.GetResponse().(type) {
		case *pulumirpc.ListResponse_Computed_:
			out.Unknown = true
		case *pulumirpc.ListResponse_Result_:
			if r.Result.GetId() == "" {
				return providers.ListResponse{}, c.remote.fault(s, "a resource that has no ID")
			}
			out.Resources = append(out.Resources, providers.Listed{ID: r.Result.GetId(), Name: r.Result.GetName()})
		case *pulumirpc.ListResponse_Continuation_:
			out.Continuation = r.Continuation.GetContinuationToken()
		}
	}
	return out, nil
}

// Check makes the plugin check the inputs of a resource (protocol.md 3.4).
func (c *client) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	s := subject{method: methodCheck, urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.CheckRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), RandomSeed: req.RandomSeed,
		Olds: e.encode(req.Olds, c.outgoing(keptElseDropped(req.AllowUnknowns))),
		News: e.encode(req.News, c.outgoing(keptElseDropped(req.AllowUnknowns))),
	}
	if req.OldOutputs.Len() > 0 {
		msg.OldOutputs = e.encode(req.OldOutputs, c.outgoing(keptElseDropped(req.AllowUnknowns)))
	}
	if a := req.Autonaming; a != nil && c.features.Load().autonaming {
		msg.Autonaming = &pulumirpc.CheckRequest_AutonamingOptions{
			ProposedName: a.ProposedName, Mode: pulumirpc.CheckRequest_AutonamingOptions_Mode(a.Mode),
		}
	}
	if e.err != nil {
		return providers.CheckResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Check, msg)
	if err != nil {
		return providers.CheckResponse{}, err
	}
	inputs, err := c.remote.decode(s, answer.GetInputs(), incoming(req.AllowUnknowns))
	if err != nil {
		return providers.CheckResponse{}, err
	}
	return providers.CheckResponse{
		Inputs: c.received(inputs, req.News), Failures: failures(answer.GetFailures()),
		AutonamingUnsupported: req.Autonaming != nil && msg.GetAutonaming() == nil,
	}, nil
}

// Diff makes the plugin compare the old state of a resource with its new inputs (protocol.md 3.5).
func (c *client) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	s := subject{method: methodDiff, urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(keptElseDropped(req.AllowUnknowns)))
	msg := &pulumirpc.DiffRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, IgnoreChanges: req.IgnoreChanges,
		Olds: e.encode(req.OldOutputs, olds), OldInputs: e.encode(req.OldInputs, olds),
		News: e.encode(req.NewInputs, elided(c.outgoing(keptElseDropped(req.AllowUnknowns)))),
	}
	if e.err != nil {
		return providers.DiffResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Diff, msg)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	return diffResponse(answer), nil
}

// previews reports whether the plugin can preview changes. If not, the outputs of a change are its inputs (protocol.md
// 3.6).
func (c *client) previews() bool { return c.features.Load().preview && !c.disablePreview }

// Create makes a resource. A resource that is not healthy is a *providers.InitError.
func (c *client) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	if req.Preview && !c.previews() {
		return providers.CreateResponse{Properties: req.Properties}, nil
	}
	s := subject{method: "create", urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.CreateRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Timeout: req.Timeout, Preview: req.Preview,
		Properties: e.encode(req.Properties, c.outgoing(keptIf(req.Preview))),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return providers.CreateResponse{}, e.err
	}
	in := incoming(req.Preview)
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Create, msg)
	if err != nil {
		unhealthy := c.initError(s, err, in, req.Properties, req.Properties)
		switch {
		case unhealthy == nil:
			return providers.CreateResponse{}, awaiting(err)
		case isWithoutID(unhealthy) && !req.Preview:
			return providers.CreateResponse{}, c.remote.malformed(s, "an empty ID for an object that is not healthy (%w)", plain(err))
		}
		return providers.CreateResponse{}, unhealthy
	}
	switch id := answer.GetId(); {
	case req.Preview: // it may be unknown
	case id == "":
		return providers.CreateResponse{}, c.remote.malformed(s, "an empty ID")
	case property.IsUnknownMarker(id):
		return providers.CreateResponse{}, c.remote.malformed(s, unknownID)
	}
	out, err := c.remote.decode(s, answer.GetProperties(), in)
	if err != nil {
		return providers.CreateResponse{}, unusable(err)
	}
	return providers.CreateResponse{
		ID: answer.GetId(), Properties: c.received(out, req.Properties), RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

// isWithoutID reports whether err is the error of an unhealthy object without an ID.
func isWithoutID(err error) bool {
	var partial *providers.InitError
	return errors.As(err, &partial) && partial.ID == ""
}

// Update changes a resource in place. A resource that is not healthy is a *providers.InitError.
func (c *client) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	if req.Preview && !c.previews() {
		return providers.UpdateResponse{Properties: req.NewInputs}, nil
	}
	s := subject{method: "update", urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(property.DropUnknowns))
	msg := &pulumirpc.UpdateRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		IgnoreChanges: req.IgnoreChanges, Preview: req.Preview,
		Olds: e.encode(req.OldOutputs, olds), OldInputs: e.encode(req.OldInputs, olds),
		News:     e.encode(req.NewInputs, c.outgoing(keptIf(req.Preview))),
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return providers.UpdateResponse{}, e.err
	}
	in := incoming(req.Preview)
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Update, msg)
	if err != nil {
		if unhealthy := c.initError(s, err, in, req.NewInputs, req.NewInputs); unhealthy != nil {
			return providers.UpdateResponse{}, unhealthy
		}
		return providers.UpdateResponse{}, awaiting(err)
	}
	out, err := c.remote.decode(s, answer.GetProperties(), in)
	if err != nil {
		return providers.UpdateResponse{}, unusable(err)
	}
	return providers.UpdateResponse{
		Properties: c.received(out, req.NewInputs), RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

// Delete deletes a resource.
func (c *client) Delete(ctx context.Context, req providers.DeleteRequest) error {
	s := subject{method: "delete", urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(property.DropUnknowns))
	msg := &pulumirpc.DeleteRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		Properties: e.encode(req.Outputs, olds), OldInputs: e.encode(req.Inputs, olds),
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return e.err
	}
	_, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Delete, msg)
	return err
}

// Read reads a resource (protocol.md 3.6). Assets that come back without their content are replaced by the sent ones.
func (c *client) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	s := subject{method: "read", urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.ReadRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if req.Known {
		olds := elided(c.outgoing(property.DropUnknowns))
		msg.Inputs, msg.Properties = e.encode(req.Inputs, olds), e.encode(req.State, olds)
	}
	if e.err != nil {
		return providers.ReadResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c.remote, s, c.remote.rpc.Read, msg)
	if err != nil {
		if unhealthy := c.initError(s, err, incoming(false), req.Inputs, req.State); unhealthy != nil {
			return providers.ReadResponse{}, unhealthy
		}
		return providers.ReadResponse{}, err
	}
	switch id := answer.GetId(); {
	case id == "":
		return providers.ReadResponse{Absent: true}, nil
	case property.IsUnknownMarker(id):
		return providers.ReadResponse{}, c.remote.fault(s, unknownID)
	}
	state, err := c.remote.decode(s, answer.GetProperties(), incoming(false))
	if err != nil {
		return providers.ReadResponse{}, err
	}
	inputs, err := c.remote.decode(s, answer.GetInputs(), incoming(false))
	if err != nil {
		return providers.ReadResponse{}, err
	}
	return providers.ReadResponse{
		ID: answer.GetId(), HasInputs: answer.GetInputs() != nil,
		Inputs:              c.received(property.RestoreAssets(inputs, req.Inputs), req.Inputs),
		Properties:          c.received(property.RestoreAssets(state, req.Inputs), req.State),
		RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

func (c *client) views(e *encoder, list []providers.View) []*pulumirpc.View {
	var out []*pulumirpc.View
	olds := elided(c.outgoing(property.DropUnknowns))
	for _, v := range list {
		out = append(out, &pulumirpc.View{
			Type: string(v.Type), Name: v.Name, ParentType: string(v.ParentType), ParentName: v.ParentName,
			Inputs: e.encode(v.Inputs, olds), Outputs: e.encode(v.Outputs, olds),
		})
	}
	return out
}

// unknownID describes an ID that only a preview may have.
const unknownID = "the marker of an unknown value as the ID"
