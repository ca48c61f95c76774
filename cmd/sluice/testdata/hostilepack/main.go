// Command hostilepack is a policy pack that does what no pack should. HOSTILE_PACK selects it: "<method> <deed>", for
// example "analyze hang". All other methods find nothing.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

func main() {
	method, deed, _ := strings.Cut(os.Getenv("HOSTILE_PACK"), " ")
	p := &pack{method: method, deed: deed}
	if p.deed == "stubborn" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		p.deed = "hang"
	}
	p.do("start")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := grpc.NewServer(grpc.MaxSendMsgSize(1<<30), grpc.MaxRecvMsgSize(1<<30))
	pulumirpc.RegisterAnalyzerServer(s, p)
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	if err := s.Serve(l); err != nil {
		panic(err)
	}
}

type pack struct {
	pulumirpc.UnimplementedAnalyzerServer
	method, deed string
}

// do does the deeds that any method may do.
func (p *pack) do(method string) error {
	if method != p.method {
		return nil
	}
	switch p.deed {
	case "hang":
		if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), "hanging"), nil, 0o600); err != nil {
			return err
		}
		select {}
	case "die":
		fmt.Fprintln(os.Stderr, "the pack dies")
		os.Exit(3)
	case "fail":
		return status.Error(codes.Unknown, "the policy threw")
	case "absent":
		return status.Error(codes.Unimplemented, "no such method")
	case "unavailable":
		return status.Error(codes.Unavailable, "come back later")
	case "canceled":
		return status.Error(codes.Canceled, "canceled")
	case "flood":
		line := []byte(strings.Repeat("flood ", 1000) + "\n")
		for range 300 << 20 / len(line) {
			os.Stdout.Write(line)
			os.Stderr.Write(line)
		}
	case "deadline":
		return status.Error(codes.DeadlineExceeded, "too late")
	}
	return nil
}

func (p *pack) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, p.do("handshake")
}

func (p *pack) ConfigureStack(context.Context, *pulumirpc.AnalyzerStackConfigureRequest) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	return &pulumirpc.AnalyzerStackConfigureResponse{}, p.do("configurestack")
}

func (p *pack) Configure(context.Context, *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, p.do("configure")
}

func (p *pack) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	info := &pulumirpc.AnalyzerInfo{Name: "hostile", Version: "1.0.0", SupportsConfig: true, Policies: []*pulumirpc.PolicyInfo{
		{Name: "resources", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY, PolicyType: pulumirpc.PolicyType_POLICY_TYPE_RESOURCE},
		{Name: "stack", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY, PolicyType: pulumirpc.PolicyType_POLICY_TYPE_STACK},
	}}
	if p.method == "info" {
		switch p.deed {
		case "huge":
			info.Description = strings.Repeat("x", 100<<20)
		case "level":
			info.Policies[0].EnforcementLevel = 77
		case "twice":
			info.Policies = append(info.Policies, &pulumirpc.PolicyInfo{Name: "resources"})
		case "nameless":
			info.Name = ""
		case "escape":
			info.Name = "\x1b[2Jpack\nerror: all is well"
		}
	}
	return info, p.do("info")
}

func (p *pack) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, p.do("cancel")
}

func (p *pack) Remediate(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	if err := p.do("remediate"); err != nil {
		return nil, err
	}
	if p.method != "remediate" || r.GetType() != "simple:index:Thing" {
		return &pulumirpc.RemediateResponse{}, nil
	}
	var v any
	switch p.deed {
	case "unknown":
		v = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
	case "signature":
		v = map[string]any{"4dabf18193072939515e22adb298388d": "nonsense", "value": 1}
	case "secret":
		v = map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
	case "computed":
		v = map[string]any{"4dabf18193072939515e22adb298388d": "d0e6a833031e9bbcd3f4e8bde6ca49a4"}
	case "deep":
		for range 4000 {
			v = []any{v}
		}
	case "huge":
		v = strings.Repeat("x", 100<<20)
	case "copy": // of a secret, to a place where it is not secret
		v = r.GetProperties().GetFields()["password"].GetStructValue().GetFields()["value"].GetStringValue()
	case "nothing":
		return &pulumirpc.RemediateResponse{Remediations: []*pulumirpc.Remediation{{PolicyName: "resources", Properties: &structpb.Struct{}}}}, nil
	default:
		return &pulumirpc.RemediateResponse{}, nil
	}
	value, err := structpb.NewValue(v)
	if err != nil {
		return nil, err
	}
	r.GetProperties().Fields["x"] = value
	return &pulumirpc.RemediateResponse{Remediations: []*pulumirpc.Remediation{{PolicyName: "nobody's", Properties: r.GetProperties()}}}, nil
}

func (p *pack) Analyze(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	if r.GetType() != "simple:index:Thing" {
		return &pulumirpc.AnalyzeResponse{}, nil
	}
	if err := p.do("analyze"); err != nil {
		return nil, err
	}
	return p.violation("analyze", r.GetProperties().GetFields()["password"].GetStructValue().GetFields()["value"].GetStringValue()), nil
}

func (p *pack) AnalyzeStack(context.Context, *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	if err := p.do("analyzestack"); err != nil {
		return nil, err
	}
	return p.violation("analyzestack", ""), nil
}

func (p *pack) violation(method, secret string) *pulumirpc.AnalyzeResponse {
	d := &pulumirpc.AnalyzeDiagnostic{PolicyName: "resources", Message: "no", EnforcementLevel: pulumirpc.EnforcementLevel_MANDATORY}
	switch {
	case p.method != method:
		return &pulumirpc.AnalyzeResponse{}
	case p.deed == "violate":
	case p.deed == "tell":
		fmt.Println("the secret is", secret)
		fmt.Fprintln(os.Stderr, "the secret is", secret)
		d.Message, d.EnforcementLevel = "the secret is "+secret, pulumirpc.EnforcementLevel_ADVISORY
	case p.deed == "level":
		d.EnforcementLevel = -5
	case p.deed == "unknown":
		d.PolicyName = "\x1b[31mnobody's\nerror: all is well"
	case p.deed == "urn":
		d.Urn, d.EnforcementLevel = "urn:pulumi:other::other::a:b:C::\x1b[2Jx\ny", pulumirpc.EnforcementLevel_ADVISORY
	case p.deed == "huge":
		d.Message = strings.Repeat("x", 100<<20)
	case p.deed == "many":
		r := &pulumirpc.AnalyzeResponse{}
		for range 100000 {
			r.Diagnostics = append(r.Diagnostics, d)
		}
		return r
	default:
		return &pulumirpc.AnalyzeResponse{}
	}
	return &pulumirpc.AnalyzeResponse{Diagnostics: []*pulumirpc.AnalyzeDiagnostic{d}}
}
