package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// callbackClients holds one connection for each program (or component provider) that serves callbacks. It is safe for
// many goroutines.
type callbackClients struct {
	mu     sync.Mutex // guards the fields below; never held during a call
	conns  map[string]*grpc.ClientConn
	closed bool
}

func newCallbackClients() *callbackClients {
	return &callbackClients{conns: make(map[string]*grpc.ClientConn)}
}

// bind checks a callback and returns the function that calls it. The function may be called from many goroutines.
func (c *callbackClients) bind(cb *pulumirpc.Callback) (call, error) {
	if cb.GetTarget() == "" || cb.GetToken() == "" {
		return nil, invalid("invalid callback: it needs a target and a token")
	}
	client, err := c.client(cb.GetTarget())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, req, reply proto.Message) error {
		b, err := proto.Marshal(req)
		if err != nil {
			return fmt.Errorf("encode the request of a callback: %w", err)
		}
		answer, err := client.Invoke(ctx, &pulumirpc.CallbackInvokeRequest{Token: cb.GetToken(), Request: b})
		if err != nil {
			return callbackError(err)
		}
		if err := proto.Unmarshal(answer.GetResponse(), reply); err != nil {
			return fmt.Errorf("decode the response of a callback: %w", err)
		}
		return nil
	}, nil
}

// call runs one callback in the program; the messages are those of protocol.md 5.5.
type call func(ctx context.Context, req, reply proto.Message) error

// client shares one connection among all callbacks with one target. The connection is made by the first call.
func (c *callbackClients) client(target string) (pulumirpc.CallbacksClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, stages.ErrShutDown
	}
	conn, ok := c.conns[target]
	if !ok {
		var err error
		if conn, err = loopback.Dial(target); err != nil {
			return nil, invalid("invalid callback target %q: %w", target, err)
		}
		c.conns[target] = conn
	}
	return pulumirpc.NewCallbacksClient(conn), nil
}

// close closes every connection. Callbacks called afterwards fail.
func (c *callbackClients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.conns {
		_ = conn.Close() // only fails when it is closed already
	}
	clear(c.conns)
}

// hook returns a Go function for a lifecycle hook (protocol.md 4.11).
func (c *callbackClients) hook(cb *pulumirpc.Callback) (func(context.Context, stages.HookInput) error, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.HookInput) error {
		req, err := encodeHook(in, cb.GetAcceptsByteString())
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
		h, err := encodeHook(in, cb.GetAcceptsByteString())
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

func encodeHook(in stages.HookInput, byteStrings bool) (*pulumirpc.ResourceHookRequest, error) {
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
		s, err := property.PackStruct(*f.from, callbackOptions(f.name, property.DowngradeOutputs, byteStrings))
		if err != nil {
			return nil, err
		}
		*f.to = s
	}
	var err error
	if out.OldOptions, err = encodeHookOptions(in.OldOptions, byteStrings); err != nil {
		return nil, err
	}
	out.NewOptions, err = encodeHookOptions(in.NewOptions, byteStrings)
	return out, err
}

func encodeHookOptions(o *stages.HookOptions, byteStrings bool) (*pulumirpc.ResourceOptions, error) {
	if o == nil {
		return nil, nil
	}
	t, err := encodeOptions(o.TransformOptions, byteStrings)
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

func encodeAliases(list []urn.Alias) []*pulumirpc.Alias {
	var out []*pulumirpc.Alias
	for _, a := range list {
		out = append(out, encodeAlias(a))
	}
	return out
}

func encodeAlias(a urn.Alias) *pulumirpc.Alias {
	if a.URN != "" {
		return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Urn{Urn: string(a.URN)}}
	}
	spec := &pulumirpc.Alias_Spec{Name: a.Name, Type: string(a.Type), Stack: a.Stack, Project: a.Project}
	switch {
	case a.NoParent:
		spec.Parent = &pulumirpc.Alias_Spec_NoParent{NoParent: true}
	case a.Parent != "":
		spec.Parent = &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: string(a.Parent)}
	}
	return &pulumirpc.Alias{Alias: &pulumirpc.Alias_Spec_{Spec: spec}}
}

