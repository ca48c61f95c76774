package main

import (
	"context"
	"fmt"
	"maps"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// serveAnalyzer serves a policy pack.
func serveAnalyzer() {
	serve(func(s *grpc.Server) { pulumirpc.RegisterAnalyzerServer(s, analyzer{}) })
}

// analyzer judges by properties: "forbidden" is a mandatory violation, "doubted" an advisory one, and "untagged" is removed by a
// remediation. The stack may have one resource with the property "single".
type analyzer struct {
	pulumirpc.UnimplementedAnalyzerServer
}

func (analyzer) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	return &pulumirpc.AnalyzerInfo{Name: "rules"}, nil
}

func (analyzer) Analyze(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	out := &pulumirpc.AnalyzeResponse{}
	for property, level := range map[string]pulumirpc.EnforcementLevel{"forbidden": pulumirpc.EnforcementLevel_MANDATORY, "doubted": pulumirpc.EnforcementLevel_ADVISORY} {
		if v := r.GetProperties().GetFields()[property]; v != nil {
			out.Diagnostics = append(out.Diagnostics, &pulumirpc.AnalyzeDiagnostic{
				PolicyName: "no-" + property, Message: property + ": " + fmt.Sprint(v.AsInterface()), EnforcementLevel: level, Urn: r.GetUrn(),
			})
		}
	}
	return out, nil
}

func (analyzer) Remediate(_ context.Context, r *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	if r.GetProperties().GetFields()["untagged"] == nil {
		return &pulumirpc.RemediateResponse{}, nil
	}
	tagged := maps.Clone(r.GetProperties().GetFields())
	delete(tagged, "untagged")
	return &pulumirpc.RemediateResponse{Remediations: []*pulumirpc.Remediation{{PolicyName: "tagged", Properties: &structpb.Struct{Fields: tagged}}}}, nil
}

func (analyzer) AnalyzeStack(_ context.Context, r *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	out, found := &pulumirpc.AnalyzeResponse{}, 0
	for _, one := range r.GetResources() {
		if one.GetProperties().GetFields()["single"] != nil {
			found++
		}
	}
	if found > 1 {
		out.Diagnostics = append(out.Diagnostics, &pulumirpc.AnalyzeDiagnostic{
			PolicyName: "single", Message: fmt.Sprintf("%d are single", found), EnforcementLevel: pulumirpc.EnforcementLevel_REMEDIATE,
		})
	}
	return out, nil
}
