package monitor

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

// transforms binds the transforms of a registration.
func (c *callbackClients) transforms(list []*pulumirpc.Callback) ([]stages.Transform, error) {
	var out []stages.Transform
	for _, cb := range list {
		t, err := c.transform(cb)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// transform returns a Go function for a callback (protocol.md 4.10). A field that is missing in the answer stays as it was; a field that is
// present is replaced as a whole.
func (c *callbackClients) transform(cb *pulumirpc.Callback) (stages.Transform, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.TransformInput) (stages.TransformInput, error) {
		req, err := encodeTransform(in)
		if err != nil {
			return in, err
		}
		var reply pulumirpc.TransformResponse
		if err := run(ctx, req, &reply); err != nil {
			return in, err
		}
		return decodeTransform(in, &reply)
	}, nil
}

func encodeTransform(in stages.TransformInput) (*pulumirpc.TransformRequest, error) {
	properties, err := property.MarshalStruct(in.Properties, requestOptions("properties", property.KeepOutputs))
	if err != nil {
		return nil, err
	}
	options, err := encodeOptions(in.Options)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.TransformRequest{
		Type: string(in.Type), Name: in.Name, Custom: in.Custom, Parent: string(in.Parent),
		Properties: properties, Options: options,
	}, nil
}

func decodeTransform(in stages.TransformInput, reply *pulumirpc.TransformResponse) (stages.TransformInput, error) {
	out := in
	var err error
	if reply.GetProperties() != nil {
		if out.Properties, err = decodeInputs("properties", reply.GetProperties(), false); err != nil {
			return in, err
		}
	}
	if reply.GetOptions() != nil {
		if out.Options, err = decodeOptions(reply.GetOptions()); err != nil {
			return in, err
		}
	}
	return out, nil
}

func encodeOptions(o stages.TransformOptions) (*pulumirpc.TransformResourceOptions, error) {
	out := &pulumirpc.TransformResourceOptions{
		DependsOn:               texts(o.DependsOn),
		Protect:                 o.Protect,
		IgnoreChanges:           o.IgnoreChanges,
		ReplaceOnChanges:        o.ReplaceOnChanges,
		Version:                 o.Version,
		Aliases:                 encodeAliases(o.Aliases),
		Provider:                o.Provider,
		CustomTimeouts:          encodeTimeouts(o.CustomTimeouts),
		PluginDownloadUrl:       o.PluginDownloadURL,
		RetainOnDelete:          o.RetainOnDelete,
		DeletedWith:             string(o.DeletedWith),
		DeleteBeforeReplace:     o.DeleteBeforeReplace,
		AdditionalSecretOutputs: o.AdditionalSecretOutputs,
		Providers:               o.Providers,
		PluginChecksums:         o.PluginChecksums,
		Hooks:                   encodeHookNames(o.Hooks),
		Import:                  o.Import,
		HideDiff:                o.HideDiffs,
		ReplaceWith:             texts(o.ReplaceWith),
	}
	if o.ReplacementTrigger.IsNull() {
		return out, nil
	}
	var err error
	out.ReplacementTrigger, err = property.MarshalValue(o.ReplacementTrigger, requestOptions("replacementTrigger", property.DowngradeOutputs))
	return out, err
}

func decodeOptions(o *pulumirpc.TransformResourceOptions) (stages.TransformOptions, error) {
	var none stages.TransformOptions
	dependsOn, err := parseURNs("dependency ", o.GetDependsOn())
	if err != nil {
		return none, err
	}
	aliases, err := decodeAliases(nil, o.GetAliases())
	if err != nil {
		return none, err
	}
	deletedWith, err := parseOptionalURN("DeletedWith ", o.GetDeletedWith())
	if err != nil {
		return none, err
	}
	replaceWith, err := parseURNs("ReplaceWith ", o.GetReplaceWith())
	if err != nil {
		return none, err
	}
	trigger, err := decodeValue("replacementTrigger", o.GetReplacementTrigger())
	if err != nil {
		return none, err
	}
	return stages.TransformOptions{
		DependsOn:               dependsOn,
		Protect:                 o.Protect,
		IgnoreChanges:           o.GetIgnoreChanges(),
		ReplaceOnChanges:        o.GetReplaceOnChanges(),
		Version:                 o.GetVersion(),
		Aliases:                 aliases,
		Provider:                o.GetProvider(),
		CustomTimeouts:          decodeTimeouts(o.GetCustomTimeouts()),
		PluginDownloadURL:       o.GetPluginDownloadUrl(),
		RetainOnDelete:          o.RetainOnDelete,
		DeletedWith:             deletedWith,
		DeleteBeforeReplace:     o.DeleteBeforeReplace,
		AdditionalSecretOutputs: o.GetAdditionalSecretOutputs(),
		Providers:               o.GetProviders(),
		PluginChecksums:         o.GetPluginChecksums(),
		Hooks:                   decodeHookNames(o.GetHooks()),
		Import:                  o.GetImport(),
		HideDiffs:               o.GetHideDiff(),
		ReplaceWith:             replaceWith,
		ReplacementTrigger:      trigger,
	}, nil
}

// invokeTransform returns a Go function for a callback that rewrites invokes.
func (c *callbackClients) invokeTransform(cb *pulumirpc.Callback) (stages.InvokeTransform, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.InvokeTransformInput) (stages.InvokeTransformInput, error) {
		args, err := property.MarshalStruct(in.Args, requestOptions("args", property.KeepOutputs))
		if err != nil {
			return in, err
		}
		req := &pulumirpc.TransformInvokeRequest{
			Token: in.Token, Args: args,
			Options: &pulumirpc.TransformInvokeOptions{
				Provider: in.Provider, PluginDownloadUrl: in.PluginDownloadURL,
				Version: in.Version, PluginChecksums: in.PluginChecksums,
			},
		}
		var reply pulumirpc.TransformInvokeResponse
		if err := run(ctx, req, &reply); err != nil {
			return in, err
		}
		return decodeInvokeTransform(in, &reply)
	}, nil
}

func decodeInvokeTransform(in stages.InvokeTransformInput, reply *pulumirpc.TransformInvokeResponse) (stages.InvokeTransformInput, error) {
	out := in
	var err error
	if reply.GetArgs() != nil {
		if out.Args, err = decodeMap("args", reply.GetArgs()); err != nil {
			return in, err
		}
	}
	if o := reply.GetOptions(); o != nil {
		out.Provider, out.Version = o.GetProvider(), o.GetVersion()
		out.PluginDownloadURL, out.PluginChecksums = o.GetPluginDownloadUrl(), o.GetPluginChecksums()
	}
	return out, nil
}