func encodeHookNames(hooks map[string][]string) *pulumirpc.RegisterResourceRequest_ResourceHooksBinding {
	if len(hooks) == 0 {
		return nil
	}
	return &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{
		BeforeCreate: hooks[stages.HookBeforeCreate], AfterCreate: hooks[stages.HookAfterCreate],
		BeforeUpdate: hooks[stages.HookBeforeUpdate], AfterUpdate: hooks[stages.HookAfterUpdate],
		BeforeDelete: hooks[stages.HookBeforeDelete], AfterDelete: hooks[stages.HookAfterDelete],
		OnError: hooks[stages.HookOnError],
	}
}

func encodeTimeouts(t stages.CustomTimeouts) *pulumirpc.RegisterResourceRequest_CustomTimeouts {
	if t == (stages.CustomTimeouts{}) {
		return nil
	}
	return &pulumirpc.RegisterResourceRequest_CustomTimeouts{Create: t.Create, Update: t.Update, Delete: t.Delete, Read: t.Read}
}

// each returns the Go function for each callback.
func each[F any](list []*pulumirpc.Callback, function func(*pulumirpc.Callback) (F, error)) ([]F, error) {
	var out []F
	for _, cb := range list {
		f, err := function(cb)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// migration returns a Go function for a state migration.
func (c *callbackClients) migration(cb *pulumirpc.Callback) (migration.Function, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, u urn.URN, states []byte) (migration.Result, error) {
		var reply pulumirpc.StateMigrationResponse
		if err := run(ctx, &pulumirpc.StateMigrationRequest{Urn: string(u), OldState: states}, &reply); err != nil {
			return migration.Result{}, err
		}
		result := migration.Result{States: reply.GetNewState(), Successors: map[urn.URN]urn.URN{}}
		for old, next := range reply.GetSuccessors() {
			result.Successors[urn.URN(old)] = urn.URN(next)
		}
		return result, nil
	}, nil
}

// transform returns a Go function for a callback (protocol.md 4.10). A field that is missing in the answer stays as it was; a field that is
// present is replaced as a whole.
func (c *callbackClients) transform(cb *pulumirpc.Callback) (stages.Transform, error) {
	run, err := c.bind(cb)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, in stages.TransformInput) (stages.TransformInput, error) {
		req, err := encodeTransform(in, cb.GetAcceptsByteString())
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

func encodeTransform(in stages.TransformInput, byteStrings bool) (*pulumirpc.TransformRequest, error) {
	properties, err := property.PackStruct(in.Properties, callbackOptions("properties", property.KeepOutputs, byteStrings))
	if err != nil {
		return nil, err
	}
	options, err := encodeOptions(in.Options, byteStrings)
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

func encodeOptions(o stages.TransformOptions, byteStrings bool) (*pulumirpc.TransformResourceOptions, error) {
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
	out.ReplacementTrigger, err = property.MarshalValue(o.ReplacementTrigger, callbackOptions("replacementTrigger", property.DowngradeOutputs, byteStrings))
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
		args, err := property.PackStruct(in.Args, callbackOptions("args", property.KeepOutputs, cb.GetAcceptsByteString()))
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
		if out.Args, err = decodeInputs("args", reply.GetArgs(), false); err != nil {
			return in, err
		}
	}
	if o := reply.GetOptions(); o != nil {
		out.Provider, out.Version = o.GetProvider(), o.GetVersion()
		out.PluginDownloadURL, out.PluginChecksums = o.GetPluginDownloadUrl(), o.GetPluginChecksums()
	}
	return out, nil
}

// CallbackError is the exception of a callback in the program, or the reason why it could not be reached.
type CallbackError struct {
	Message string
	Err     error // the status
}

func (e *CallbackError) Error() string { return e.Message }
func (e *CallbackError) Unwrap() error { return e.Err }

// callbackError keeps the message of the program's exception, without the prefix of gRPC. It adds a note if there was no answer.
func callbackError(err error) error {
	st := status.Convert(err)
	message := redact.Cut(st.Message(), redact.MaxMessage)
	if st.Code() == codes.Unavailable {
		message = "the process that serves the callback has ended, or does not answer: " + message
	}
	return &CallbackError{Message: message, Err: err}
}
