package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Options configure the Loader service.
type Options struct {
	// Providers starts the providers that have the schemas.
	Providers providers.Host
	// Known are schemas that need no provider.
	Known []Known
	// Warn is called when a [Server] refuses a caller; nil discards.
	Warn func(message string)
}

// Known is the schema of a package, as JSON. An empty version stands for every version.
type Known struct{ Package, Version, Schema string }

// Server is a Loader server. Its methods are safe for many goroutines.
type Server struct{ *loopback.Server }

// NewServer returns a server. It listens once its address is requested. The end of ctx stops it like Close, which must be called in any
// case.
func NewServer(ctx context.Context, o Options) *Server {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return &Server{loopback.NewServer(ctx, func(r grpc.ServiceRegistrar) { Register(r, o) }, o.Warn)}
}

// Register adds the service to those of another server.
func Register(r grpc.ServiceRegistrar, o Options) {
	codegenrpc.RegisterLoaderServer(r, &handler{options: o})
}

type handler struct {
	codegenrpc.UnsafeLoaderServer
	options Options
	asked   await.Flight[question, []byte]
}

// question identifies a schema.
type question struct{ plugin, version, url, name, packageVersion, parameter string }

// GetSchema returns the schema of a package.
func (h *handler) GetSchema(ctx context.Context, req *codegenrpc.GetSchemaRequest) (*codegenrpc.GetSchemaResponse, error) {
	pkg, err := packageOf(req)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	q := question{plugin: pkg.Name, version: pkg.Version, url: pkg.DownloadURL}
	if p := pkg.Parameterization; p != nil {
		q.name, q.packageVersion, q.parameter = p.Name, p.Version, string(p.Value)
	}
	text, err := h.asked.Do(ctx, q, func() ([]byte, error) { return h.ask(ctx, pkg) })
	if errors.Is(err, providers.ErrUnsupported) {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if err != nil {
		return nil, err
	}
	return &codegenrpc.GetSchemaResponse{Schema: text}, nil
}

// packageOf returns the package of a request.
func packageOf(req *codegenrpc.GetSchemaRequest) (stages.Package, error) {
	pkg := stages.Package{Name: req.GetPackage(), DownloadURL: req.GetDownloadUrl()}
	var err error
	if pkg.Version, err = version(req.GetVersion()); err != nil {
		return pkg, err
	}
	if p := req.GetParameterization(); p != nil {
		pkg.Parameterization = &stages.Parameterization{Name: p.GetName(), Value: p.GetValue()}
		if pkg.Parameterization.Version, err = version(p.GetVersion()); err != nil {
			return pkg, err
		}
	}
	return pkg, pkg.CheckNames()
}

// version returns a version in the engine's form. Callers use more forms than other programs do.
func version(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		return "", fmt.Errorf("the version %q is none: %w", text, err)
	}
	return v.String(), nil
}

func (h *handler) ask(ctx context.Context, pkg stages.Package) ([]byte, error) {
	name, wanted := pkg.Name, pkg.Version
	if p := pkg.Parameterization; p != nil {
		name, wanted = p.Name, p.Version
	}
	for _, k := range h.options.Known {
		if k.Package == name && (k.Version == "" || wanted == "" || k.Version == wanted) {
			return []byte(k.Schema), nil
		}
	}
	if name == stages.BuiltinPackage {
		return []byte(Engine), nil
	}
	if err := urn.CheckPackageName("package", name); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	text, err := providers.Schema(ctx, h.options.Providers, pkg.Spec(name), nil)
	if err != nil {
		return nil, err
	}
	return versioned(name, text, wanted)
}

// versioned returns a schema with the requested version, unless it has one: many providers leave it out.
func versioned(pkg, text, wanted string) ([]byte, error) {
	var has struct{ Version string }
	if err := json.Unmarshal([]byte(text), &has); err != nil {
		return nil, fmt.Errorf("the schema of the package %q is not JSON: %w; this is a bug in its provider", pkg, err)
	}
	if has.Version != "" || wanted == "" {
		return []byte(text), nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, err
	}
	var err error
	if members["version"], err = json.Marshal(wanted); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// Engine is the schema of the engine's own package ([protocol.md 8]).
//
// [protocol.md 8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#8-the-package-pulumi
const Engine = `{"name": "pulumi", "version": "1.0.0", "resources": {
	"pulumi:pulumi:StackReference": {
		"inputProperties": {"name": {"type": "string"}},
		"properties": {"name": {"type": "string"}, "outputs": {"type": "object", "additionalProperties": {"$ref": "pulumi.json#/Any"}},
			"secretOutputNames": {"type": "array", "items": {"type": "string"}}}},
	"pulumi:index:Stash": {
		"inputProperties": {"input": {"$ref": "pulumi.json#/Any"}}, "requiredInputs": ["input"],
		"properties": {"input": {"$ref": "pulumi.json#/Any"}, "output": {"$ref": "pulumi.json#/Any"}}}},
	"functions": {"pulumi:pulumi:getResource": {}, "pulumi:pulumi:readStackOutputs": {}, "pulumi:pulumi:readStackResourceOutputs": {}}}`
