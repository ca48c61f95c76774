// Package serve offers a Go provider over gRPC, like a plugin: the other side of package plugin. It is for the
// repository's own test plugin and for tests of the encoding. It is not for users' providers, which have an SDK.
//
// Invariant: an answer is either encoded completely or an error.
package serve

import (
	"context"
	"errors"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Options define which features the server reports.
type Options struct {
	// Legacy makes Handshake unimplemented, so that Configure returns the features.
	Legacy bool
	// NoSecrets, NoReferences, NoOutputs, NoAutonaming and NoPreview remove features.
	NoSecrets, NoReferences, NoOutputs, NoAutonaming, NoPreview bool
	// ByteStrings, OutputsInInvoke and OutputsInCall add features.
	ByteStrings, OutputsInInvoke, OutputsInCall bool
	Version                                     string
}

// Server is a provider over gRPC. Embed it to change single calls.
type Server struct {
	pulumirpc.UnimplementedResourceProviderServer
	Provider providers.Provider
	Options  Options
}

// wire is the encoding of everything that has no policy in the request.
var wire = property.WireOptions{Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true, KeepByteStrings: true, Outputs: property.KeepOutputs}

// codec encodes and decodes the parts of one call and keeps the first error.
type codec struct{ err error }

func (c *codec) in(s *structpb.Struct) property.Map {
	m, err := property.UnmarshalStruct(s, wire)
	c.err = errors.Join(c.err, err)
	return m
}

func (c *codec) out(m property.Map) *structpb.Struct {
	s, err := property.MarshalStruct(m, wire)
	c.err = errors.Join(c.err, err)
	return s
}

func (c *codec) viewState(v *providers.View) *pulumirpc.ViewStepState {
	if v == nil {
		return nil
	}
	return &pulumirpc.ViewStepState{
		Type: string(v.Type), Name: v.Name, ParentType: string(v.ParentType), ParentName: v.ParentName,
		Inputs: c.out(v.Inputs), Outputs: c.out(v.Outputs),
	}
}

// views decodes the views in a request.
func (c *codec) views(list []*pulumirpc.View) []providers.View {
	var out []providers.View
	for _, v := range list {
		out = append(out, providers.View{
			Type: urn.Type(v.GetType()), Name: v.GetName(), ParentType: urn.Type(v.GetParentType()), ParentName: v.GetParentName(),
			Inputs: c.in(v.GetInputs()), Outputs: c.in(v.GetOutputs()),
		})
	}
	return out
}

// fault gives an error of the provider its code and details.
func fault(err error) error {
	var unhealthy *providers.InitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unhealthy):
		return initFailed(unhealthy)
	case errors.As(err, new(*providers.AwaitError)):
		return awaitFailed(err)
	case errors.Is(err, providers.ErrUnsupported):
		return status.Error(codes.Unimplemented, err.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Error(codes.FailedPrecondition, err.Error())
}

func awaitFailed(e error) error {
	st, err := status.New(codes.Unknown, e.Error()).WithDetails(&pulumirpc.ErrorResourceAwaitFailed{})
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return st.Err()
}

func initFailed(e *providers.InitError) error {
	var c codec
	detail := &pulumirpc.ErrorResourceInitFailed{
		Id: e.ID, Properties: c.out(e.Properties), Inputs: c.out(e.Inputs), Reasons: e.Reasons,
		RefreshBeforeUpdate: e.RefreshBeforeUpdate,
	}
	st, err := status.New(codes.Unknown, e.Error()).WithDetails(detail)
	if err = errors.Join(err, c.err); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return st.Err()
}

// Handshake returns the features.
func (s *Server) Handshake(
	context.Context, *pulumirpc.ProviderHandshakeRequest,
) (*pulumirpc.ProviderHandshakeResponse, error) {
	if s.Options.Legacy {
		return nil, status.Error(codes.Unimplemented, "unknown method Handshake")
	}
	return &pulumirpc.ProviderHandshakeResponse{
		AcceptSecrets: !s.Options.NoSecrets, AcceptResources: !s.Options.NoReferences, AcceptOutputs: !s.Options.NoOutputs,
		SupportsAutonamingConfiguration: !s.Options.NoAutonaming, AcceptsByteString: s.Options.ByteStrings,
		AcceptsOutputsInInvoke: s.Options.OutputsInInvoke, AcceptsOutputsInCall: s.Options.OutputsInCall,
	}, nil
}

// Attach accepts.
func (s *Server) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetPluginInfo returns the version.
func (s *Server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: s.Options.Version}, nil
}

