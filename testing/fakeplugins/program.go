package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

type program struct {
	Resources []struct {
		Name      string
		Type      string // "" is the type of the fake provider
		Inputs    map[string]any
		Protect   bool
		Component bool
		Parent    string // "" is the stack
		After     []string
		Renames   map[string]string // what a state migration renames at or below the resource
	}
	Outputs map[string]any
	Asks    []string // packages whose schemas and mappings become outputs
	Print   string   // written to the log
	Fail    string
}

// callbacks serves the state migration of a program.
type callbacks struct {
	pulumirpc.UnimplementedCallbacksServer
	server  *grpc.Server
	serving conc.WaitGroup
	names   map[string]string
}

func (p *program) run(ctx context.Context, req *pulumirpc.RunRequest, m pulumirpc.ResourceMonitorClient) error {
	root, err := m.RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{
		Type: "pulumi:pulumi:Stack", Name: req.GetProject() + "-" + req.GetStack(), AcceptSecrets: true,
	})
	if err != nil {
		return err
	}
	urns := map[string]string{}
	callbacks := &callbacks{}
	defer callbacks.stop()
	for _, r := range p.Resources {
		inputs, err := structpb.NewStruct(r.Inputs)
		if err != nil {
			return err
		}
		in := &pulumirpc.RegisterResourceRequest{
			Type: cmp.Or(r.Type, "fake:index:Thing"), Name: r.Name, Parent: cmp.Or(urns[r.Parent], root.GetUrn()), Custom: !r.Component, Object: inputs, AcceptSecrets: true,
			SupportsPartialValues: true, Protect: &r.Protect,
		}
		for _, name := range r.After {
			in.Dependencies = append(in.Dependencies, urns[name])
		}
		if r.Renames != nil {
			if in.StateMigrations, err = callbacks.renames(r.Renames); err != nil {
				return err
			}
		}
		out, err := m.RegisterResource(ctx, in)
		if err != nil {
			return err
		}
		urns[r.Name] = out.GetUrn()
	}
	for _, name := range p.Asks {
		answer, err := asked(ctx, req.GetLoaderTarget(), req.GetMapperTarget(), name)
		if err != nil {
			return err
		}
		if p.Outputs == nil {
			p.Outputs = map[string]any{}
		}
		p.Outputs[name] = answer
	}
	outputs, err := structpb.NewStruct(p.Outputs)
	if err != nil {
		return err
	}
	if _, err := m.RegisterResourceOutputs(ctx, &pulumirpc.RegisterResourceOutputsRequest{Urn: root.GetUrn(), Outputs: outputs}); err != nil {
		return err
	}
	if p.Print != "" {
		fmt.Println(p.Print)
	}
	if p.Fail != "" {
		return errors.New(p.Fail)
	}
	return nil
}

func (c *callbacks) renames(names map[string]string) ([]*pulumirpc.Callback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.names, c.server = names, grpc.NewServer()
	pulumirpc.RegisterCallbacksServer(c.server, c)
	c.serving.Go(func() { _ = c.server.Serve(l) })
	return []*pulumirpc.Callback{{Target: l.Addr().String(), Token: "rename"}}, nil
}

func (c *callbacks) stop() {
	if c.server != nil {
		c.server.Stop()
		c.serving.Wait()
	}
}

func (c *callbacks) Invoke(_ context.Context, req *pulumirpc.CallbackInvokeRequest) (*pulumirpc.CallbackInvokeResponse, error) {
	var in pulumirpc.StateMigrationRequest
	if err := proto.Unmarshal(req.GetRequest(), &in); err != nil {
		return nil, err
	}
	var states []map[string]any
	if err := json.Unmarshal(in.GetOldState(), &states); err != nil {
		return nil, err
	}
	out := &pulumirpc.StateMigrationResponse{Successors: map[string]string{}}
	for _, state := range states {
		was := state["urn"].(string)
		prefix, name := was[:strings.LastIndex(was, "::")+2], was[strings.LastIndex(was, "::")+2:]
		if now := c.names[name]; now != "" {
			state["urn"], out.Successors[was] = prefix+now, prefix+now
		}
	}
	if len(out.Successors) > 0 {
		var err error
		if out.NewState, err = json.Marshal(states); err != nil {
			return nil, err
		}
	}
	answer, err := proto.Marshal(out)
	return &pulumirpc.CallbackInvokeResponse{Response: answer}, err
}
