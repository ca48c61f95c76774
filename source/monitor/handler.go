package monitor

import (
	"context"
	"maps"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// handler implements the service. It is immutable except for its callback connections and its cache of positions.
type handler struct {
	pulumirpc.UnsafeResourceMonitorServer
	monitor   stages.Monitor
	views     stages.Views // nil if the run accepts no views
	features  map[Feature]bool
	callbacks *callbackClients
	positions positions
}

func (h *handler) RegisterResourceOutputs(ctx context.Context, req *pulumirpc.RegisterResourceOutputsRequest) (*emptypb.Empty, error) {
	u, err := parseURN("", req.GetUrn())
	if err != nil {
		return nil, statusOf(err)
	}
	outputs, err := decodeMap("outputs", req.GetOutputs())
	if err != nil {
		return nil, statusOf(err)
	}
	// In previews, Node.js marks whole resources in the outputs of a stack. Without the marks, an unchanged output has no change, and an
	// update registers what the preview has planned.
	if err := h.monitor.RegisterOutputs(ctx, u, outputs.WithoutDeep("@isPulumiResource")); err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}

func (h *handler) RegisterPackage(ctx context.Context, req *pulumirpc.RegisterPackageRequest) (*pulumirpc.RegisterPackageResponse, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("package name is empty"))
	}
	for _, v := range []string{req.GetVersion(), req.GetParameterization().GetVersion(), req.GetExtension().GetVersion()} {
		if err := checkVersion(v); err != nil {
			return nil, statusOf(err)
		}
	}
	ref, err := h.monitor.RegisterPackage(ctx, stages.Package{
		Name:             req.GetName(),
		Version:          req.GetVersion(),
		DownloadURL:      req.GetDownloadUrl(),
		Checksums:        req.GetChecksums(),
		Parameterization: parameterization(req.GetParameterization()),
		Extension:        parameterization(req.GetExtension()),
	})
	if err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.RegisterPackageResponse{Ref: ref}, nil
}

func parameterization(p *pulumirpc.Parameterization) *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.GetName(), Version: p.GetVersion(), Value: p.GetValue()}
}

func (h *handler) RegisterStackTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.transform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterStackTransform(ctx, t))
}

func (h *handler) RegisterStackInvokeTransform(ctx context.Context, cb *pulumirpc.Callback) (*emptypb.Empty, error) {
	t, err := h.callbacks.invokeTransform(cb)
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterInvokeTransform(ctx, t))
}

func (h *handler) RegisterResourceHook(ctx context.Context, req *pulumirpc.RegisterResourceHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.hook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterHook(ctx, stages.Hook{
		Name: req.GetName(), OnDryRun: req.GetOnDryRun(), IgnoreErrors: req.GetIgnoreErrors(), Run: run,
	}))
}

func (h *handler) RegisterErrorHook(ctx context.Context, req *pulumirpc.RegisterErrorHookRequest) (*emptypb.Empty, error) {
	if req.GetName() == "" {
		return nil, statusOf(invalid("resource hook name cannot be empty"))
	}
	run, err := h.callbacks.errorHook(req.GetCallback())
	if err != nil {
		return nil, statusOf(err)
	}
	return empty(h.monitor.RegisterErrorHook(ctx, stages.ErrorHook{Name: req.GetName(), Run: run}))
}

func (h *handler) SupportsFeature(_ context.Context, req *pulumirpc.SupportsFeatureRequest) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: h.features[Feature(req.GetId())]}, nil
}

// GetDeploymentInfo returns all features: newer SDKs call it first and then never call SupportsFeature.
func (h *handler) GetDeploymentInfo(context.Context, *emptypb.Empty) (*pulumirpc.DeploymentInfo, error) {
	numbers := featureNumbers()
	var supported []pulumirpc.ResourceMonitorFeature
	for f := range maps.Keys(h.features) {
		supported = append(supported, numbers[f])
	}
	slices.Sort(supported)
	info := h.monitor.Info()
	return &pulumirpc.DeploymentInfo{
		Project: info.Project, Stack: info.Stack, Organization: info.Organization,
		Config: info.Config, ConfigSecretKeys: info.ConfigSecretKeys,
		DryRun: info.DryRun, Parallel: int32(min(info.Parallel, 1<<31-1)),
		SupportedFeatures: supported,
	}, nil
}

func (h *handler) SignalAndWaitForShutdown(ctx context.Context, _ *emptypb.Empty) (*emptypb.Empty, error) {
	return empty(h.monitor.WaitForShutdown(ctx))
}

