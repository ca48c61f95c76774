package main

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/urn"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

// Construct makes a component of any type, for example "simple:index:Group". Its input "count" is the number of its
// children: Things with the names "<name>-0" and so on, each with the component's other inputs. Its output "ids" are
// theirs.
func (p *provider) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	address, err := req.Deployment.MonitorAddress()
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	defer func() { _ = conn.Close() }()
	monitor := pulumirpc.NewResourceMonitorClient(conn)

	component, err := monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: string(req.Type), Name: req.Name, Parent: string(req.Parent), AcceptSecrets: true, AcceptResources: true,
		Object: &structpb.Struct{}, SupportsPartialValues: true,
	})
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	u := urn.URN(component.GetUrn())
	count, _ := req.Inputs.At("count").Unwrap()
	object, err := property.MarshalStruct(req.Inputs.Without("count").DowngradeOutputs(), serve.Wire())
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	var ids []property.Value
	var dependencies []urn.URN
	for n := range int(count.AsNumber()) {
		child, err := monitor.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
			Type: "simple:index:Thing", Name: fmt.Sprintf("%s-%d", req.Name, n), Parent: string(u), Custom: true, Object: object,
			AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true, Provider: req.Providers["simple"],
		})
		if err != nil {
			return providers.ConstructResponse{}, err
		}
		id := property.String(child.GetId())
		if child.GetId() == "" {
			id = property.Computed()
		}
		ids = append(ids, id)
		dependencies = append(dependencies, urn.URN(child.GetUrn()))
	}
	outputs := property.NewMap(map[string]property.Value{"ids": property.ArrayOf(ids...)})
	state, err := property.MarshalStruct(outputs, serve.Wire())
	if err != nil {
		return providers.ConstructResponse{}, err
	}
	_, err = monitor.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: string(u), Outputs: state})
	return providers.ConstructResponse{
		URN: u, Outputs: outputs, OutputDependency: map[string][]urn.URN{"ids": dependencies},
	}, err
}
