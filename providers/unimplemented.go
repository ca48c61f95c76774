package providers

import (
	"context"
	"fmt"
)

// Unimplemented is the base of a provider that supports only some of the methods: embed it. Every method returns an
// error that wraps [ErrUnsupported] and names the method, except those whose absence has a meaning of its own:
// CheckConfig accepts its inputs, DiffConfig leaves the comparison to the engine, there are no mappings, Configure, Cancel and
// Close do nothing ([protocol.md 3.3], [protocol.md 3.12], [protocol.md 1.13]).
//
// [protocol.md 1.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#113-end
// [protocol.md 3.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#312-other-calls
// [protocol.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#33-configuration
type Unimplemented struct {
	// PackageName is the result of Package, and the name of the provider in error messages.
	PackageName string
}

var _ Provider = Unimplemented{}

func (u Unimplemented) unsupported(method string) error {
	return fmt.Errorf("%s of provider %q: %w", method, u.PackageName, ErrUnsupported)
}

// Package returns PackageName.
func (u Unimplemented) Package() string { return u.PackageName }

// CheckConfig accepts the inputs as they are.
func (u Unimplemented) CheckConfig(_ context.Context, req CheckRequest) (CheckResponse, error) {
	return CheckResponse{Inputs: req.News}, nil
}

// DiffConfig leaves the comparison to the engine.
func (u Unimplemented) DiffConfig(context.Context, DiffRequest) (DiffResponse, error) {
	return DiffResponse{Changes: DiffUnknown}, nil
}

// Configure accepts every configuration.
func (u Unimplemented) Configure(context.Context, ConfigureRequest) error { return nil }

// Check is not supported.
func (u Unimplemented) Check(context.Context, CheckRequest) (CheckResponse, error) {
	return CheckResponse{}, u.unsupported("check")
}

// Diff is not supported.
func (u Unimplemented) Diff(context.Context, DiffRequest) (DiffResponse, error) {
	return DiffResponse{}, u.unsupported("diff")
}

// Create is not supported.
func (u Unimplemented) Create(context.Context, CreateRequest) (CreateResponse, error) {
	return CreateResponse{}, u.unsupported("create")
}

// Read is not supported.
func (u Unimplemented) Read(context.Context, ReadRequest) (ReadResponse, error) {
	return ReadResponse{}, u.unsupported("read")
}

// List is not supported.
func (u Unimplemented) List(context.Context, ListRequest) (ListResponse, error) {
	return ListResponse{}, u.unsupported("list")
}

// Update is not supported.
func (u Unimplemented) Update(context.Context, UpdateRequest) (UpdateResponse, error) {
	return UpdateResponse{}, u.unsupported("update")
}

// Delete is not supported.
func (u Unimplemented) Delete(context.Context, DeleteRequest) error { return u.unsupported("delete") }

// Invoke is not supported.
func (u Unimplemented) Invoke(context.Context, InvokeRequest) (InvokeResponse, error) {
	return InvokeResponse{}, u.unsupported("invoke")
}

// Call is not supported.
func (u Unimplemented) Call(context.Context, CallRequest) (CallResponse, error) {
	return CallResponse{}, u.unsupported("call")
}

// Construct is not supported.
func (u Unimplemented) Construct(context.Context, ConstructRequest) (ConstructResponse, error) {
	return ConstructResponse{}, u.unsupported("construct")
}

// Parameterize is not supported.
func (u Unimplemented) Parameterize(context.Context, ParameterizeRequest) (ParameterizeResponse, error) {
	return ParameterizeResponse{}, u.unsupported("parameterize")
}

// Schema is not supported.
func (u Unimplemented) Schema(context.Context, SchemaRequest) (string, error) {
	return "", u.unsupported("schema")
}

// Mapping returns no mapping.
func (u Unimplemented) Mapping(context.Context, MappingRequest) (MappingResponse, error) {
	return MappingResponse{}, nil
}

// Mappings returns none.
func (u Unimplemented) Mappings(context.Context, string) ([]string, error) { return nil, nil }

// Cancel does nothing.
func (u Unimplemented) Cancel(context.Context) error { return nil }

// Close does nothing.
func (u Unimplemented) Close() error { return nil }
