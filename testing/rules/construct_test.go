package rules

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Remote components (steps.md 10.1). The provider of these tests calls the monitor of the run directly.

// constructing makes the providers of a kit construct components with f, which gets a script for the run's monitor.
func constructing(k *kit, f func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error)) func(func(*script)) func(*script) {
	var monitor stages.Monitor
	k.fake = func(fake *providertest.Fake) {
		fake.OnConstruct = func(ctx context.Context, r providers.ConstructRequest) (providers.ConstructResponse, error) {
			return f(&script{ctx: ctx, m: monitor}, r)
		}
	}
	return func(p func(*script)) func(*script) {
		return func(s *script) { monitor = s.m; p(s) }
	}
}

func TestARemoteComponentIsWhatItsProviderRegisters(t *testing.T) {
	k := newKit(t)
	yes := true
	given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
		require.Equal(t, urn.Type("test:index:Remote"), r.Type)
		require.Equal(t, urnOf("base"), r.Dependencies[0])
		require.Equal(t, map[string][]urn.URN{"base": {urnOf("base")}}, r.InputDependencies)
		require.Equal(t, &yes, r.Protect)
		require.Equal(t, "dev p", r.Deployment.Stack+" "+r.Deployment.Project)
		require.NotNil(t, r.Deployment.MonitorAddress)
		g := s.register(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom, q.Protect = false, r.Protect })
		child := s.thing("child", in{"x": 1}, parent(g))
		s.outputs(g, in{"arn": child.Outputs.At("arn")})
		return providers.ConstructResponse{
			URN: g.URN, Outputs: values(in{"arn": child.Outputs.At("arn")}), OutputDependency: map[string][]urn.URN{"arn": {child.URN}},
		}, s.err
	})
	var reply *stages.RegisterReply
	p := program(given(func(s *script) {
		base := s.thing("base", nil)
		reply = s.register("test:index:Remote", "r", nil, remote, protect(yes), from("base", base))
	}))
	r := k.up(p)
	require.Equal(t, []string{"create base", "create r", "create child"}, r.steps())
	require.Equal(t, k.recorded("r").URN, reply.URN)
	require.Empty(t, reply.ID)
	require.Equal(t, "arn:"+k.recorded("child").ID, reply.Outputs.At("arn").AsString())
	require.Equal(t, map[string][]urn.URN{"arn": {k.recorded("child").URN}}, reply.PropertyDependencies)
	require.Equal(t, k.recorded("r").URN, k.recorded("child").Parent)
	require.True(t, k.recorded("child").Protect)
	require.Equal(t, 1, k.recorded("r").Outputs.Len())
	k.up(p).requireCounts(map[stages.Op]int{stages.OpSame: 3})
}

// A component that waits for a failed child, or for nothing at all, must not prevent the run from ending.
func TestAConstructThatHangsOnAFailedChildEndsWithTheRun(t *testing.T) {
	for name, hangs := range map[string]bool{"it gives up": false, "it hangs": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, failCreate("child", errRefused))
			given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
				g := s.register(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom = false })
				s.thing("child", nil, parent(g))
				if hangs {
					<-s.ctx.Done()
				}
				return providers.ConstructResponse{}, s.err
			})
			var err error
			r := k.fails(program(given(func(s *script) {
				_, err = s.m.Register(s.ctx, registration("test:index:Remote", "r", nil, remote))
				s.err = err
			})), "refused")
			require.ErrorIs(t, err, stages.ErrShutDown)
			require.Len(t, r.diagnostics(stages.Error), 2, "of the child and of the run")
			require.Equal(t, []string{"r"}, k.names())
		})
	}
}

func TestAConstructThatFailsIsADiagnosticAndEndsTheRun(t *testing.T) {
	k := newKit(t)
	given := constructing(k, func(*script, providers.ConstructRequest) (providers.ConstructResponse, error) {
		return providers.ConstructResponse{}, errRefused
	})
	r := k.fails(program(given(func(s *script) {
		s.register("test:index:Remote", "r", nil, remote)
		s.thing("never", nil)
	})), "refused")
	r.requireDiagnostic(stages.Error, 2002, "test:index:Remote resource 'r' has a problem: refused")
	require.Empty(t, k.names())
}

func TestAChildThatFailsInAConstructIsTheComponentsToHandleWithContinueOnError(t *testing.T) {
	k := newKit(t, failCreate("child", errRefused))
	k.options.ContinueOnError = true
	given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
		g := s.register(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom = false })
		child := s.thing("child", nil, parent(g))
		s.thing("sibling", nil, parent(g))
		return providers.ConstructResponse{URN: g.URN, Outputs: values(in{"result": fmt.Sprint(child.Result)})}, s.err
	})
	var reply *stages.RegisterReply
	k.fails(program(given(func(s *script) {
		reply = s.register("test:index:Remote", "r", nil, remote)
		s.thing("independent", nil)
	})), "refused")
	require.Equal(t, property.String(fmt.Sprint(stages.Fail)), reply.Outputs.At("result"))
	require.ElementsMatch(t, []string{"r", "sibling", "independent"}, k.names())
}

