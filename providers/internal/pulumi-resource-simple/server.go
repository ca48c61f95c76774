package main

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/urn"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// server is the provider over gRPC, with answers that a Go provider cannot give.
type server struct {
	serve.Server
	provider *provider
	stubborn bool
}

// Create spoils its answer if the configuration requires it.
func (s *server) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	answer, err := s.Server.Create(ctx, req)
	if err != nil || req.GetPreview() {
		return answer, err
	}
	switch s.provider.settings.Load().malformed {
	case "empty-id":
		answer.Id = ""
	case "unknown-id":
		answer.Id = urn.UnknownID
	case "partial":
		return nil, unhealthy("")
	case "partial-unknown-id":
		return nil, unhealthy(urn.UnknownID)
	case "not-text":
		answer.Properties.Fields["strange"] = structpb.NewStringValue("\xff")
	case "too-deep":
		answer.Properties.Fields["strange"] = nested(10_000)
	case "bad-signature":
		answer.Properties.Fields["strange"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			property.SignatureKey: structpb.NewStringValue("no such signature"),
		}})
	case "unknown":
		answer.Properties.Fields["strange"] = structpb.NewStringValue(urn.UnknownID)
	}
	return answer, nil
}

// nested returns a list in a list, and so on.
func nested(levels int) *structpb.Value {
	v := structpb.NewNullValue()
	for range levels {
		v = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{v}})
	}
	return v
}

// unhealthy is the error of an object that exists and is not healthy.
func unhealthy(id string) error {
	st, err := status.New(codes.Unknown, "the cloud gave up waiting").WithDetails(
		&pulumirpc.ErrorResourceInitFailed{Id: id, Reasons: []string{"no route"}})
	if err != nil {
		return err
	}
	return st.Err()
}

// CheckConfig spoils its answer if the configuration requires it.
func (s *server) CheckConfig(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	answer, err := s.Server.CheckConfig(ctx, req)
	if err == nil && req.GetNews().GetFields()["malformed"].GetStringValue() == "unknown-config" {
		answer.Inputs.Fields["directory"] = structpb.NewStringValue(urn.UnknownID)
	}
	return answer, err
}

// Cancel of a stubborn plugin never answers.
func (s *server) Cancel(ctx context.Context, req *emptypb.Empty) (*emptypb.Empty, error) {
	if s.stubborn {
		select {} // whatever the deadline says
	}
	return s.Server.Cancel(ctx, req)
}

func missingKeys() error {
	st, err := status.New(codes.InvalidArgument, "required configuration is missing").WithDetails(
		&pulumirpc.ConfigureErrorMissingKeys{MissingKeys: []*pulumirpc.ConfigureErrorMissingKeys_MissingKey{
			{Name: "simple:token", Description: "the token of the cloud"},
		}})
	if err != nil {
		return err
	}
	return st.Err()
}
