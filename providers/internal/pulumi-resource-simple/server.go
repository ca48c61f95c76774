package main

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// server is the provider over gRPC, with answers that no Go provider could give.
type server struct {
	serve.Server
	provider *provider
	stubborn bool
}

// Create spoils its answer if the configuration says so.
func (s *server) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	answer, err := s.Server.Create(ctx, req)
	if err != nil || req.GetPreview() {
		return answer, err
	}
	switch s.provider.settings.Load().malformed {
	case "empty-id":
		answer.Id = ""
	case "bad-signature":
		answer.Properties.Fields["strange"] = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			property.SignatureKey: structpb.NewStringValue("no such signature"),
		}})
	case "unknown":
		answer.Properties.Fields["strange"] = structpb.NewStringValue("04da6b54-80e4-46f7-96ec-b56ff0331ba9")
	}
	return answer, nil
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