// Parameterize passes on the value or the arguments.
func (s *Server) Parameterize(
	ctx context.Context, req *pulumirpc.ParameterizeRequest,
) (*pulumirpc.ParameterizeResponse, error) {
	v := req.GetValue()
	is := providers.ParameterizeRequest{Name: v.GetName(), Version: v.GetVersion(), Value: v.GetValue()}
	if a := req.GetArgs(); a != nil {
		is.Args = append([]string{}, a.GetArgs()...)
	}
	answer, err := s.Provider.Parameterize(ctx, is)
	return &pulumirpc.ParameterizeResponse{Name: answer.Name, Version: answer.Version}, fault(err)
}

// GetSchema returns the provider's schema.
func (s *Server) GetSchema(ctx context.Context, req *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	schema, err := s.Provider.Schema(ctx, providers.SchemaRequest{
		SubpackageName: req.GetSubpackageName(), SubpackageVersion: req.GetSubpackageVersion(),
	})
	return &pulumirpc.GetSchemaResponse{Schema: schema}, fault(err)
}

// GetMapping returns a mapping of the provider.
func (s *Server) GetMapping(ctx context.Context, req *pulumirpc.GetMappingRequest) (*pulumirpc.GetMappingResponse, error) {
	answer, err := s.Provider.Mapping(ctx, providers.MappingRequest{Key: req.GetKey(), Provider: req.GetProvider()})
	return &pulumirpc.GetMappingResponse{Provider: answer.Provider, Data: answer.Data}, fault(err)
}

// GetMappings returns the names of the providers with mappings.
func (s *Server) GetMappings(ctx context.Context, req *pulumirpc.GetMappingsRequest) (*pulumirpc.GetMappingsResponse, error) {
	list, err := s.Provider.Mappings(ctx, req.GetKey())
	return &pulumirpc.GetMappingsResponse{Providers: list}, fault(err)
}

// Configure configures the provider.
func (s *Server) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	var c codec
	err := errors.Join(s.Provider.Configure(ctx, providers.ConfigureRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), ID: req.GetId(),
		Inputs: c.in(req.GetArgs()),
	}), c.err)
	return &pulumirpc.ConfigureResponse{
		AcceptSecrets: !s.Options.NoSecrets, AcceptResources: !s.Options.NoReferences, AcceptOutputs: !s.Options.NoOutputs,
		SupportsPreview: !s.Options.NoPreview, SupportsAutonamingConfiguration: !s.Options.NoAutonaming,
	}, fault(err)
}

// Cancel cancels the provider.
func (s *Server) Cancel(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, fault(s.Provider.Cancel(ctx))
}

func (s *Server) check(
	ctx context.Context, req *pulumirpc.CheckRequest,
	f func(context.Context, providers.CheckRequest) (providers.CheckResponse, error),
) (*pulumirpc.CheckResponse, error) {
	var c codec
	in := providers.CheckRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), Olds: c.in(req.GetOlds()),
		News: c.in(req.GetNews()), OldOutputs: c.in(req.GetOldOutputs()), RandomSeed: req.GetRandomSeed(),
	}
	if a := req.GetAutonaming(); a != nil {
		in.Autonaming = &providers.Autonaming{ProposedName: a.GetProposedName(), Mode: providers.AutonamingMode(a.GetMode())}
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := f(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.CheckResponse{Inputs: c.out(answer.Inputs), Failures: failures(answer.Failures)}
	return out, fault(c.err)
}

func failures(list []providers.CheckFailure) []*pulumirpc.CheckFailure {
	var out []*pulumirpc.CheckFailure
	for _, f := range list {
		out = append(out, &pulumirpc.CheckFailure{Property: f.Property, Reason: f.Reason})
	}
	return out
}

func (s *Server) diff(
	ctx context.Context, req *pulumirpc.DiffRequest,
	f func(context.Context, providers.DiffRequest) (providers.DiffResponse, error),
) (*pulumirpc.DiffResponse, error) {
	var c codec
	in := providers.DiffRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), ID: req.GetId(),
		OldInputs: c.in(req.GetOldInputs()), OldOutputs: c.in(req.GetOlds()), NewInputs: c.in(req.GetNews()),
		IgnoreChanges: req.GetIgnoreChanges(),
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := f(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DiffChanges(answer.Changes), Replaces: answer.ReplaceKeys, Stables: answer.StableKeys,
		Diffs: answer.ChangedKeys, DeleteBeforeReplace: answer.DeleteBeforeReplace,
		HasDetailedDiff: answer.DetailedDiff != nil, DetailedDiff: map[string]*pulumirpc.PropertyDiff{},
	}
	for path, d := range answer.DetailedDiff {
		out.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: pulumirpc.PropertyDiff_Kind(d.Kind), InputDiff: d.InputDiff}
	}
	return out, nil
}

