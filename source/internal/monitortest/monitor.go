// Package monitortest has a stages.Monitor that answers from memory, for tests of clients of monitors.
//
// It is not an engine: it checks nothing and calls no provider.
//
// Invariant: every request is recorded, in the order of arrival.
package monitortest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Monitor answers registrations with their own inputs as outputs. Set the functions before use to answer otherwise; its
// methods are safe for many goroutines.
type Monitor struct {
	Run stages.RunInfo
	// Each function answers instead of the default when it is not nil.
	OnRegister func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error)
	OnRead     func(context.Context, *stages.ReadRequest) (*stages.RegisterReply, error)
	OnInvoke   func(context.Context, *stages.InvokeRequest) (*stages.InvokeReply, error)
	OnCall     func(context.Context, *stages.CallRequest) (*stages.CallReply, error)
	OnOutputs  func(context.Context, urn.URN, property.Map) error
	OnPackage  func(context.Context, stages.Package) (string, error)
	OnWait     func(context.Context) error

	mu     sync.Mutex // guards the record below
	record Record
}

// Record is the list of the requests to a Monitor.
type Record struct {
	Registered       []*stages.RegisterRequest
	Reads            []*stages.ReadRequest
	Exists           []*stages.ExistsRequest
	Invokes          []*stages.InvokeRequest
	Calls            []*stages.CallRequest
	Packages         []stages.Package
	Outputs          map[urn.URN]property.Map
	Transforms       []stages.Transform
	InvokeTransforms []stages.InvokeTransform
	Hooks            []stages.Hook
	ErrorHooks       []stages.ErrorHook
	Logs             []stages.LogMessage
	Omitted          []*stages.RegisterRequest
	Waits            int // calls of WaitForShutdown
}

// Record returns a copy of the requests so far.
func (m *Monitor) Record() Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record
	r.Registered = slices.Clone(r.Registered)
	r.Logs = slices.Clone(r.Logs)
	return r
}

func (m *Monitor) note(f func(*Record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.record)
}

// URN returns the URN that the monitor gives a resource.
func (m *Monitor) URN(typ urn.Type, name string, parent urn.URN) urn.URN {
	return urn.New(m.Run.Stack, m.Run.Project, parent.QualifiedType(), typ, name)
}

// Register records the request.
func (m *Monitor) Register(ctx context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
	m.note(func(r *Record) { r.Registered = append(r.Registered, req) })
	submitted(req.Ordered)
	if m.OnRegister != nil {
		return m.OnRegister(ctx, req)
	}
	return m.Accept(req), nil
}

// submitted ends the turn of a request.
func submitted(o *stages.Ordered) {
	if o != nil {
		o.Submitted()
	}
}

// Accept is the default answer to a registration.
func (m *Monitor) Accept(req *stages.RegisterRequest) *stages.RegisterReply {
	reply := &stages.RegisterReply{URN: m.URN(req.Type, req.Name, req.Parent)}
	if req.Custom {
		reply.ID, reply.Outputs = "id-"+req.Name, req.Inputs
	}
	return reply
}

// Read answers with the properties of the request.
func (m *Monitor) Read(ctx context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
	m.note(func(r *Record) { r.Reads = append(r.Reads, req) })
	submitted(req.Ordered)
	if m.OnRead != nil {
		return m.OnRead(ctx, req)
	}
	return &stages.RegisterReply{URN: m.URN(req.Type, req.Name, req.Parent), ID: req.ID.AsString(), Outputs: req.Properties}, nil
}

// Exists answers that an object exists, unless its ID is unknown.
func (m *Monitor) Exists(_ context.Context, req *stages.ExistsRequest) (*stages.ExistsReply, error) {
	m.note(func(r *Record) { r.Exists = append(r.Exists, req) })
	return &stages.ExistsReply{Exists: !req.ID.IsUnknown(), Unknown: req.ID.IsUnknown()}, nil
}

