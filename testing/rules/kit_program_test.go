package rules

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// script is a running program, which registers with its methods. The first error stops it: later calls do nothing and
// return empty replies.
type script struct {
	ctx context.Context
	m   stages.Monitor
	err error
}

// program makes a program from a function.
func program(f func(s *script)) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		s := &script{ctx: ctx, m: m}
		f(s)
		return s.err
	}
}

// thing registers a custom resource of the package test. It sends empty dependencies for each property, as SDKs do.
func (s *script) thing(name string, inputs in, with ...option) *stages.RegisterReply {
	return s.register("test:index:Thing", name, inputs, with...)
}

// group registers a component and its outputs, which are empty.
func (s *script) group(name string, with ...option) *stages.RegisterReply {
	with = append(with, func(r *stages.RegisterRequest) { r.Custom = false })
	return s.register("test:index:Group", name, nil, with...)
}

// provider registers an explicit provider and returns its reference.
func (s *script) provider(name string, inputs in, with ...option) (*stages.RegisterReply, string) {
	r := s.register("pulumi:providers:test", name, inputs, with...)
	id := r.ID
	if id == "" {
		id = urn.UnknownID
	}
	return r, urn.ProviderRef{URN: r.URN, ID: id}.String()
}

// register registers a custom resource of any type.
func (s *script) register(typ urn.Type, name string, inputs in, with ...option) *stages.RegisterReply {
	if s.err != nil {
		return &stages.RegisterReply{}
	}
	r, err := s.m.Register(s.ctx, registration(typ, name, inputs, with...))
	if err != nil {
		s.err = err
		return &stages.RegisterReply{}
	}
	return r
}

// registration returns an SDK's request for a custom resource.
func registration(typ urn.Type, name string, inputs in, with ...option) *stages.RegisterRequest {
	r := &stages.RegisterRequest{
		Type: typ, Name: name, Custom: true, Inputs: values(inputs), SupportsResultReporting: true, AliasSpecs: true,
		PropertyDependencies: map[string][]urn.URN{},
	}
	for k := range inputs {
		r.PropertyDependencies[k] = nil
	}
	for _, o := range with {
		o(r)
	}
	return r
}

// read reads a resource.
func (s *script) read(name, id string, with ...func(*stages.ReadRequest)) *stages.RegisterReply {
	if s.err != nil {
		return &stages.RegisterReply{}
	}
	q := &stages.ReadRequest{Type: "test:index:Thing", Name: name, ID: property.String(id)}
	for _, o := range with {
		o(q)
	}
	r, err := s.m.Read(s.ctx, q)
	if err != nil {
		s.err = err
		return &stages.RegisterReply{}
	}
	return r
}

// getResource asks for a resource whose step is done.
func (s *script) getResource(u urn.URN) (*stages.InvokeReply, error) {
	return s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "pulumi:pulumi:getResource", Args: values(in{"urn": string(u)})})
}

// omit reports that the program omits the thing of this name, because others were not made.
func (s *script) omit(name string, because ...urn.URN) urn.URN {
	return s.m.Omit(s.ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: name}, because)
}

// stack registers the root stack.
func (s *script) stack() *stages.RegisterReply {
	return s.register(urn.RootStackType, "p-dev", nil, func(r *stages.RegisterRequest) { r.Custom = false })
}

// outputs registers the outputs of a component.
func (s *script) outputs(of *stages.RegisterReply, outputs in) {
	if s.err == nil {
		s.err = s.m.RegisterOutputs(s.ctx, of.URN, values(outputs))
	}
}

// nothing is a program that declares nothing.
var nothing = program(func(*script) {})

// one returns a program with one thing.
func one(inputs in, with ...option) func(s *script) {
	return func(s *script) { s.thing("a", inputs, with...) }
}

// two is a program with the things a and b.
var two = program(func(s *script) {
	s.thing("a", in{"x": 1})
	s.thing("b", nil)
})

// three declares b after a, and c, with this size.
func three(size int) func(s *script) {
	return func(s *script) {
		a := s.thing("a", in{"size": size})
		s.thing("b", in{"size": size}, dependsOn(a))
		s.thing("c", in{"size": size})
	}
}

// chain returns a program with n things, each of which depends on the one before.
func chain(n int, name string, value int) func(context.Context, stages.Monitor) error {
	return program(func(s *script) {
		before := s.thing("r0", in{name: value})
		for i := 1; i < n; i++ {
			before = s.thing(fmt.Sprint("r", i), nil, from("immutableOf", before))
		}
	})
}

// in are properties as Go values.
type in = map[string]any

// values turns Go values into properties.
func values(m in) property.Map {
	out := map[string]property.Value{}
	for k, v := range m {
		out[k] = value(v)
	}
	return property.NewMap(out)
}

// value turns a Go value into a property.
func value(v any) property.Value {
	switch v := v.(type) {
	case property.Value:
		return v
	case string:
		return property.String(v)
	case int:
		return property.Number(float64(v))
	case bool:
		return property.Bool(v)
	case in:
		return property.Of(values(v))
	case []any:
		var out []property.Value
		for _, e := range v {
			out = append(out, value(e))
		}
		return property.ArrayOf(out...)
	case nil:
		return property.Null
	}
	panic(fmt.Sprintf("no property for %T", v))
}

// secret makes a secret.
func secret(v any) property.Value { return property.Secret(value(v)) }