// ExistsResource reports whether an object exists that the program need not manage.
func (h *handler) ExistsResource(ctx context.Context, req *pulumirpc.ExistsResourceRequest) (*pulumirpc.ExistsResourceResponse, error) {
	typ := urn.Type(req.GetType())
	if !typ.IsToken() {
		return nil, statusOf(invalid("invalid type %q: it must have the form <package>:<module>:<type>", typ))
	}
	parent, err := parseOptionalURN("parent ", req.GetParent())
	if err != nil {
		return nil, statusOf(err)
	}
	properties, err := decodeMap("properties", req.GetProperties())
	if err != nil {
		return nil, statusOf(err)
	}
	reply, err := h.monitor.Exists(ctx, &stages.ExistsRequest{
		Type: typ, ID: idOf(req.GetId()), Parent: parent, Properties: properties, Provider: req.GetProvider(),
		Package: packageOf(typ, req), PackageRef: req.GetPackageRef(),
	})
	if err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.ExistsResourceResponse{Exists: reply.Exists, Unknown: reply.Unknown}, nil
}

// idOf returns an ID of a request, which may be unknown.
func idOf(id string) property.Value {
	if id == urn.UnknownID {
		return property.Computed()
	}
	return property.String(id)
}

// getResource is the built-in function whose result may contain references even if the caller does not accept them (protocol.md 4.6).
const getResource = "pulumi:pulumi:getResource"

