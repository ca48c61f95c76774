package plugin

import (
	"context"
	"io"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// List returns a page of the existing resources (protocol.md 3.12).
func (c *client) List(ctx context.Context, req providers.ListRequest) (providers.ListResponse, error) {
	s := subject{method: "list", token: string(req.Type)}
	e := c.encoder(s)
	msg := &pulumirpc.ListRequest{
		Token: string(req.Type), Query: e.encode(req.Query, c.outgoing(property.KeepUnknowns)), Limit: req.Limit,
		PageSize: req.PageSize, ContinuationToken: req.Continuation,
	}
	if e.err != nil {
		return providers.ListResponse{}, e.err
	}
	page, err := roundTrip(ctx, c, s, pages{c.rpc}.read, msg)
	if err != nil {
		return providers.ListResponse{}, err
	}
	var out providers.ListResponse
	for _, part := range page {
		switch r := part.GetResponse().(type) {
		case *pulumirpc.ListResponse_Computed_:
			out.Unknown = true
		case *pulumirpc.ListResponse_Result_:
			if r.Result.GetId() == "" {
				return providers.ListResponse{}, c.fault(s, "a resource that has no ID")
			}
			out.Resources = append(out.Resources, providers.Listed{ID: r.Result.GetId(), Name: r.Result.GetName()})
		case *pulumirpc.ListResponse_Continuation_:
			out.Continuation = r.Continuation.GetContinuationToken()
		}
	}
	return out, nil
}

// pages is a client for List, whose answer comes in parts.
type pages struct {
	rpc pulumirpc.ResourceProviderClient
}

// read reads the parts of one answer.
func (p pages) read(ctx context.Context, req *pulumirpc.ListRequest, o ...grpc.CallOption) ([]*pulumirpc.ListResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.rpc.List(ctx, req, o...)
	if err != nil {
		return nil, err
	}
	var page []*pulumirpc.ListResponse
	for {
		part, err := stream.Recv()
		if err == io.EOF { //nolint:errorlint // streams end with it
			return page, nil
		}
		if err != nil {
			return nil, err
		}
		page = append(page, part)
	}
}