// RegisterOutputs records the outputs.
func (m *Monitor) RegisterOutputs(ctx context.Context, u urn.URN, outputs property.Map) error {
	m.note(func(r *Record) {
		if r.Outputs == nil {
			r.Outputs = make(map[urn.URN]property.Map)
		}
		r.Outputs[u] = outputs
	})
	if m.OnOutputs != nil {
		return m.OnOutputs(ctx, u, outputs)
	}
	return nil
}

// Invoke answers with the arguments.
func (m *Monitor) Invoke(ctx context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	m.note(func(r *Record) { r.Invokes = append(r.Invokes, req) })
	if m.OnInvoke != nil {
		return m.OnInvoke(ctx, req)
	}
	return &stages.InvokeReply{Return: req.Args}, nil
}

// Call answers with the arguments.
func (m *Monitor) Call(ctx context.Context, req *stages.CallRequest) (*stages.CallReply, error) {
	m.note(func(r *Record) { r.Calls = append(r.Calls, req) })
	if m.OnCall != nil {
		return m.OnCall(ctx, req)
	}
	return &stages.CallReply{Return: req.Args}, nil
}

// RegisterPackage numbers the packages.
func (m *Monitor) RegisterPackage(ctx context.Context, p stages.Package) (string, error) {
	var n int
	m.note(func(r *Record) { r.Packages = append(r.Packages, p); n = len(r.Packages) })
	if m.OnPackage != nil {
		return m.OnPackage(ctx, p)
	}
	return fmt.Sprintf("package-%d", n), nil
}

// RegisterStackTransform records the transform.
func (m *Monitor) RegisterStackTransform(_ context.Context, t stages.Transform) error {
	m.note(func(r *Record) { r.Transforms = append(r.Transforms, t) })
	return nil
}

// RegisterInvokeTransform records the transform.
func (m *Monitor) RegisterInvokeTransform(_ context.Context, t stages.InvokeTransform) error {
	m.note(func(r *Record) { r.InvokeTransforms = append(r.InvokeTransforms, t) })
	return nil
}

// RegisterHook records the hook.
func (m *Monitor) RegisterHook(_ context.Context, h stages.Hook) error {
	m.note(func(r *Record) { r.Hooks = append(r.Hooks, h) })
	return nil
}

// RegisterErrorHook records the hook.
func (m *Monitor) RegisterErrorHook(_ context.Context, h stages.ErrorHook) error {
	m.note(func(r *Record) { r.ErrorHooks = append(r.ErrorHooks, h) })
	return nil
}

// Omit records the request.
func (m *Monitor) Omit(_ context.Context, req *stages.RegisterRequest, _ []urn.URN) urn.URN {
	m.note(func(r *Record) { r.Omitted = append(r.Omitted, req) })
	return m.URN(req.Type, req.Name, req.Parent)
}

// Log records the message.
func (m *Monitor) Log(_ context.Context, l stages.LogMessage) {
	m.note(func(r *Record) { r.Logs = append(r.Logs, l) })
}

// WaitForShutdown returns at once.
func (m *Monitor) WaitForShutdown(ctx context.Context) error {
	m.note(func(r *Record) { r.Waits++ })
	if m.OnWait != nil {
		return m.OnWait(ctx)
	}
	return nil
}

// Info returns Run.
func (m *Monitor) Info() stages.RunInfo { return m.Run }

// StackOutputs returns the exports of the program of [Preview].
func (m *Monitor) StackOutputs(t testing.TB) property.Map {
	t.Helper()
	stack := urn.RootStack("dev", "proj")
	require.Contains(t, m.Record().Outputs, stack)
	return m.Record().Outputs[stack]
}

// Messages returns the text of the logged messages of one severity, in the order of arrival.
func (m *Monitor) Messages(s stages.Severity) []string {
	var texts []string
	for _, l := range m.Record().Logs {
		if l.Severity == s {
			texts = append(texts, l.Message)
		}
	}
	return texts
}
