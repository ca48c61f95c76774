package monitor

import (
	"context"
	"maps"
	"slices"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// getResource is the built-in function whose result may contain references even if the caller does not accept them (protocol.md 4.6).
const getResource = "pulumi:pulumi:getResource"

func (h *handler) Invoke(ctx context.Context, req *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
	decoded, err := decodeInvoke(req)
	if err != nil {
		return nil, statusOf(err)
	}
	shape := replyShape{
		secrets:    true,
		references: req.GetAcceptResources() || req.GetTok() == getResource,
		partial:    true,
	}
	reply, err := h.monitor.Invoke(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.ResourceInvokeResponse{Failures: encodeFailures(reply.Failures), Unknown: reply.Unknown}
	if out.Return, err = shape.encode(reply.Return); err != nil {
		return nil, statusOf(err)
	}
	return out, nil
}

func decodeInvoke(req *pulumirpc.ResourceInvokeRequest) (*stages.InvokeRequest, error) {
	args, err := decodeMap("args", req.GetArgs())
	if err != nil {
		return nil, err
	}
	parent, err := parseOptionalURN("parent ", req.GetParent())
	if err != nil {
		return nil, err
	}
	dependsOn, err := parseURNs("dependency ", req.GetDependsOn())
	if err != nil {
		return nil, err
	}
	return &stages.InvokeRequest{
		Token: req.GetTok(), Args: args, Provider: req.GetProvider(),
		Package: packageOf(urn.Type(req.GetTok()), req), PackageRef: req.GetPackageRef(),
		Parent: parent, DependsOn: dependsOn,
	}, nil
}

func encodeFailures(failures []stages.CheckFailure) []*pulumirpc.CheckFailure {
	var out []*pulumirpc.CheckFailure
	for _, f := range failures {
		out = append(out, &pulumirpc.CheckFailure{Property: f.Property, Reason: f.Reason})
	}
	return out
}

// Call answers with secrets and references: every SDK that has methods understands them.
func (h *handler) Call(ctx context.Context, req *pulumirpc.ResourceCallRequest) (*pulumirpc.CallResponse, error) {
	decoded, err := h.decodeCall(req)
	if err != nil {
		return nil, statusOf(err)
	}
	reply, err := h.monitor.Call(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.CallResponse{Failures: encodeFailures(reply.Failures)}
	if out.Return, err = (replyShape{secrets: true, references: true, partial: true}).encode(reply.Return); err != nil {
		return nil, statusOf(err)
	}
	for name, urns := range reply.ReturnDependencies {
		if out.ReturnDependencies == nil {
			out.ReturnDependencies = make(map[string]*pulumirpc.CallResponse_ReturnDependencies)
		}
		out.ReturnDependencies[name] = &pulumirpc.CallResponse_ReturnDependencies{Urns: texts(urns)}
	}
	return out, nil
}

func (h *handler) decodeCall(req *pulumirpc.ResourceCallRequest) (*stages.CallRequest, error) {
	args, err := decodeInputs("args", req.GetArgs(), true)
	if err != nil {
		return nil, err
	}
	var dependencies map[string][]urn.URN
	for _, name := range slices.Sorted(maps.Keys(req.GetArgDependencies())) {
		urns, err := parseURNs("", req.GetArgDependencies()[name].GetUrns())
		if err != nil {
			return nil, invalid("invalid dependency on argument %s: %w", name, err)
		}
		if dependencies == nil {
			dependencies = make(map[string][]urn.URN)
		}
		dependencies[name] = urns
	}
	return &stages.CallRequest{
		Token: req.GetTok(), Args: args, ArgDependencies: dependencies, Provider: req.GetProvider(),
		Package: packageOf(urn.Type(req.GetTok()), req), PackageRef: req.GetPackageRef(),
		SourcePosition: h.positions.text(req.GetSourcePosition()), StackTraceHandle: req.GetParentStackTraceHandle(),
	}, nil
}
