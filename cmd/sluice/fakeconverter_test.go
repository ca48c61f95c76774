package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
)

// serveFakeConverter converts the states and programs of a tool called fake: files with a fakeDocument. FAKE_CONVERTER makes it misbehave
// before it serves.
func serveFakeConverter() {
	switch os.Getenv("FAKE_CONVERTER") {
	case "garbage":
		fmt.Println("hello, I am a converter")
		return
	case "dies":
		fmt.Fprintln(os.Stderr, "I need a license")
		os.Exit(3)
	}
	servePlugin(func(s *grpc.Server) { pulumirpc.RegisterConverterServer(s, fakeConverter{}) })
}

type fakeConverter struct {
	pulumirpc.UnimplementedConverterServer
}

// fakeDocument is a state or a program. The provider of a resource is one of the tool's; the mapping gives its name here.
type fakeDocument struct {
	Resources []struct {
		Provider, Hint, Kind, Name, ID, Region, Parent, Secret string
		Component                                              bool
	}
	Say     []struct{ Severity, Summary, Detail string }
	Behave  string // "dies", "hangs", "refuses"
	Asset   string // a file to write beside the program
	Name    string // of the project
	Package string // a package with a parameter
}

// readFake reads a document, and behaves according to it.
func readFake(ctx context.Context, path string) (*fakeDocument, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &fakeDocument{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	switch d.Behave {
	case "dies":
		fmt.Fprintln(os.Stderr, "panic: the document is beyond me")
		os.Exit(2)
	case "hangs":
		if err := os.WriteFile(path+".hangs", nil, 0o644); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case "refuses":
		return nil, errors.New("version 9 of the format is not known")
	}
	fmt.Fprintln(os.Stderr, "reading "+filepath.Base(path))
	return d, nil
}

func (d *fakeDocument) diagnostics(path string) []*codegen.Diagnostic {
	var out []*codegen.Diagnostic
	for i, s := range d.Say {
		severity := codegen.DiagnosticSeverity_DIAG_WARNING
		if s.Severity == "error" {
			severity = codegen.DiagnosticSeverity_DIAG_ERROR
		}
		out = append(out, &codegen.Diagnostic{
			Severity: severity, Summary: s.Summary, Detail: s.Detail,
			Subject: &codegen.Range{Filename: filepath.Base(path), Start: &codegen.Pos{Line: int64(i + 2), Column: 5}},
		})
	}
	return out
}

// dialTest returns a connection with a service of sluice.
func dialTest(target string) *grpc.ClientConn {
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return conn
}

// mapping requests the names that correspond to those of a provider of the tool.
func mapping(ctx context.Context, target, provider, hint string) (map[string]string, error) {
	conn := dialTest(target)
	defer conn.Close()
	answer, err := codegen.NewMapperClient(conn).GetMapping(ctx, &codegen.GetMappingRequest{Provider: provider, PulumiProvider: hint})
	if err != nil {
		return nil, err
	}
	if len(answer.GetData()) == 0 {
		return nil, fmt.Errorf("nobody knows the provider %s", provider)
	}
	names := map[string]string{}
	return names, json.Unmarshal(answer.GetData(), &names)
}

func (fakeConverter) ConvertState(ctx context.Context, req *pulumirpc.ConvertStateRequest) (*pulumirpc.ConvertStateResponse, error) {
	if len(req.GetArgs()) == 0 {
		return nil, errors.New("name the file with the state")
	}
	path := req.GetArgs()[0]
	d, err := readFake(ctx, path)
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.ConvertStateResponse{Diagnostics: d.diagnostics(path)}
	for _, r := range d.Resources {
		q := &pulumirpc.ResourceImport{Name: r.Name, Id: r.ID, IsComponent: r.Component, Type: r.Kind, Parent: r.Parent}
		if !r.Component {
			names, err := mapping(ctx, req.GetMapperTarget(), r.Provider, r.Hint)
			if err != nil {
				return nil, err
			}
			q.Type = names[r.Kind]
		}
		if r.Secret != "" {
			inputs, err := structpb.NewStruct(map[string]any{"password": map[string]any{
				"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": r.Secret,
			}})
			if err != nil {
				return nil, err
			}
			q.Inputs = inputs
		}
		answer.Resources = append(answer.Resources, q)
	}
	return answer, nil
}

func (fakeConverter) ConvertProgram(ctx context.Context, req *pulumirpc.ConvertProgramRequest) (*pulumirpc.ConvertProgramResponse, error) {
	path := filepath.Join(req.GetSourceDirectory(), "main.fake")
	d, err := readFake(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return &pulumirpc.ConvertProgramResponse{}, nil
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", strings.Join(req.GetArgs(), " "))
	if d.Package != "" {
		fmt.Fprintf(&b, "package %q {\n  baseProviderName = \"any\"\n  parameterization {\n    name = %q\n  }\n}\n", d.Package, d.Package)
	}
	for _, r := range d.Resources {
		names, err := mapping(ctx, req.GetMapperTarget(), r.Provider, r.Hint)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "resource %q %q {\n  region = %q\n}\n", r.Name, names[r.Kind], r.Region)
	}
	files := map[string]string{}
	if len(d.Resources) > 0 {
		files["main.pp"] = b.String()
	}
	if d.Asset != "" {
		files["assets/"+d.Asset] = "an asset\n"
	}
	if d.Name != "" {
		files["Pulumi.yaml"] = "name: " + d.Name + "\ndescription: as it was\n"
	}
	for name, text := range files {
		to := filepath.Join(req.GetTargetDirectory(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.ConvertProgramResponse{Diagnostics: d.diagnostics(path)}, nil
}

// GetMappings returns the one provider of the other tool that this one has a mapping for.
func (*fakeProvider) GetMappings(_ context.Context, r *pulumirpc.GetMappingsRequest) (*pulumirpc.GetMappingsResponse, error) {
	if r.GetKey() != "fake" {
		return &pulumirpc.GetMappingsResponse{}, nil
	}
	return &pulumirpc.GetMappingsResponse{Providers: []string{"things"}}, nil
}

// GetMapping returns a mapping in the form of the fake converter, or the one for Terraform, whose provider has no name before this call.
func (*fakeProvider) GetMapping(_ context.Context, r *pulumirpc.GetMappingRequest) (*pulumirpc.GetMappingResponse, error) {
	if r.GetKey() == "terraform" && r.GetProvider() == "" {
		return &pulumirpc.GetMappingResponse{Provider: "tffake", Data: []byte("its names")}, nil
	}
	if r.GetKey() != "fake" || r.GetProvider() != "things" {
		return &pulumirpc.GetMappingResponse{}, nil
	}
	return &pulumirpc.GetMappingResponse{Provider: "things", Data: []byte(`{"thing": "fake:index:Thing"}`)}, nil
}

var fakeResource = regexp.MustCompile(`resource "(.*)" "(.*)" \{\n  region = "(.*)"\n\}`)

// GenerateProject writes the output of the fake converter as a program of this language. It refuses a region "nowhere" if it is strict,
// and "mars" always. The region "crash" is a bug.
func (*fakeLanguage) GenerateProject(ctx context.Context, req *pulumirpc.GenerateProjectRequest) (*pulumirpc.GenerateProjectResponse, error) {
	text, err := os.ReadFile(filepath.Join(req.GetSourceDirectory(), "main.pp"))
	if err != nil {
		return nil, err
	}
	conn := dialTest(req.GetLoaderTarget())
	defer conn.Close()
	var resources []map[string]any
	var said []*codegen.Diagnostic
	for _, r := range fakeResource.FindAllStringSubmatch(string(text), -1) {
		pkg, _, _ := strings.Cut(r[2], ":")
		schema, err := codegen.NewLoaderClient(conn).GetSchema(ctx, &codegen.GetSchemaRequest{Package: pkg})
		if err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", pkg, err)
		}
		if !strings.Contains(string(schema.GetSchema()), fmt.Sprintf("%q", r[2])) {
			said = append(said, &codegen.Diagnostic{Severity: codegen.DiagnosticSeverity_DIAG_ERROR, Summary: "no type " + r[2]})
		}
		if r[3] == "crash" {
			fmt.Fprintln(os.Stderr, "panic: a region that does not exist")
			os.Exit(2)
		}
		if r[3] == "mars" || r[3] == "nowhere" && req.GetStrict() {
			said = append(said, &codegen.Diagnostic{Severity: codegen.DiagnosticSeverity_DIAG_ERROR, Summary: "no region " + r[3]})
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
func (*fakeLanguage) RunPlugin(req *pulumirpc.RunPluginRequest, stream grpc.ServerStreamingServer[pulumirpc.RunPluginResponse]) error {
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
