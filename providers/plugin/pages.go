package plugin

import (
	"context"
	"io"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

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