// CheckConfig checks configuration.
func (s *Server) CheckConfig(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return s.check(ctx, req, s.Provider.CheckConfig)
}

// DiffConfig compares configuration.
func (s *Server) DiffConfig(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return s.diff(ctx, req, s.Provider.DiffConfig)
}

// Check checks inputs.
func (s *Server) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return s.check(ctx, req, s.Provider.Check)
}

// Diff compares a resource.
func (s *Server) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return s.diff(ctx, req, s.Provider.Diff)
}

// Create makes a resource.
func (s *Server) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	var c codec
	in := providers.CreateRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), Properties: c.in(req.GetProperties()),
		Timeout: req.GetTimeout(), Preview: req.GetPreview(),
		Status: statusOf(req.GetResourceStatusAddress(), req.GetResourceStatusToken()),
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Create(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.CreateResponse{
		Id: answer.ID, Properties: c.out(answer.Properties), RefreshBeforeUpdate: answer.RefreshBeforeUpdate,
	}
	return out, fault(c.err)
}

// Read reads a resource.
func (s *Server) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	var c codec
	in := providers.ReadRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), ID: req.GetId(),
		Inputs: c.in(req.GetInputs()), State: c.in(req.GetProperties()), Known: req.GetInputs() != nil, Timeout: req.GetTimeout(),
		OldViews: c.views(req.GetOldViews()), Status: statusOf(req.GetResourceStatusAddress(), req.GetResourceStatusToken()),
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Read(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	if err := answer.Validate(); err != nil {
		return nil, fault(err)
	}
	if answer.Absent {
		return &pulumirpc.ReadResponse{}, nil
	}
	out := &pulumirpc.ReadResponse{
		Id: answer.ID, Properties: c.out(answer.Properties), RefreshBeforeUpdate: answer.RefreshBeforeUpdate,
	}
	if answer.HasInputs {
		out.Inputs = c.out(answer.Inputs)
	}
	return out, fault(c.err)
}

// Update changes a resource.
func (s *Server) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	var c codec
	in := providers.UpdateRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), ID: req.GetId(),
		OldInputs: c.in(req.GetOldInputs()), OldOutputs: c.in(req.GetOlds()), NewInputs: c.in(req.GetNews()),
		Timeout: req.GetTimeout(), IgnoreChanges: req.GetIgnoreChanges(), Preview: req.GetPreview(),
		OldViews: c.views(req.GetOldViews()), Status: statusOf(req.GetResourceStatusAddress(), req.GetResourceStatusToken()),
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Update(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.UpdateResponse{Properties: c.out(answer.Properties), RefreshBeforeUpdate: answer.RefreshBeforeUpdate}
	return out, fault(c.err)
}

// Delete deletes a resource.
func (s *Server) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	var c codec
	in := providers.DeleteRequest{
		URN: urn.URN(req.GetUrn()), Name: req.GetName(), Type: urn.Type(req.GetType()), ID: req.GetId(),
		Inputs: c.in(req.GetOldInputs()), Outputs: c.in(req.GetProperties()), Timeout: req.GetTimeout(),
		OldViews: c.views(req.GetOldViews()), Status: statusOf(req.GetResourceStatusAddress(), req.GetResourceStatusToken()),
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	return &emptypb.Empty{}, fault(s.Provider.Delete(ctx, in))
}

