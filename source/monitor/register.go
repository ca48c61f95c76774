package monitor

import (
	"context"
	"maps"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/metadata"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func (h *handler) RegisterResource(ctx context.Context, req *pulumirpc.RegisterResourceRequest) (*pulumirpc.RegisterResourceResponse, error) {
	decoded, err := h.decodeRegister(req)
	if err != nil {
		return nil, statusOf(err)
	}
	decoded.IsNodeJS = isNodeJS(ctx)
	// Only this part of the message is kept while the registration waits: thousands wait at the same time.
	shape := replyShape{
		secrets:    req.GetAcceptSecrets(),
		references: req.GetAcceptResources(),
		partial:    req.GetSupportsPartialValues(),
	}
	reports := req.GetSupportsResultReporting()

	reply, err := h.monitor.Register(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	if reply.Result != stages.Success && !reports {
		return nil, statusOf(stages.ErrRegistrationFailed)
	}
	object, err := shape.encode(reply.Outputs)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.RegisterResourceResponse{
		Urn: string(reply.URN), Id: reply.ID, Object: object, Result: pulumirpc.Result(reply.Result), Unknown: reply.Unknown,
	}
	for name, urns := range reply.PropertyDependencies {
		if out.PropertyDependencies == nil {
			out.PropertyDependencies = make(map[string]*pulumirpc.RegisterResourceResponse_PropertyDependencies)
		}
		out.PropertyDependencies[name] = &pulumirpc.RegisterResourceResponse_PropertyDependencies{Urns: texts(urns)}
	}
	return out, nil
}

// decodeRegister makes the checks that do not depend on the run, in the order of steps.md 1.2.
func (h *handler) decodeRegister(req *pulumirpc.RegisterResourceRequest) (*stages.RegisterRequest, error) {
	parent, err := parseOptionalURN("parent ", req.GetParent())
	if err != nil {
		return nil, err
	}
	typ := urn.Type(req.GetType())
	if (req.GetCustom() || req.GetRemote()) && !typ.IsToken() {
		return nil, invalid("invalid type %q of resource %q: it must have the form <package>:<module>:<type>", typ, req.GetName())
	}
	if len(req.GetEnvVarMappings()) > 0 && !typ.IsProvider() {
		return nil, invalid("envVarMappings can only be used with provider resources")
	}
	// Inputs for a provider that constructs a component get secrets and unknowns as outputs; for all others that would be undone again.
	inputs, err := decodeInputs("object", req.GetObject(), req.GetRemote())
	if err != nil {
		return nil, err
	}
	dependencies, err := parseURNs("dependency ", req.GetDependencies())
	if err != nil {
		return nil, err
	}
	propertyDependencies, err := decodePropertyDependencies(req.GetPropertyDependencies())
	if err != nil {
		return nil, err
	}
	transforms, err := h.callbacks.transforms(req.GetTransforms())
	if err != nil {
		return nil, err
	}
	aliases, err := decodeAliases(req.GetAliasURNs(), req.GetAliases())
	if err != nil {
		return nil, err
	}
	trigger, err := decodeValue("replacementTrigger", req.GetReplacementTrigger())
	if err != nil {
		return nil, err
	}
	deletedWith, err := parseOptionalURN("DeletedWith ", req.GetDeletedWith())
	if err != nil {
		return nil, err
	}
	replaceWith, err := parseURNs("ReplaceWith ", req.GetReplaceWith())
	if err != nil {
		return nil, err
	}
	return &stages.RegisterRequest{
		Type: typ, Name: req.GetName(), Parent: parent, Custom: req.GetCustom(), Remote: req.GetRemote(),
		Inputs:                  inputs,
		ImportID:                req.GetImportId(),
		Protect:                 req.Protect,
		RetainOnDelete:          req.RetainOnDelete,
		DeleteBeforeReplace:     deleteBeforeReplace(req),
		Dependencies:            dependencies,
		PropertyDependencies:    propertyDependencies,
		Provider:                req.GetProvider(),
		Providers:               req.GetProviders(),
		Package:                 packageOf(typ, req),
		PackageRef:              req.GetPackageRef(),
		Aliases:                 aliases,
		AliasSpecs:              req.GetAliasSpecs(),
		IgnoreChanges:           req.GetIgnoreChanges(),
		ReplaceOnChanges:        req.GetReplaceOnChanges(),
		HideDiffs:               req.GetHideDiffs(),
		AdditionalSecretOutputs: req.GetAdditionalSecretOutputs(),
		CustomTimeouts:          decodeTimeouts(req.GetCustomTimeouts()),
		DeletedWith:             deletedWith,
		ReplaceWith:             replaceWith,
		ReplacementTrigger:      trigger,
		Transforms:              transforms,
		Hooks:                   decodeHookNames(req.GetHooks()),
		EnvVarMappings:          req.GetEnvVarMappings(),
		SupportsResultReporting: req.GetSupportsResultReporting(),
		SourcePosition:          h.positions.text(req.GetSourcePosition()),
		StackTrace:              h.positions.stack(req.GetStackTrace()),
		ParentStackTraceHandle:  req.GetParentStackTraceHandle(),
	}, nil
}

// deleteBeforeReplace returns the value if it is given: if the explicit flag is set or the value is true (steps.md 1.2 item 6).
func deleteBeforeReplace(req *pulumirpc.RegisterResourceRequest) *bool {
	if !req.GetDeleteBeforeReplaceDefined() && !req.GetDeleteBeforeReplace() {
		return nil
	}
	v := req.GetDeleteBeforeReplace()
	return &v
}

func decodePropertyDependencies(m map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies) (map[string][]urn.URN, error) {
	if len(m) == 0 {
		return nil, nil
	}
	decoded := make(map[string][]urn.URN, len(m))
	for name, list := range m {
		urns, err := parseURNs("", list.GetUrns())
		if err != nil {
			return nil, badPropertyDependency(m)
		}
		decoded[name] = urns
	}
	return decoded, nil
}

// badPropertyDependency returns the error of the first bad entry by name, independent of the order of the map.
func badPropertyDependency(m map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies) error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		for _, s := range m[name].GetUrns() {
			if _, err := urn.Parse(s); err != nil {
				return invalid("invalid dependency on property %s URN: %w", name, err)
			}
		}
	}
	return nil
}