func (h *handler) Invoke(ctx context.Context, req *pulumirpc.ResourceInvokeRequest) (*pulumirpc.ResourceInvokeResponse, error) {
	decoded, err := decodeInvoke(req)
	if err != nil {
		return nil, statusOf(err)
	}
	shape := replyShape{
		secrets:    true,
		references: req.GetAcceptResources() || req.GetTok() == getResource,
		partial:    true, byteStrings: req.GetAcceptsByteString(), outputs: req.GetAcceptOutputValues(),
	}
	reply, err := h.monitor.Invoke(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.ResourceInvokeResponse{Failures: encodeFailures(reply.Failures), Unknown: reply.Unknown}
	if out.Return, err = shape.encode(reply.Return); err != nil {
		return nil, statusOf(err)
	}
	return out, nil
}

func decodeInvoke(req *pulumirpc.ResourceInvokeRequest) (*stages.InvokeRequest, error) {
	args, err := decodeInputs("args", req.GetArgs(), false)
	if err != nil {
		return nil, err
	}
	parent, err := parseOptionalURN("parent ", req.GetParent())
	if err != nil {
		return nil, err
	}
	dependsOn, err := parseURNs("dependency ", req.GetDependsOn())
	if err != nil {
		return nil, err
	}
	return &stages.InvokeRequest{
		Token: req.GetTok(), Args: args, Provider: req.GetProvider(),
		Package: packageOf(urn.Type(req.GetTok()), req), PackageRef: req.GetPackageRef(),
		Parent: parent, DependsOn: dependsOn, KeepOutputs: req.GetAcceptOutputValues(),
	}, nil
}

func encodeFailures(failures []stages.CheckFailure) []*pulumirpc.CheckFailure {
	var out []*pulumirpc.CheckFailure
	for _, f := range failures {
		out = append(out, &pulumirpc.CheckFailure{Property: f.Property, Reason: f.Reason})
	}
	return out
}

// Call answers with secrets and references: every SDK that has methods understands them.
func (h *handler) Call(ctx context.Context, req *pulumirpc.ResourceCallRequest) (*pulumirpc.CallResponse, error) {
	decoded, err := h.decodeCall(req)
	if err != nil {
		return nil, statusOf(err)
	}
	reply, err := h.monitor.Call(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.CallResponse{Failures: encodeFailures(reply.Failures)}
	shape := replyShape{secrets: true, references: true, partial: true, byteStrings: req.GetAcceptsByteString(), outputs: req.GetAcceptOutputValues()}
	if out.Return, err = shape.encode(reply.Return); err != nil {
		return nil, statusOf(err)
	}
	for name, urns := range reply.ReturnDependencies {
		if out.ReturnDependencies == nil {
			out.ReturnDependencies = make(map[string]*pulumirpc.CallResponse_ReturnDependencies)
		}
		out.ReturnDependencies[name] = &pulumirpc.CallResponse_ReturnDependencies{Urns: texts(urns)}
	}
	return out, nil
}

func (h *handler) decodeCall(req *pulumirpc.ResourceCallRequest) (*stages.CallRequest, error) {
	args, err := decodeInputs("args", req.GetArgs(), true)
	if err != nil {
		return nil, err
	}
	var dependencies map[string][]urn.URN
	for _, name := range slices.Sorted(maps.Keys(req.GetArgDependencies())) {
		urns, err := parseURNs("", req.GetArgDependencies()[name].GetUrns())
		if err != nil {
			return nil, invalid("invalid dependency on argument %s: %w", name, err)
		}
		if dependencies == nil {
			dependencies = make(map[string][]urn.URN)
		}
		dependencies[name] = urns
	}
	return &stages.CallRequest{
		Token: req.GetTok(), Args: args, ArgDependencies: dependencies, Provider: req.GetProvider(),
		Package: packageOf(urn.Type(req.GetTok()), req), PackageRef: req.GetPackageRef(),
		SourcePosition: h.positions.text(req.GetSourcePosition()), StackTraceHandle: req.GetParentStackTraceHandle(),
		KeepOutputs: req.GetAcceptOutputValues(),
	}, nil
}

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
		partial:    req.GetSupportsPartialValues(), byteStrings: req.GetAcceptsByteString(),
	}
	reports, custom, remote := req.GetSupportsResultReporting(), req.GetCustom(), req.GetRemote()

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
	notKnown := reply.Unknown && custom || remote && reply.Outputs.HasUnknowns()
	if notKnown && decoded.IsNodeJS && reports && !h.monitor.Info().DryRun {
		// Before 3.260 the SDK reads only the result. After a success that is no preview, unknown and missing outputs are known for it, and undefined.
		out.Result = pulumirpc.Result(stages.Skip)
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
	if req.GetUsesOutputValues() && len(req.GetPropertyDependencies()) > 0 {
		return nil, invalid("uses_output_values excludes propertyDependencies: the outputs in object carry the dependencies")
	}
	propertyDependencies, err := decodePropertyDependencies(req.GetPropertyDependencies())
	if err != nil {
		return nil, err
	}
	transforms, err := each(req.GetTransforms(), h.callbacks.transform)
	if err != nil {
		return nil, err
	}
	migrations, err := each(req.GetStateMigrations(), h.callbacks.migration)
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
		CarriesDependencies:     req.GetUsesOutputValues(),
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
		StateMigrations:         migrations,
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

// isNodeJS reports whether the caller is the Node.js SDK (steps.md 1.2 item 5). The runtime belongs to the call, because programs and components may
// share a connection. Reading the two values alone does not copy the metadata.
func isNodeJS(ctx context.Context) bool {
	if runtime := metadata.ValueFromIncomingContext(ctx, "pulumi-runtime"); len(runtime) > 0 {
		return runtime[0] == "nodejs"
	}
	agent := metadata.ValueFromIncomingContext(ctx, "user-agent")
	return len(agent) > 0 && strings.HasPrefix(agent[0], "grpc-node-js/")
}

func (h *handler) ReadResource(ctx context.Context, req *pulumirpc.ReadResourceRequest) (*pulumirpc.ReadResourceResponse, error) {
	decoded, err := h.decodeRead(req)
	if err != nil {
		return nil, statusOf(err)
	}
	shape := replyShape{
		secrets: req.GetAcceptSecrets(), references: req.GetAcceptResources(), partial: true, byteStrings: req.GetAcceptsByteString(),
	}
	reply, err := h.monitor.Read(ctx, decoded)
	if err != nil {
		return nil, statusOf(err)
	}
	properties, err := shape.encode(reply.Outputs)
	if err != nil {
		return nil, statusOf(err)
	}
	out := &pulumirpc.ReadResourceResponse{Urn: string(reply.URN), Properties: properties, Id: reply.ID, Unknown: reply.Unknown}
	if property.IsUnknownMarker(req.GetId()) {
		out.Unknown = true // a preview cannot read what is still to be made
	}
	// A resource that failed or was skipped, which happens only with continue-on-error, has no outputs, and the program continues:
	// resources that depend on it are skipped (steps.md 9.4). An older SDK sees no result and no unknown.
	switch reply.Result {
	case stages.Fail:
		out.Result = pulumirpc.Result_FAIL
	case stages.Skip:
		out.Unknown = true
	}
	return out, nil
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
	return &stages.ReadRequest{
		Type: typ, Name: req.GetName(), ID: idOf(req.GetId()), Parent: parent,
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

func empty(err error) (*emptypb.Empty, error) {
	if err != nil {
		return nil, statusOf(err)
	}
	return &emptypb.Empty{}, nil
}

// pluginFields are the fields about the plugin in every request that may need a default provider.
type pluginFields interface {
	GetVersion() string
	GetPluginDownloadURL() string
	GetPluginChecksums() map[string][]byte
}
