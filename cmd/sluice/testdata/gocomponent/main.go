// Command gocomponent is a plugin with a component and its method, as a user would write it with the SDK for Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	greeterType = "golang:index:Greeter"
	shoutMethod = greeterType + "/shout"

	schema = `{"name": "golang", "version": "1.0.0", "resources": {"` + greeterType + `": {
		"isComponent": true,
		"inputProperties": {"who": {"type": "string"}, "password": {"type": "string"}},
		"requiredInputs": ["who"],
		"properties": {"greeting": {"type": "string"}, "hidden": {"type": "string"}}
	}}}`
)

// greeter has a child. It says hello, and says it loudly if the setting requests that.
type greeter struct {
	pulumi.ResourceState
	Greeting pulumi.StringOutput `pulumi:"greeting"`
	Hidden   pulumi.StringOutput `pulumi:"hidden"`
}

type greeterArgs struct {
	Who      pulumi.StringInput    `pulumi:"who"`
	Password pulumi.StringPtrInput `pulumi:"password"`
}

func newGreeter(ctx *pulumi.Context, name string, args greeterArgs, options ...pulumi.ResourceOption) (*greeter, error) {
	var g greeter
	if err := ctx.RegisterComponentResource(greeterType, name, &g, options...); err != nil {
		return nil, err
	}
	if args.Password == nil {
		args.Password = pulumi.StringPtr("none")
	}
	g.Greeting = args.Who.ToStringOutput().ApplyT(func(who string) (string, error) {
		if who == "nobody" {
			return "", errors.New("there is nobody to greet")
		}
		return "hello " + who + " from Go", nil
	}).(pulumi.StringOutput)
	g.Hidden = args.Password.ToStringPtrOutput().Elem().ApplyT(func(p string) string { return "pw:" + p }).(pulumi.StringOutput)
	var thing pulumi.CustomResourceState
	inputs := pulumi.Map{"value": g.Greeting, "password": args.Password}
	if err := ctx.RegisterResource("simple:index:Thing", name+"-thing", inputs, &thing, pulumi.Parent(&g)); err != nil {
		return nil, err
	}
	return &g, ctx.RegisterResourceOutputs(&g, pulumi.Map{"greeting": g.Greeting, "hidden": g.Hidden})
}

// module makes resources of this package from their URNs.
type module struct{}

func (module) Version() semver.Version { return semver.Version{Major: 1} }

func (module) Construct(ctx *pulumi.Context, name, typ, urn string) (pulumi.Resource, error) {
	var g greeter
	return &g, ctx.RegisterResource(typ, name, nil, &g, pulumi.URN_(urn))
}

type server struct {
	pulumirpc.UnimplementedResourceProviderServer
	engine *grpc.ClientConn
}

func (*server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (*server) GetSchema(context.Context, *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	return &pulumirpc.GetSchemaResponse{Schema: schema}, nil
}

func (*server) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true, SupportsPreview: true}, nil
}

func (s *server) Construct(ctx context.Context, req *pulumirpc.ConstructRequest) (*pulumirpc.ConstructResponse, error) {
	return provider.Construct(ctx, req, s.engine, func(ctx *pulumi.Context, typ, name string, inputs provider.ConstructInputs,
		options pulumi.ResourceOption,
	) (*provider.ConstructResult, error) {
		if typ != greeterType {
			return nil, fmt.Errorf("there is no component %s", typ)
		}
		var args greeterArgs
		if err := inputs.CopyTo(&args); err != nil {
			return nil, err
		}
		g, err := newGreeter(ctx, name, args, options)
		if err != nil {
			return nil, err
		}
		return provider.NewConstructResult(g)
	})
}

func (s *server) Call(ctx context.Context, req *pulumirpc.CallRequest) (*pulumirpc.CallResponse, error) {
	return provider.Call(ctx, req, s.engine, func(_ *pulumi.Context, token string, args provider.CallArgs) (*provider.CallResult, error) {
		var in struct {
			Mark pulumi.StringInput `pulumi:"mark"`
		}
		self, err := args.CopyTo(&in)
		if err != nil {
			return nil, err
		}
		g, ok := self.(*greeter)
		if !ok || token != shoutMethod {
			return nil, fmt.Errorf("there is no method %s of %T", token, self)
		}
		if in.Mark == nil {
			return &provider.CallResult{Failures: []provider.CallFailure{{Property: "mark", Reason: "there is no mark to shout with"}}}, nil
		}
		return provider.NewSingletonCallResult(pulumi.Sprintf("%s%s", g.Greeting, in.Mark))
	})
}

func main() {
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(engine string) error {
	pulumi.RegisterResourceModule("golang", "index", module{})
	conn, err := grpc.NewClient(engine, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(s, &server{engine: conn})
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	return s.Serve(l)
}
