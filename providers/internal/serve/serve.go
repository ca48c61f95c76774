// Package serve offers a Go provider over gRPC, like a plugin: the other side of package plugin. It is for the
// repository's own test plugin and for tests of the encoding. It is not for users' providers, which have an SDK.
//
// Invariant: an answer is either encoded completely or an error.
package serve

import (
	"context"
	"errors"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// Options define which features the server reports.
type Options struct {
	// Legacy makes Handshake unimplemented, so that Configure returns the features.
	Legacy bool
	// NoSecrets, NoReferences, NoOutputs, NoAutonaming and NoPreview remove features.
	NoSecrets, NoReferences, NoOutputs, NoAutonaming, NoPreview bool
	Version                                                     string
}

// Server is a provider over gRPC. Embed it to change single calls.
type Server struct {
	pulumirpc.UnimplementedResourceProviderServer
	Provider providers.Provider
	Options  Options
}

// wire is the encoding of everything that has no policy in the request.
var wire = property.WireOptions{Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true, Outputs: property.KeepOutputs}

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

// fault gives an error of the provider its code and details.
func fault(err error) error {
	var unhealthy *providers.InitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unhealthy):
		return initFailed(unhealthy)
	case errors.Is(err, providers.ErrUnsupported):
		return status.Error(codes.Unimplemented, err.Error())
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	return status.Error(codes.FailedPrecondition, err.Error())
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
		SupportsAutonamingConfiguration: !s.Options.NoAutonaming,
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
