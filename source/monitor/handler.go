package monitor

import (
	"context"
	"maps"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/stages"
)

// handler implements the service. It is immutable except for its callback connections and its cache of positions.
type handler struct {
	pulumirpc.UnsafeResourceMonitorServer
	monitor   stages.Monitor
	views     stages.Views // nil if the run accepts no views
	features  map[Feature]bool
	callbacks *callbackClients
	positions positions
}

func (h *handler) RegisterResourceOutputs(ctx context.Context, req *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	u, err := parseURN("", req.GetUrn())
	if err != nil {
		return nil, statusOf(err)
	}
	outputs, err := decodeMap("outputs", req.GetOutputs())
	if err != nil {
		return nil, statusOf(err)
	}
	if err := h.monitor.RegisterOutputs(ctx, u, outputs); err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}

func (h *handler) RegisterPackage(ctx context.Context, req *pulumirpc.RegisterPackageRequest) (*pulumirpc.RegisterPackageResponse, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("package name is empty"))
	}
	for _, v := range []string{req.GetVersion(), req.GetParameterization().GetVersion(), req.GetExtension().GetVersion()} {
		if err := checkVersion(v); err != nil {
			return nil, statusOf(err)
		}
	}
	ref, err := h.monitor.RegisterPackage(ctx, stages.Package{
		Name:             req.GetName(),
		Version:          req.GetVersion(),
		DownloadURL:      req.GetDownloadUrl(),
		Checksums:        req.GetChecksums(),
		Parameterization: parameterization(req.GetParameterization()),
		Extension:        parameterization(req.GetExtension()),
	})
	if err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.RegisterPackageResponse{Ref: ref}, nil
}

func parameterization(p *pulumirpc.Parameterization) *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.GetName(), Version: p.GetVersion(), Value: p.GetValue()}
}

func (h *handler) RegisterStackTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.transform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterStackTransform(ctx, t))
}

func (h *handler) RegisterStackInvokeTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.invokeTransform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterInvokeTransform(ctx, t))
}

func (h *handler) RegisterResourceHook(ctx context.Context, req *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.hook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterHook(ctx, stages.Hook{
		Name: req.GetName(), OnDryRun: req.GetOnDryRun(), IgnoreErrors: req.GetIgnoreErrors(), Run: run,
	}))
}

func (h *handler) RegisterErrorHook(ctx context.Context, req *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.errorHook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterErrorHook(ctx, stages.ErrorHook{Name: req.GetName(), Run: run}))
}

func (h *handler) SupportsFeature(_ context.Context, req *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: h.features[Feature(req.GetId())]}, nil
}

// GetDeploymentInfo returns all features: newer SDKs call it first and then never call SupportsFeature.
func (h *handler) GetDeploymentInfo(context.Context, *emptypb.Empty) (*pulumirpc.DeploymentInfo, error) {
	numbers := featureNumbers()
	var supported []pulumirpc.ResourceMonitorFeature
	for f := range maps.Keys(h.features) {
		supported = append(supported, numbers[f])
	}
	slices.Sort(supported)
	info := h.monitor.Info()
	return &pulumirpc.DeploymentInfo{
		Project: info.Project, Stack: info.Stack, Organization: info.Organization,
		Config: info.Config, ConfigSecretKeys: info.ConfigSecretKeys,
		DryRun: info.DryRun, Parallel: int32(min(info.Parallel, 1<<31-1)),
		SupportedFeatures: supported,
	}, nil
}

func (h *handler) SignalAndWaitForShutdown(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	return empty(h.monitor.WaitForShutdown(ctx))
}

// ExistsResource is not supported (protocol.md 0.2).
func (h *handler) ExistsResource(context.Context, *pulumirpc.ExistsResourceRequest) (*pulumirpc.ExistsResourceResponse, error) {
	return nil, status.Error(codes.Unimplemented, "method ExistsResource not implemented")
}

func empty(err error) (*emptypb.Empty, error) {
	if err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}
