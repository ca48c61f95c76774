package rules

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// A state is JSON, which would hold another URN: the resource would be replaced in each update.
func TestNamesThatAreNotUTF8AreRefused(t *testing.T) {
	for name, register := range map[string]func(s *script) error{
		"resource": func(s *script) error {
			_, err := s.m.Register(s.ctx, registration("test:index:Thing", "a\xff", nil))
			return err
		},
		"component": func(s *script) error {
			_, err := s.m.Register(s.ctx, &stages.RegisterRequest{Type: "my:index:Group\xff", Name: "a"})
			return err
		},
		"read": func(s *script) error {
			_, err := s.m.Read(s.ctx, &stages.ReadRequest{Type: "test:index:Thing", Name: "a\xff", ID: property.String("1")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, op := range []operation{sluice.Update, sluice.Preview} {
				k := newKit(t)
				r := k.try(op, func(ctx context.Context, m stages.Monitor) error { return register(&script{ctx: ctx, m: m}) })
				r.requireFailure("not UTF-8, which a state cannot hold")
				require.Empty(t, r.changed())
			}
		})
	}
}

// Every request that may start a plugin is refused if the name of the plugin would be a path (protocol.md 1.3).
func TestRequestsCannotNamePaths(t *testing.T) {
	const typ = "../x:index:Thing"
	cases := map[string]func(s *script) error{
		"custom resource": func(s *script) error {
			_, err := s.m.Register(s.ctx, registration(typ, "a", nil))
			return err
		},
		"custom resource with a provider": func(s *script) error {
			_, ref := s.provider("p", nil)
			_, err := s.m.Register(s.ctx, registration(typ, "a", nil, func(r *stages.RegisterRequest) { r.Provider = ref }))
			return err
		},
		"remote component": func(s *script) error {
			_, err := s.m.Register(s.ctx, &stages.RegisterRequest{Type: typ, Name: "a", Remote: true})
			return err
		},
		"provider": func(s *script) error {
			_, err := s.m.Register(s.ctx, registration("pulumi:providers:../x", "a", nil))
			return err
		},
		"read": func(s *script) error {
			_, err := s.m.Read(s.ctx, &stages.ReadRequest{Type: typ, Name: "a", ID: property.String("1")})
			return err
		},
		"function": func(s *script) error {
			_, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "../x:index:get", Package: stages.Package{Name: "../x"}})
			return err
		},
		"method": func(s *script) error {
			_, err := s.m.Call(s.ctx, &stages.CallRequest{Token: "../x:index:get", Package: stages.Package{Name: "../x"}})
			return err
		},
		"package": func(s *script) error {
			_, err := s.m.RegisterPackage(s.ctx, stages.Package{Name: "../x"})
			return err
		},
		"parameterized package": func(s *script) error {
			_, err := s.m.RegisterPackage(s.ctx, stages.Package{Name: "test", Parameterization: &stages.Parameterization{Name: "../x"}})
			return err
		},
	}
	for name, ask := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			var loaded sync.Map
			next := k.options.Providers
			k.options.Providers = providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
				loaded.Store(spec.Package, true)
				return next.Load(ctx, spec)
			})
			k.fails(program(func(s *script) { s.err = errors.Join(ask(s), errors.New("the program ends")) }), `"../x" cannot be the name of a`)
			_, asked := loaded.Load("../x")
			require.False(t, asked, "the host is not even asked")
		})
	}
	k := newKit(t)
	k.up(program(func(s *script) {
		_, s.err = s.m.Register(s.ctx, &stages.RegisterRequest{Type: "my own/thing:index:Group", Name: "a"})
	}))
}