// pluginFields are the fields about the plugin in every request that may need a default provider.
type pluginFields interface {
	GetVersion() string
	GetPluginDownloadURL() string
	GetPluginChecksums() map[string][]byte
}

// packageOf returns the package that serves typ, with the plugin fields of the request. A provider resource needs the plugin of its own
// package.
func packageOf(typ urn.Type, req pluginFields) stages.Package {
	name := typ.Package()
	if typ.IsProvider() {
		name = typ.ProviderPackage()
	}
	return stages.Package{
		Name:        name,
		Version:     strings.TrimPrefix(req.GetVersion(), "v"),
		DownloadURL: req.GetPluginDownloadURL(),
		Checksums:   req.GetPluginChecksums(),
	}
}

// isNodeJS reports whether the caller is the Node.js SDK (steps.md 1.2 item 5).
func isNodeJS(ctx context.Context) bool {
	md, ok := metadata.FromIncomingContext(ctx)
	if !ok {
		return false
	}
	if runtime := md.Get("pulumi-runtime"); len(runtime) > 0 {
		return runtime[0] == "nodejs"
	}
	agent := md.Get("user-agent")
	return len(agent) > 0 && strings.HasPrefix(agent[0], "grpc-node-js/")
}

func (h *handler) ReadResource(ctx context.Context, req *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
	decoded, err := h.decodeRead(req)
	if err != nil {
		return nil, statusOf(err)
	}
	shape := replyShape{secrets: req.GetAcceptSecrets(), references: req.GetAcceptResources(), partial: true}
	reply, err := h.monitor.Read(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	// The answer has no field for a result. A resource that failed or was skipped, which happens only with continue-on-error, has no
	// outputs, and the program continues: resources that depend on it are skipped (steps.md 9.4).
	properties, err := shape.encode(reply.Outputs)
	if err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.ReadResourceResponse{Urn: string(reply.URN), Properties: properties}, nil
}

func (h *handler) decodeRead(req *pulumirpc.ReadResourceRequest) (*stages.ReadRequest, error) {
	typ := urn.Type(req.GetType())
	if !typ.IsToken() {
		return nil, invalid("invalid type %q of resource %q: it must have the form <package>:<module>:<type>", typ, req.GetName())
	}
	parent, err := parseOptionalURN("parent ", req.GetParent())
	if err != nil {
		return nil, err
	}
	properties, err := decodeMap("properties", req.GetProperties())
	if err != nil {
		return nil, err
	}
	dependencies, err := parseURNs("dependency ", req.GetDependencies())
	if err != nil {
		return nil, err
	}
	id := property.String(req.GetId())
	if req.GetId() == urn.UnknownID {
		id = property.Computed()
	}
	return &stages.ReadRequest{
		Type: typ, Name: req.GetName(), ID: id, Parent: parent,
		Properties:              properties,
		Dependencies:            dependencies,
		Provider:                req.GetProvider(),
		Package:                 packageOf(typ, req),
		PackageRef:              req.GetPackageRef(),
		AdditionalSecretOutputs: req.GetAdditionalSecretOutputs(),
		SourcePosition:          h.positions.text(req.GetSourcePosition()),
		StackTrace:              h.positions.stack(req.GetStackTrace()),
		ParentStackTraceHandle:  req.GetParentStackTraceHandle(),
	}, nil
}
