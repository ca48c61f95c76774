package serve

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sluice-iac/sluice/providers"
)

// viewStatus publishes views to the engine that made a call.
type viewStatus struct{ token providers.StatusToken }

// Token returns the token of the request.
func (s viewStatus) Token() (providers.StatusToken, error) { return s.token, nil }

// Publish sends steps to the engine.
func (s viewStatus) Publish(ctx context.Context, steps ...providers.ViewStep) error {
	var c codec
	req := &pulumirpc.PublishViewStepsRequest{Token: s.token.Token}
	for _, v := range steps {
		out := &pulumirpc.ViewStep{
			Status: pulumirpc.ViewStep_Status(v.Status), Error: v.Error, Op: pulumirpc.ViewStep_Op(v.Op), Old: c.viewState(v.Old),
			New: c.viewState(v.New), Keys: v.Keys, Diffs: v.Diffs, HasDetailedDiff: v.DetailedDiff != nil,
			DetailedDiff: map[string]*pulumirpc.PropertyDiff{},
		}
		for path, d := range v.DetailedDiff {
			out.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: pulumirpc.PropertyDiff_Kind(d.Kind), InputDiff: d.InputDiff}
		}
		req.Steps = append(req.Steps, out)
	}
	if c.err != nil {
		return c.err
	}
	conn, err := grpc.NewClient("passthrough:///"+s.token.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	_, err = pulumirpc.NewResourceStatusClient(conn).PublishViewSteps(ctx, req)
	_ = conn.Close()
	return err
}
