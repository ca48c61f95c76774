package monitor

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// RegisterDirectly runs the handler of RegisterResource without a connection.
func RegisterDirectly(m stages.Monitor, req *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
	h := newHandler(source.ServedMonitor{Monitor: m, Root: "/p"})
	defer h.callbacks.close()
	return h.RegisterResource(context.Background(), req)
}
