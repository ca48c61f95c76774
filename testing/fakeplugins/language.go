package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

func serveLanguage() {
	serve(func(s *grpc.Server) { pulumirpc.RegisterLanguageRuntimeServer(s, &language{}) })
}

// language runs programs that are JSON files: program.json in the directory of the program.
type language struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
}

var declaration = regexp.MustCompile(`resource "(.*)" "(.*)" \{\n  region = "(.*)"\n\}`)

// GenerateProject writes the output of the fake converter as a program of this language. It refuses a region "nowhere" if it is strict,
// and "mars" always. The region "crash" is a bug.
func (*language) GenerateProject(ctx context.Context, req *pulumirpc.GenerateProjectRequest) (*pulumirpc.GenerateProjectResponse, error) {
	text, err := os.ReadFile(filepath.Join(req.GetSourceDirectory(), "main.pp"))
	if err != nil {
		return nil, err
	}
	conn := dial(req.GetLoaderTarget())
	defer conn.Close()
	var resources []map[string]any
	var said []*codegenrpc.Diagnostic
	for _, r := range declaration.FindAllStringSubmatch(string(text), -1) {
		pkg, _, _ := strings.Cut(r[2], ":")
		schema, err := codegenrpc.NewLoaderClient(conn).GetSchema(ctx, &codegenrpc.GetSchemaRequest{Package: pkg})
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", pkg, err)
		}
		if !strings.Contains(string(schema.GetSchema()), fmt.Sprintf("%q", r[2])) {
			said = append(said, &codegenrpc.Diagnostic{Severity: codegenrpc.DiagnosticSeverity_DIAG_ERROR, Summary: "no type " + r[2]})
		}
		if r[3] == "crash" {
			fmt.Fprintln(os.Stderr, "panic: a region that does not exist")
			os.Exit(2)
		}
		if r[3] == "mars" || r[3] == "nowhere" && req.GetStrict() {
			said = append(said, &codegenrpc.Diagnostic{Severity: codegenrpc.DiagnosticSeverity_DIAG_ERROR, Summary: "no region " + r[3]})
		}
		resources = append(resources, map[string]any{"name": r[1], "type": r[2], "inputs": map[string]any{"region": r[3]}})
	}
	project := map[string]any{}
	if err := json.Unmarshal([]byte(req.GetProject()), &project); err != nil {
		return nil, err
	}
	project["runtime"] = "fake"
	for name, content := range map[string]any{"Pulumi.yaml": project, "program.json": map[string]any{"resources": resources}} {
		encoded, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(req.GetTargetDirectory(), name), encoded, 0o644); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.GenerateProjectResponse{Diagnostics: said}, nil
}

// RunPlugin runs the fake converter for any plugin in source form. A tool prints its arguments and ends with status 5.
func (*language) RunPlugin(req *pulumirpc.RunPluginRequest, stream grpc.ServerStreamingServer[pulumirpc.RunPluginResponse]) error {
	if req.GetKind() == "tool" {
		said := fmt.Appendf(nil, "tool %s in %s", req.GetArgs(), filepath.Base(req.GetPwd()))
		return errors.Join(
			stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: said}}),
			stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: []byte("and more")}}),
			stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: 5}}),
		)
	}
	if req.GetKind() != "converter" {
		return fmt.Errorf("a plugin of the kind %s", req.GetKind())
	}
	cmd := exec.CommandContext(stream.Context(), "pulumi-converter-fake")
	cmd.Dir, cmd.Env = req.GetPwd(), req.GetEnv()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	line := make([]byte, 1)
	for {
		if _, err := out.Read(line); err != nil {
			break
		}
		if err := stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: line}}); err != nil {
			return errors.Join(err, cmd.Wait())
		}
	}
	return cmd.Wait()
}

// GeneratePackage writes sdk.json, with the request. A schema with the description "warn" or "refuse" gets a remark, and one with the
// description "uses PACKAGE" needs the schema of that package.
func (*language) GeneratePackage(ctx context.Context, req *pulumirpc.GeneratePackageRequest) (*pulumirpc.GeneratePackageResponse, error) {
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
	conn := dial(address)
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
func (*language) Link(ctx context.Context, req *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
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
func (*language) InstallDependencies(req *pulumirpc.InstallDependenciesRequest, stream pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	if _, err := os.Stat(filepath.Join(req.GetInfo().GetProgramDirectory(), "assets", "broken")); err == nil {
		return errors.New("there is no package manager")
	}
	return stream.Send(&pulumirpc.InstallDependenciesResponse{Stdout: []byte("fake dependencies\n")})
}

func (*language) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (*language) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "1.0.0"}, nil
}

func (*language) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (*language) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	text, err := os.ReadFile(filepath.Join(req.GetPwd(), "program.json"))
	if err != nil {
		return nil, err
	}
	for name, value := range req.GetConfig() {
		replacement := fmt.Sprintf("%q", value)
		if slices.Contains(req.GetConfigSecretKeys(), name) {
			replacement = fmt.Sprintf(`{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": %q}`, value)
		}
		text = bytes.ReplaceAll(text, fmt.Appendf(nil, "%q", "${"+name+"}"), []byte(replacement))
	}
	text = bytes.ReplaceAll(text, []byte(`"${preview}"`), fmt.Append(nil, req.GetDryRun()))
	var p program
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	conn := dial(req.GetMonitorAddress())
	defer conn.Close()
	if err := p.run(ctx, req, pulumirpc.NewResourceMonitorClient(conn)); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}
