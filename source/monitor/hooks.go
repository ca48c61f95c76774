package monitor

import (
	"context"
	"errors"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
)

// hook returns a Go function for a lifecycle hook (protocol.md 4.11).
func (c *callbackClients) hook(cb *pulumirpc.Callback) (func(context.Context, stages.HookInput) error, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.HookInput) error {
		req, err := encodeHook(in)
		if err != nil {
			return err
		}
		var reply pulumirpc.ResourceHookResponse
		if err := run(ctx, req, &reply); err != nil {
			return err
		}
		return hookFailure(reply.GetError())
	}, nil
}

// errorHook returns a Go function for a hook that runs after failures.
func (c *callbackClients) errorHook(cb *pulumirpc.Callback) (func(context.Context, stages.HookInput) (bool, error), error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.HookInput) (bool, error) {
		h, err := encodeHook(in)
		if err != nil {
			return false, err
		}
		req := &pulumirpc.ErrorHookRequest{
			Urn: h.Urn, Id: h.Id, Name: h.Name, Type: h.Type,
			NewInputs: h.NewInputs, OldInputs: h.OldInputs, OldOutputs: h.OldOutputs,
			FailedOperation: in.FailedOperation, Errors: in.Errors,
			OldOptions: h.OldOptions, NewOptions: h.NewOptions,
		}
		var reply pulumirpc.ErrorHookResponse
		if err := run(ctx, req, &reply); err != nil {
			return false, err
		}
		return reply.GetRetry(), hookFailure(reply.GetError())
	}, nil
}

func hookFailure(message string) error {
	if message == "" {
		return nil
	}
	return errors.New(redact.Cut(message, redact.MaxMessage))
}

func encodeHook(in stages.HookInput) (*pulumirpc.ResourceHookRequest, error) {
	out := &pulumirpc.ResourceHookRequest{Urn: string(in.URN), Id: in.ID, Name: in.Name, Type: string(in.Type)}
	for _, f := range []struct {
		name string
		from *property.Map
		to   **structpb.Struct
	}{
		{"new_inputs", in.NewInputs, &out.NewInputs},
		{"old_inputs", in.OldInputs, &out.OldInputs},
		{"new_outputs", in.NewOutputs, &out.NewOutputs},
		{"old_outputs", in.OldOutputs, &out.OldOutputs},
	} {
		if f.from == nil {
			continue
		}
		s, err := property.MarshalStruct(*f.from, requestOptions(f.name, property.DowngradeOutputs))
		if err != nil {
			return nil, err
		}
		*f.to = s
	}
	var err error
	if out.OldOptions, err = encodeHookOptions(in.OldOptions); err != nil {
		return nil, err
	}
	out.NewOptions, err = encodeHookOptions(in.NewOptions)
	return out, err
}

func encodeHookOptions(o *stages.HookOptions) (*pulumirpc.ResourceOptions, error) {
	if o == nil {
		return nil, nil
	}
	t, err := encodeOptions(o.TransformOptions)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ResourceOptions{
		DependsOn:               t.DependsOn,
		Protect:                 t.Protect,
		IgnoreChanges:           t.IgnoreChanges,
		ReplaceOnChanges:        t.ReplaceOnChanges,
		Version:                 t.Version,
		Aliases:                 t.Aliases,
		Provider:                t.Provider,
		CustomTimeouts:          t.CustomTimeouts,
		PluginDownloadUrl:       t.PluginDownloadUrl,
		RetainOnDelete:          t.RetainOnDelete,
		DeletedWith:             t.DeletedWith,
		DeleteBeforeReplace:     t.DeleteBeforeReplace,
		AdditionalSecretOutputs: t.AdditionalSecretOutputs,
		Providers:               t.Providers,
		PluginChecksums:         t.PluginChecksums,
		Hooks:                   t.Hooks,
		Import:                  t.Import,
		HideDiff:                t.HideDiff,
		ReplaceWith:             t.ReplaceWith,
		ReplacementTrigger:      t.ReplacementTrigger,
		Parent:                  string(o.Parent),
	}, nil
}
