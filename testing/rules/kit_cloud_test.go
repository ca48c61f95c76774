package rules

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// failCreate fails creates of that name, in updates.
func failCreate(name string, err error) providertest.Failure {
	return providertest.Failure{Method: providers.MethodCreate, Name: name, Err: err, Update: true}
}

// slow returns a cloud whose creates, updates and deletes take ten seconds.
func slow(failures ...providertest.Failure) providertest.Options {
	return providertest.Options{Failures: failures, Latency: func(c providertest.Call) time.Duration {
		switch c.Method {
		case providers.MethodCreate, providers.MethodUpdate, providers.MethodDelete:
			return 10 * time.Second
		}
		return 0
	}}
}

// inquiry is one request to a provider, with the name of its resource.
type inquiry struct {
	name string
	body any
}

// host returns a host that starts providers of the cloud and records their requests.
func (k *kit) host() providers.Host {
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		base, err := k.cloud.Host().Load(ctx, spec)
		f := &providertest.Fake{Base: base}
		if k.fake != nil {
			k.fake(f)
		}
		return &spy{Provider: f, kit: k}, err
	})
}

// spy records the requests to a provider.
type spy struct {
	providers.Provider
	kit *kit
}

func (s *spy) note(name string, body any) {
	s.kit.mu.Lock()
	defer s.kit.mu.Unlock()
	s.kit.requests = append(s.kit.requests, inquiry{name, body})
}

func (s *spy) CheckConfig(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
	s.note("config "+r.Name, r)
	return s.Provider.CheckConfig(ctx, r)
}

func (s *spy) DiffConfig(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
	s.note("config "+r.Name, r)
	return s.Provider.DiffConfig(ctx, r)
}

func (s *spy) Configure(ctx context.Context, r providers.ConfigureRequest) error {
	s.note(r.Name, r)
	return s.Provider.Configure(ctx, r)
}

func (s *spy) Check(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Check(ctx, r)
}

func (s *spy) Diff(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Diff(ctx, r)
}

func (s *spy) Create(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Create(ctx, r)
}

func (s *spy) Update(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Update(ctx, r)
}

func (s *spy) Delete(ctx context.Context, r providers.DeleteRequest) error {
	s.note(r.Name, r)
	return s.Provider.Delete(ctx, r)
}

func (s *spy) Read(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
	s.note(r.Name, r)
	return s.Provider.Read(ctx, r)
}
