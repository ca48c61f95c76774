package main

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
)

// monitor passes calls to the plugin.
type monitor struct {
	pulumirpc.UnimplementedResourceMonitorServer
	provider pulumirpc.ResourceProviderClient // nil without a plugin
	preview  bool
}

// SupportsFeature returns the same as the engine, so that programs behave the same.
func (m *monitor) SupportsFeature(context.Context, *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: true}, nil
}

func (m *monitor) RegisterResource(ctx context.Context, req *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
	u := fmt.Sprintf("urn:pulumi:%s::%s::%s::%s", stack, project, req.GetType(), req.GetName())
	if !req.GetCustom() {
		return &pulumirpc.RegisterResourceResponse{Urn: u, Object: req.GetObject()}, nil
	}
	if m.provider == nil {
		return &pulumirpc.RegisterResourceResponse{Urn: u, Id: req.GetName(), Object: req.GetObject()}, nil
	}
	checked, err := m.provider.Check(ctx, &pulumirpc.CheckRequest{Urn: u, Name: req.GetName(), Type: req.GetType(), News: req.GetObject()})
	if err != nil {
		return nil, err
	}
	made, err := m.provider.Create(ctx, &pulumirpc.CreateRequest{
		Urn: u, Name: req.GetName(), Type: req.GetType(), Properties: checked.GetInputs(), Preview: m.preview,
	})
	if err != nil {
		return nil, err
	}
	return &pulumirpc.RegisterResourceResponse{Urn: u, Id: made.GetId(), Object: made.GetProperties()}, nil
}

func (m *monitor) RegisterResourceOutputs(context.Context, *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (m *monitor) SignalAndWaitForShutdown(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// engine discards log messages.
type engine struct {
	pulumirpc.UnimplementedEngineServer
}

func (*engine) Log(context.Context, *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}
