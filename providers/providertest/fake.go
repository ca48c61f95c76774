package providertest

import (
	"context"

	"github.com/sluice-iac/sluice/providers"
)

// Fake is a provider made of functions. A method whose function is nil is answered by Base, which is usually that of a
// [Cloud] or a [providers.Unimplemented].
type Fake struct {
	Base providers.Provider

	OnCheckConfig  func(context.Context, providers.CheckRequest) (providers.CheckResponse, error)
	OnDiffConfig   func(context.Context, providers.DiffRequest) (providers.DiffResponse, error)
	OnConfigure    func(context.Context, providers.ConfigureRequest) error
	OnCheck        func(context.Context, providers.CheckRequest) (providers.CheckResponse, error)
	OnDiff         func(context.Context, providers.DiffRequest) (providers.DiffResponse, error)
	OnCreate       func(context.Context, providers.CreateRequest) (providers.CreateResponse, error)
	OnRead         func(context.Context, providers.ReadRequest) (providers.ReadResponse, error)
	OnList         func(context.Context, providers.ListRequest) (providers.ListResponse, error)
	OnUpdate       func(context.Context, providers.UpdateRequest) (providers.UpdateResponse, error)
	OnDelete       func(context.Context, providers.DeleteRequest) error
	OnInvoke       func(context.Context, providers.InvokeRequest) (providers.InvokeResponse, error)
	OnCall         func(context.Context, providers.CallRequest) (providers.CallResponse, error)
	OnConstruct    func(context.Context, providers.ConstructRequest) (providers.ConstructResponse, error)
	OnParameterize func(context.Context, providers.ParameterizeRequest) (providers.ParameterizeResponse, error)
	OnSchema       func(context.Context, providers.SchemaRequest) (string, error)
	OnMapping      func(context.Context, providers.MappingRequest) (providers.MappingResponse, error)
	OnMappings     func(context.Context, string) ([]string, error)
	OnCancel       func(context.Context) error
	OnClose        func() error
}

var _ providers.Provider = (*Fake)(nil)

// NewFake returns a provider of a package whose methods are unsupported until they are given functions.
func NewFake(pkg string) *Fake { return &Fake{Base: providers.Unimplemented{PackageName: pkg}} }

// Package returns that of the base.
func (f *Fake) Package() string { return f.Base.Package() }

// CheckConfig calls OnCheckConfig.
func (f *Fake) CheckConfig(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return either(f.OnCheckConfig, f.Base.CheckConfig)(ctx, req)
}

// DiffConfig calls OnDiffConfig.
func (f *Fake) DiffConfig(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return either(f.OnDiffConfig, f.Base.DiffConfig)(ctx, req)
}

// Check calls OnCheck.
func (f *Fake) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return either(f.OnCheck, f.Base.Check)(ctx, req)
}

// Diff calls OnDiff.
func (f *Fake) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	return either(f.OnDiff, f.Base.Diff)(ctx, req)
}

// Create calls OnCreate.
func (f *Fake) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	return either(f.OnCreate, f.Base.Create)(ctx, req)
}

// Read calls OnRead.
func (f *Fake) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	return either(f.OnRead, f.Base.Read)(ctx, req)
}

// Update calls OnUpdate.
func (f *Fake) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	return either(f.OnUpdate, f.Base.Update)(ctx, req)
}

// Invoke calls OnInvoke.
func (f *Fake) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	return either(f.OnInvoke, f.Base.Invoke)(ctx, req)
}

// Call calls OnCall.
func (f *Fake) Call(ctx context.Context, req providers.CallRequest) (providers.CallResponse, error) {
	return either(f.OnCall, f.Base.Call)(ctx, req)
}

// Construct calls OnConstruct.
func (f *Fake) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	return either(f.OnConstruct, f.Base.Construct)(ctx, req)
}

// Parameterize calls OnParameterize.
func (f *Fake) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	return either(f.OnParameterize, f.Base.Parameterize)(ctx, req)
}

// Configure calls OnConfigure.
func (f *Fake) Configure(ctx context.Context, req providers.ConfigureRequest) error {
	if f.OnConfigure != nil {
		return f.OnConfigure(ctx, req)
	}
	return f.Base.Configure(ctx, req)
}

// Delete calls OnDelete.
func (f *Fake) Delete(ctx context.Context, req providers.DeleteRequest) error {
	if f.OnDelete != nil {
		return f.OnDelete(ctx, req)
	}
	return f.Base.Delete(ctx, req)
}

// Schema calls OnSchema.
func (f *Fake) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	return either(f.OnSchema, f.Base.Schema)(ctx, req)
}

// List calls OnList.
func (f *Fake) List(ctx context.Context, req providers.ListRequest) (providers.ListResponse, error) {
	return either(f.OnList, f.Base.List)(ctx, req)
}

// Mapping calls OnMapping.
func (f *Fake) Mapping(ctx context.Context, req providers.MappingRequest) (providers.MappingResponse, error) {
	return either(f.OnMapping, f.Base.Mapping)(ctx, req)
}

// Mappings calls OnMappings.
func (f *Fake) Mappings(ctx context.Context, key string) ([]string, error) {
	return either(f.OnMappings, f.Base.Mappings)(ctx, key)
}

// Cancel calls OnCancel.
func (f *Fake) Cancel(ctx context.Context) error {
	if f.OnCancel != nil {
		return f.OnCancel(ctx)
	}
	return f.Base.Cancel(ctx)
}

// Close calls OnClose.
func (f *Fake) Close() error {
	if f.OnClose != nil {
		return f.OnClose()
	}
	return f.Base.Close()
}

func either[Req, Resp any](f, base func(context.Context, Req) (Resp, error)) func(context.Context, Req) (Resp, error) {
	if f != nil {
		return f
	}
	return base
}
