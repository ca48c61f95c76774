package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

// serveConverter converts the states and programs of a tool called fake: files with a document. FAKE_CONVERTER makes it misbehave
// before it serves.
func serveConverter() {
	switch os.Getenv("FAKE_CONVERTER") {
	case "garbage":
		fmt.Println("hello, I am a converter")
		return
	case "dies":
		fmt.Fprintln(os.Stderr, "I need a license")
		os.Exit(3)
	}
	serve(func(s *grpc.Server) { pulumirpc.RegisterConverterServer(s, converter{}) })
}

type converter struct {
	pulumirpc.UnimplementedConverterServer
}

// document is a state or a program. The provider of a resource is one of the tool's; the mapping gives its name here.
type document struct {
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

// readDocument reads a document, and behaves according to it.
func readDocument(ctx context.Context, path string) (*document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := &document{}
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

func (d *document) diagnostics(path string) []*codegenrpc.Diagnostic {
	var out []*codegenrpc.Diagnostic
	for i, s := range d.Say {
		severity := codegenrpc.DiagnosticSeverity_DIAG_WARNING
		if s.Severity == "error" {
			severity = codegenrpc.DiagnosticSeverity_DIAG_ERROR
		}
		out = append(out, &codegenrpc.Diagnostic{
			Severity: severity, Summary: s.Summary, Detail: s.Detail,
			Subject: &codegenrpc.Range{Filename: filepath.Base(path), Start: &codegenrpc.Pos{Line: int64(i + 2), Column: 5}},
		})
	}
	return out
}

// mapping requests the names that correspond to those of a provider of the tool.
func mapping(ctx context.Context, target, provider, hint string) (map[string]string, error) {
	conn := dial(target)
	defer conn.Close()
	answer, err := codegenrpc.NewMapperClient(conn).GetMapping(ctx, &codegenrpc.GetMappingRequest{Provider: provider, PulumiProvider: hint})
	if err != nil {
		return nil, err
	}
	if len(answer.GetData()) == 0 {
		return nil, fmt.Errorf("nobody knows the provider %s", provider)
	}
	names := map[string]string{}
	return names, json.Unmarshal(answer.GetData(), &names)
}

func (converter) ConvertState(ctx context.Context, req *pulumirpc.ConvertStateRequest) (*pulumirpc.ConvertStateResponse, error) {
	if len(req.GetArgs()) == 0 {
		return nil, errors.New("name the file with the state")
	}
	path := req.GetArgs()[0]
	d, err := readDocument(ctx, path)
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

func (converter) ConvertProgram(ctx context.Context, req *pulumirpc.ConvertProgramRequest) (*pulumirpc.ConvertProgramResponse, error) {
	path := filepath.Join(req.GetSourceDirectory(), "main.fake")
	d, err := readDocument(ctx, path)
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
