package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc/pool"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/bench/shape"
)

// caller registers resources with plain gRPC calls.
type caller struct {
	monitor pulumirpc.ResourceMonitorClient
	shape   string
	key     string                   // of the hub; "" if nothing is replaced
	changed int                      // how many resources have other inputs
	urns    []func() (string, error) // of the resources; each function waits for the registration
	waited  []time.Duration          // for the answer of each resource
}

func withCalls(name string, size, changed int) error {
	conn, err := grpc.NewClient("passthrough:///"+os.Getenv("PULUMI_MONITOR"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	c := &caller{
		monitor: pulumirpc.NewResourceMonitorClient(conn), shape: name, key: os.Getenv(shape.EnvKey), changed: changed,
		urns: make([]func() (string, error), size), waited: make([]time.Duration, size),
	}
	ctx := context.Background()
	for i := range size {
		c.urns[i] = sync.OnceValues(func() (string, error) { return c.register(ctx, i) })
	}
	all := pool.New().WithErrors()
	for i := range size {
		all.Go(func() error {
			_, err := c.urns[i]()
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if _, err := c.monitor.SignalAndWaitForShutdown(ctx, &emptypb.Empty{}); err != nil {
		return err
	}
	return c.report(os.Getenv(shape.EnvLatencies))
}

// report writes how long each resource waited for its answer; "" writes nothing.
func (c *caller) report(file string) error {
	if file == "" {
		return nil
	}
	var text strings.Builder
	for _, d := range c.waited {
		fmt.Fprintln(&text, d.Nanoseconds())
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

func (c *caller) register(ctx context.Context, i int) (string, error) {
	req := &pulumirpc.RegisterResourceRequest{
		Type: shape.Type, Name: shape.Name(i), Custom: true, AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true,
		Object: &structpb.Struct{Fields: map[string]*structpb.Value{
			"index": structpb.NewNumberValue(float64(i)), "label": structpb.NewStringValue(shape.Label(i, c.changed)), "enabled": structpb.NewBoolValue(true),
		}},
	}
	if on, ok := shape.DependencyOf(c.shape, i); ok {
		u, err := c.urns[on]()
		if err != nil {
			return "", err
		}
		req.Dependencies = []string{u}
	}
	if c.key != "" {
		input, value := shape.InputOfHub, "of this hub"
		if i == 0 {
			input, value = shape.KeyOfHub, c.key
		}
		req.Object.Fields[input] = structpb.NewStringValue(value)
	}
	began := time.Now()
	reply, err := c.monitor.RegisterResource(ctx, req)
	if err != nil {
		return "", fmt.Errorf("registering %s: %w", req.GetName(), err)
	}
	c.waited[i] = time.Since(began)
	return reply.GetUrn(), nil
}
