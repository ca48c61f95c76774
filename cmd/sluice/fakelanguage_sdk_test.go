package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// GeneratePackage writes sdk.json, with the request. A schema with the description "warn" or "refuse" gets a remark, and one with the
// description "uses PACKAGE" needs the schema of that package.
func (*fakeLanguage) GeneratePackage(ctx context.Context, req *pulumirpc.GeneratePackageRequest) (*pulumirpc.GeneratePackageResponse, error) {
	fmt.Println("generating")
	var schema struct {
		Name, Version, Description string
		Meta                       struct{ SupportPack bool }
	}
	if err := json.Unmarshal([]byte(req.GetSchema()), &schema); err != nil {
		return nil, err
	}
	answer := &pulumirpc.GeneratePackageResponse{}
	switch schema.Description {
	case "warn":
		answer.Diagnostics = []*codegenrpc.Diagnostic{{Severity: codegenrpc.DiagnosticSeverity_DIAG_WARNING, Summary: "it is strange", Detail: "look at it"}}
	case "refuse":
		answer.Diagnostics = []*codegenrpc.Diagnostic{{Severity: codegenrpc.DiagnosticSeverity_DIAG_ERROR, Summary: "it is wrong"}}
		return answer, nil
	}
	asked := map[string]any{"name": schema.Name, "version": schema.Version, "local": req.GetLocal(), "pack": schema.Meta.SupportPack}
	if name, is := strings.CutPrefix(schema.Description, "uses "); is {
		other, err := loaded(ctx, req.GetLoaderTarget(), &codegenrpc.GetSchemaRequest{Package: name})
		if err != nil {
			return nil, err
		}
		asked["uses"] = other
	}
	for path, content := range req.GetExtraFiles() {
		if err := os.WriteFile(filepath.Join(req.GetDirectory(), path), content, 0o644); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	return answer, os.WriteFile(filepath.Join(req.GetDirectory(), "sdk.json"), text, 0o644)
}

// loaded requests a schema from the Loader service, and returns its name and version.
func loaded(ctx context.Context, address string, req *codegenrpc.GetSchemaRequest) (string, error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	answer, err := codegenrpc.NewLoaderClient(conn).GetSchema(ctx, req)
	if err != nil {
		return "", err
	}
	var has struct{ Name, Version string }
	err = json.Unmarshal(answer.GetSchema(), &has)
	return has.Name + " " + has.Version, err
}

// Link writes linked.json into the root of the program, with the request and the schema from the Loader service.
func (*fakeLanguage) Link(ctx context.Context, req *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	var lines []string
	for _, l := range req.GetPackages() {
		pkg := l.GetPackage()
		line := fmt.Sprintf("%s: %s %s %s", l.GetPath(), pkg.GetKind(), pkg.GetName(), pkg.GetVersion())
		ask := &codegenrpc.GetSchemaRequest{Package: pkg.GetName(), Version: pkg.GetVersion(), DownloadUrl: pkg.GetServer()}
		if p := pkg.GetParameterization(); p != nil {
			line += fmt.Sprintf(" as %s %s of %s", p.GetName(), p.GetVersion(), p.GetValue())
			ask.Parameterization = &codegenrpc.Parameterization{Name: p.GetName(), Version: p.GetVersion(), Value: p.GetValue()}
		}
		known, err := loaded(ctx, req.GetLoaderTarget(), ask)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line+", which is "+known)
	}
	text, err := json.MarshalIndent(lines, "", "  ")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(req.GetInfo().GetRootDirectory(), "linked.json")
	return &pulumirpc.LinkResponse{ImportInstructions: "Import it as fake."}, os.WriteFile(path, text, 0o644)
}

// InstallDependencies pretends to install something, unless there is an asset "broken".
func (*fakeLanguage) InstallDependencies(req *pulumirpc.InstallDependenciesRequest, stream pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	if _, err := os.Stat(filepath.Join(req.GetInfo().GetProgramDirectory(), "assets", "broken")); err == nil {
		return errors.New("there is no package manager")
	}
	return stream.Send(&pulumirpc.InstallDependenciesResponse{Stdout: []byte("fake dependencies\n")})
}