// The values that a remote component passes on are those of its own registration, which its provider makes (steps.md
// 1.3).
func TestChildrenInheritFromWhatTheProviderRegistered(t *testing.T) {
	k := newKit(t)
	yes := true
	given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
		g := s.register(r.Type, r.Name, nil, func(q *stages.RegisterRequest) { q.Custom, q.RetainOnDelete = false, &yes })
		return providers.ConstructResponse{URN: g.URN}, s.err
	})
	k.up(program(given(func(s *script) {
		_, ref := s.provider("prov", nil)
		c := s.register("test:index:Remote", "r", nil, remote, via(ref), protect(true))
		s.thing("child", nil, parent(c))
	})))
	child := k.recorded("child")
	require.True(t, child.RetainOnDelete)
	require.False(t, child.Protect)
	require.Contains(t, child.Provider, "::default::")
}

func TestInAPreviewAComponentOfAnUnconfiguredProviderIsRegisteredAlone(t *testing.T) {
	k := newKit(t)
	given := constructing(k, func(*script, providers.ConstructRequest) (providers.ConstructResponse, error) {
		panic("it is not configured")
	})
	r := k.preview(program(given(func(s *script) {
		_, ref := s.provider("prov", nil, from("region", s.thing("source", nil)))
		s.register("test:index:Remote", "r", in{"x": 1}, remote, via(ref))
	})))
	require.Contains(t, r.steps(), "create r")
	require.Zero(t, r.step(stages.OpCreate, "r").New.Inputs.Len())
}

// The answer about a remote component must not change what is known of another resource.
func TestAConstructThatReturnsTheURNOfSomethingElseFails(t *testing.T) {
	component := func(q *stages.RegisterRequest) { q.Custom = false }
	for name, c := range map[string]struct {
		construct func(s *script, r providers.ConstructRequest) urn.URN
		text      string
	}{
		"nothing":           {func(*script, providers.ConstructRequest) urn.URN { return "" }, "the provider has returned no URN"},
		"what is nowhere":   {func(*script, providers.ConstructRequest) urn.URN { return urnOf("nowhere") }, "which is not registered"},
		"a custom resource": {func(*script, providers.ConstructRequest) urn.URN { return urnOf("a") }, "which is not that of a component"},
		"an earlier component": {func(*script, providers.ConstructRequest) urn.URN {
			return urn.New("dev", "p", "", "test:index:Group", "g")
		}, "which was registered before"},
		"a child": {func(s *script, r providers.ConstructRequest) urn.URN {
			return s.thing("child", nil, parent(s.register(r.Type, r.Name, nil, component))).URN
		}, "which is not that of a component"},
	} {
		for mode, operate := range map[string]operation{"preview": sluice.Preview, "update": sluice.Update} {
			t.Run(mode+", "+name, func(t *testing.T) {
				k := newKit(t)
				given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
					return providers.ConstructResponse{URN: c.construct(s, r)}, s.err
				})
				r := k.try(operate, program(given(func(s *script) {
					s.thing("a", nil)
					s.group("g")
					made, err := s.m.Register(s.ctx, registration("test:index:Remote", "r", nil, remote))
					if mode == "update" {
						require.ErrorIs(t, err, stages.ErrShutDown)
						return
					}
					require.NoError(t, err)
					require.Equal(t, stages.Fail, made.Result)
					require.Equal(t, "r", made.URN.Name())
					invoked, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", DependsOn: []urn.URN{urnOf("a")}})
					require.NoError(t, err)
					require.True(t, invoked.Unknown)
				})))
				r.requireFailure(c.text)
				r.requireDiagnostic(stages.Error, 2002, "test:index:Remote resource 'r' has a problem: the provider has returned")
				require.Len(t, r.diagnostics(stages.Error), 2, "of the component and of the run")
			})
		}
	}
}

// Authors of components choose the type in their code, which may differ from that in the schema.
func TestAProviderMayRegisterAComponentUnderAnotherTypeAndName(t *testing.T) {
	k := newKit(t)
	given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
		g := s.register("test:other:Type", r.Name+"-it", nil, func(q *stages.RegisterRequest) { q.Custom = false })
		return providers.ConstructResponse{URN: g.URN}, s.err
	})
	k.up(program(given(func(s *script) {
		c := s.register("test:index:Remote", "r", nil, remote)
		s.thing("child", nil, parent(c))
	})))
	require.Equal(t, k.recorded("r-it").URN, k.recorded("child").Parent)
}