// Invoke calls a function.
func (s *Server) Invoke(ctx context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	var c codec
	in := providers.InvokeRequest{Token: req.GetTok(), Args: c.in(req.GetArgs()), Preview: req.GetPreview()}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Invoke(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	return &pulumirpc.InvokeResponse{Return: c.out(answer.Return), Failures: failures(answer.Failures)}, fault(c.err)
}

// monitorAt returns a function that returns the address of the monitor that a request names.
func monitorAt(address string) func() (string, error) {
	return func() (string, error) { return address, nil }
}

// Call calls a method.
func (s *Server) Call(ctx context.Context, req *pulumirpc.CallRequest) (*pulumirpc.CallResponse, error) {
	var c codec
	in := providers.CallRequest{
		Token: req.GetTok(), Args: c.in(req.GetArgs()), ArgDependencies: map[string][]urn.URN{},
		StackTraceHandle: req.GetStackTraceHandle(), Deployment: providers.Deployment{
			Project: req.GetProject(), Stack: req.GetStack(), Organization: req.GetOrganization(), Config: req.GetConfig(),
			ConfigSecretKeys: req.GetConfigSecretKeys(), DryRun: req.GetDryRun(), Parallel: int(req.GetParallel()),
			MonitorAddress: monitorAt(req.GetMonitorEndpoint()),
		},
	}
	for name, d := range req.GetArgDependencies() {
		in.ArgDependencies[name] = urns(d.GetUrns())
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Call(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.CallResponse{
		Return: c.out(answer.Return), Failures: failures(answer.Failures),
		ReturnDependencies: map[string]*pulumirpc.CallResponse_ReturnDependencies{},
	}
	for name, list := range answer.ReturnDependencies {
		out.ReturnDependencies[name] = &pulumirpc.CallResponse_ReturnDependencies{Urns: urn.Strings(list)}
	}
	return out, fault(c.err)
}

// Construct makes a component.
func (s *Server) Construct(ctx context.Context, req *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	var c codec
	in := providers.ConstructRequest{
		Deployment: providers.Deployment{
			Project: req.GetProject(), Stack: req.GetStack(), Organization: req.GetOrganization(), Config: req.GetConfig(),
			DryRun: req.GetDryRun(), Parallel: int(req.GetParallel()), MonitorAddress: monitorAt(req.GetMonitorEndpoint()),
		},
		Type: urn.Type(req.GetType()), Name: req.GetName(), Parent: urn.URN(req.GetParent()), Inputs: c.in(req.GetInputs()),
		InputDependencies: map[string][]urn.URN{}, Providers: req.GetProviders(), Dependencies: urns(req.GetDependencies()),
	}
	for name, d := range req.GetInputDependencies() {
		in.InputDependencies[name] = urns(d.GetUrns())
	}
	if c.err != nil {
		return nil, fault(c.err)
	}
	answer, err := s.Provider.Construct(ctx, in)
	if err != nil {
		return nil, fault(err)
	}
	out := &pulumirpc.ConstructResponse{
		Urn: string(answer.URN), State: c.out(answer.Outputs),
		StateDependencies: map[string]*pulumirpc.ConstructResponse_PropertyDependencies{},
	}
	for name, list := range answer.OutputDependency {
		out.StateDependencies[name] = &pulumirpc.ConstructResponse_PropertyDependencies{Urns: urn.Strings(list)}
	}
	return out, fault(c.err)
}

func urns(list []string) []urn.URN {
	var out []urn.URN
	for _, u := range list {
		out = append(out, urn.URN(u))
	}
	return out
}

// List sends a page.
func (s *Server) List(req *pulumirpc.ListRequest, stream grpc.ServerStreamingServer[pulumirpc.ListResponse]) error {
	var c codec
	query := c.in(req.GetQuery())
	if c.err != nil {
		return fault(c.err)
	}
	page, err := s.Provider.List(stream.Context(), providers.ListRequest{
		Type: urn.Type(req.GetToken()), Query: query, Limit: req.GetLimit(), PageSize: req.GetPageSize(), Continuation: req.GetContinuationToken(),
	})
	if err != nil {
		return fault(err)
	}
	var parts []*pulumirpc.ListResponse
	if page.Unknown {
		parts = append(parts, &pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Computed_{Computed: &pulumirpc.ListResponse_Computed{}}})
	}
	for _, r := range page.Resources {
		result := &pulumirpc.ListResponse_Result{Id: r.ID, Name: r.Name}
		parts = append(parts, &pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Result_{Result: result}})
	}
	if page.Continuation != "" {
		next := &pulumirpc.ListResponse_Continuation{ContinuationToken: page.Continuation}
		parts = append(parts, &pulumirpc.ListResponse{Response: &pulumirpc.ListResponse_Continuation_{Continuation: next}})
	}
	for _, part := range parts {
		if err := stream.Send(part); err != nil {
			return err
		}
	}
	return nil
}

// statusOf returns where a call may publish views; nil when it may not.
func statusOf(address, token string) providers.Status {
	if address == "" || token == "" {
		return nil
	}
	return viewStatus{providers.StatusToken{Address: address, Token: token}}
}
