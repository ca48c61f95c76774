package rules

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestChildInheritsWhatItDoesNotSay(t *testing.T) {
	yes, no := true, false
	parentOptions := []option{protect(yes), retain(yes)}
	tests := map[string]struct {
		child           []option
		protect, retain bool
		with            string
	}{
		"nothing said":    {nil, true, true, "t"},
		"its own values":  {[]option{protect(no), retain(no), func(r *stages.RegisterRequest) { r.DeletedWith = urnOf("u") }}, false, false, "u"},
		"some of its own": {[]option{retain(no)}, true, false, "t"},
	}
	for name, test := range tests {
		for _, custom := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				k := newKit(t)
				k.up(program(func(s *script) {
					target := s.thing("t", nil)
					s.thing("u", nil)
					var p *stages.RegisterReply
					with := append([]option{deletedWith(target)}, parentOptions...)
					if custom {
						p = s.thing("parent", nil, with...)
					} else {
						p = s.group("parent", with...)
					}
					c := s.group("middle", parent(p))
					s.thing("child", nil, append([]option{parent(p)}, test.child...)...)
					s.thing("grandchild", nil, parent(c))
				}))
				c := k.recorded("child")
				require.Equal(t, test.protect, c.Protect)
				require.Equal(t, test.retain, c.RetainOnDelete)
				require.Equal(t, urnOf(test.with), c.DeletedWith)
				require.True(t, k.recorded("grandchild").Protect)
				require.Equal(t, urnOf("t"), k.recorded("grandchild").DeletedWith)
			})
		}
	}
}

func TestChildInheritsTheProviderOfItsPackageOnly(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		_, ref := s.provider("prov", nil)
		p := s.thing("parent", nil, via(ref))
		s.thing("same package", nil, parent(p))
		s.register("other:index:Thing", "other package", nil, parent(p))
		g := s.register("test:index:Group", "component", nil, parent(p), func(r *stages.RegisterRequest) { r.Custom = false })
		s.thing("below the component", nil, parent(g))
		s.thing("no parent", nil)
	}))
	provider := func(name string) string {
		ref, err := urn.ParseProviderRef(k.recorded(name).Provider)
		require.NoError(t, err)
		return ref.URN.Name()
	}
	require.Equal(t, "prov", provider("same package"))
	require.Equal(t, "default", provider("other package"))
	require.Equal(t, "default", provider("below the component"), "a component has no provider to pass on")
	require.Equal(t, "default", provider("no parent"))
}

func TestProvidersOfAComponentServeItsChildren(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		_, one := s.provider("one", nil)
		_, two := s.provider("two", nil)
		given := func(ref string) option {
			return func(r *stages.RegisterRequest) { r.Providers = map[string]string{"test": ref} }
		}
		outer := s.group("outer", given(one))
		inner := s.group("inner", parent(outer))
		other := s.group("other", parent(outer), given(two))
		s.thing("a", nil, parent(outer))
		s.thing("b", nil, parent(inner))
		s.thing("c", nil, parent(other))
		s.thing("d", nil, parent(outer), via(two))
		reply, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Parent: outer.URN, Args: values(in{"x": 1})})
		if err != nil || reply.Return.Len() != 1 {
			s.err = errors.Join(err, errRefused)
		}
	}))
	for name, want := range map[string]string{"a": "one", "b": "one", "c": "two", "d": "two"} {
		ref, err := urn.ParseProviderRef(k.recorded(name).Provider)
		require.NoError(t, err)
		require.Equal(t, want, ref.URN.Name(), name)
	}
	require.Empty(t, k.all("default"))
}

func TestMalformedRequestsAreTheProgramsToHandle(t *testing.T) {
	tests := map[string]struct {
		request *stages.RegisterRequest
		text    string
	}{
		"a custom resource needs a full token": {registration("Thing", "a", nil), `type "Thing" of resource "a" is not a full type token`},
		"a remote component needs a full token": {
			registration("Thing", "a", nil, func(r *stages.RegisterRequest) { r.Custom, r.Remote = false, true }), "is not a full type token",
		},
		"environment of a resource": {
			registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.EnvVarMappings = map[string]string{"A": "B"} }),
			"envVarMappings can only be used with provider resources",
		},
		"unreadable timeout": {
			registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.CustomTimeouts.Create = "soon" }),
			"unable to parse customTimeout Value soon",
		},
		"malformed hideDiff": {
			registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.HideDiffs = []string{"a.["} }), "a.[",
		},
		"malformed version": {registration("test:index:Thing", "a", nil, version("one")), `version "one" is not a semantic version`},
		"unknown package": {
			registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) { r.PackageRef = "nobody" }), "unknown provider package 'nobody'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			var err error
			r := k.up(func(ctx context.Context, m stages.Monitor) error {
				_, err = m.Register(ctx, test.request)
				_, other := m.Register(ctx, registration("test:index:Thing", "b", nil))
				return other
			})
			require.ErrorContains(t, err, test.text)
			require.Equal(t, []string{"create b"}, r.steps())
		})
	}
}

func TestARefusedRegistrationLeavesNothing(t *testing.T) {
	for name, edit := range map[string]func(r *stages.RegisterRequest){
		"timeout":  func(r *stages.RegisterRequest) { r.CustomTimeouts.Create = "soon" },
		"hideDiff": func(r *stages.RegisterRequest) { r.HideDiffs = []string{"a.["} },
		"version":  version("one"),
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(func(ctx context.Context, m stages.Monitor) error {
				_, err := m.Register(ctx, registration("test:index:Thing", "a", nil, edit))
				require.Error(t, err)
				return nil
			})
			require.Empty(t, k.state.Snapshot().Resources)
		})
	}
}

func TestProvidersThatRegistrationsShareStayAsTheyAre(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnConstruct = func(context.Context, providers.ConstructRequest) (providers.ConstructResponse, error) {
			return providers.ConstructResponse{}, errors.New("no")
		}
	}
	shared := map[string]string{"test": "", "other": ""}
	k.try(sluice.Update, func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Register(ctx, registration("test:index:Component", "c", nil, func(r *stages.RegisterRequest) {
			r.Custom, r.Remote, r.Providers = false, true, shared
		}))
		return err
	})
	require.Len(t, shared, 2)
}

func TestComponentsReplyHasNoOutputs(t *testing.T) {
	k := newKit(t)
	var reply *stages.RegisterReply
	p := program(func(s *script) {
		reply = s.group("g")
		s.outputs(reply, in{"x": 1})
	})
	for range 2 {
		k.up(p)
		require.Zero(t, reply.Outputs.Len())
		require.Empty(t, reply.ID)
		require.Equal(t, 1.0, k.recorded("g").Outputs.At("x").AsNumber())
	}
}

func TestPropertiesDependOnEverythingWhenTheRequestDoesNotSay(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		s.thing("b", in{"x": 1, "y": 2}, dependsOn(a), func(r *stages.RegisterRequest) { r.PropertyDependencies = nil })
		s.thing("c", in{"x": 1, "y": 2}, dependsOn(a), func(r *stages.RegisterRequest) {
			r.PropertyDependencies = map[string][]urn.URN{"x": {a.URN}}
		})
	}))
	require.Equal(t, map[string][]urn.URN{"x": {urnOf("a")}, "y": {urnOf("a")}}, k.recorded("b").PropertyDependencies)
	require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("c").PropertyDependencies["x"])
	require.Empty(t, k.recorded("c").PropertyDependencies["y"])
}

func TestDependenciesInOutputValuesCount(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		v := property.OutputOf(property.Output{Element: property.String("v"), Known: true, Secret: true, Dependencies: []urn.URN{a.URN}})
		s.thing("b", in{"x": v})
	}))
	b := k.recorded("b")
	require.Equal(t, []urn.URN{urnOf("a")}, b.PropertyDependencies["x"])
	require.True(t, b.Inputs.At("x").IsSecret(), "the engine never keeps output values")
}

func TestTransformsRunFromTheInside(t *testing.T) {
	k := newKit(t)
	add := func(letter string) stages.Transform {
		return func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
			v, _ := in.Properties.At("path").Unwrap()
			in.Properties = in.Properties.With("path", property.String(v.AsString()+letter))
			return in, nil
		}
	}
	with := func(t stages.Transform) option {
		return func(r *stages.RegisterRequest) { r.Transforms = append(r.Transforms, t) }
	}
	k.up(program(func(s *script) {
		if s.err = s.m.RegisterStackTransform(s.ctx, add("S")); s.err != nil {
			return
		}
		outer := s.group("outer", with(add("o")))
		inner := s.group("inner", parent(outer), with(add("i")))
		s.thing("a", in{"path": ""}, parent(inner), with(add("1")), with(add("2")))
		s.thing("b", in{"path": ""})
	}))
	require.Equal(t, "12ioS", k.recorded("a").Inputs.At("path").AsString())
	require.Equal(t, "S", k.recorded("b").Inputs.At("path").AsString())
}

func TestTransformChangesOptions(t *testing.T) {
	k := newKit(t)
	yes := true
	k.up(program(func(s *script) {
		a := s.thing("a", nil)
		s.thing("b", in{"x": 1}, func(r *stages.RegisterRequest) {
			r.Transforms = []stages.Transform{func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
				in.Options.Protect = &yes
				in.Options.DependsOn = []urn.URN{a.URN}
				in.Options.IgnoreChanges = []string{"x"}
				return in, nil
			}}
		})
	}))
	b := k.recorded("b")
	require.True(t, b.Protect)
	require.Equal(t, []urn.URN{urnOf("a")}, b.Dependencies)
	require.Equal(t, []string{"x"}, b.IgnoreChanges)
}

// A destroy with continue-on-error keeps the dependencies of objects that could not be deleted, if they are recorded.
func TestDependenciesThatOuterTransformsAddAreRecorded(t *testing.T) {
	for name, of := range map[string]func(s *script, t stages.Transform) []option{
		"the stack": func(s *script, t stages.Transform) []option {
			s.err = s.m.RegisterStackTransform(s.ctx, t)
			return nil
		},
		"the parent": func(s *script, t stages.Transform) []option {
			return []option{parent(s.group("g", func(r *stages.RegisterRequest) { r.Transforms = []stages.Transform{t} }))}
		},
		"the parent's parent": func(s *script, t stages.Transform) []option {
			outer := s.group("g", func(r *stages.RegisterRequest) { r.Transforms = []stages.Transform{t} })
			return []option{parent(s.group("h", parent(outer)))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b"})
			k.up(program(func(s *script) {
				a, before := s.thing("a", nil), s.thing("before", nil)
				output := property.OutputOf(property.Output{Element: property.String("v"), Known: true, Dependencies: []urn.URN{before.URN}})
				own := of(s, func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
					if in.Name == "b" {
						in.Options.DependsOn = append(slices.Clone(in.Options.DependsOn), a.URN)
						in.Properties = in.Properties.With("added", output)
					}
					return in, nil
				})
				s.thing("b", in{"x": 1}, own...)
			}))
			b := k.recorded("b")
			require.Equal(t, []urn.URN{urnOf("a"), urnOf("before")}, b.Dependencies)
			require.Equal(t, []urn.URN{urnOf("before")}, b.PropertyDependencies["added"])
			k.options.ContinueOnError = true
			k.try(sluice.Destroy, nil).requireFailure("refused to delete b")
			require.Subset(t, k.names(), []string{"a", "b", "before"})
		})
	}
}

func TestFailingTransformIsAnErrorOfTheRegistration(t *testing.T) {
	k := newKit(t)
	var err error
	k.try(sluice.Update, func(ctx context.Context, m stages.Monitor) error {
		_, err = m.Register(ctx, registration("test:index:Thing", "a", nil, func(r *stages.RegisterRequest) {
			r.Transforms = []stages.Transform{func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
				return in, errRefused
			}}
		}))
		return err
	})
	require.ErrorContains(t, err, "refused")
}

func TestInvokeReturnsWhatTheFunctionSays(t *testing.T) {
	k := newKit(t)
	invoke := func(token string, args in) (reply *stages.InvokeReply, err error) {
		k.up(func(ctx context.Context, m stages.Monitor) error {
			reply, err = m.Invoke(ctx, &stages.InvokeRequest{Token: token, Args: values(args)})
			return nil
		})
		return reply, err
	}
	reply, err := invoke("test:index:echo", in{"x": secret(1)})
	require.NoError(t, err)
	require.True(t, property.EqualMaps(values(in{"x": secret(1)}), reply.Return))

	reply, err = invoke("test:index:lookup", in{})
	require.NoError(t, err)
	require.Equal(t, []stages.CheckFailure{{Property: "id", Reason: "must be a string"}}, reply.Failures)

	_, err = invoke("test:index:nonsense", in{})
	require.ErrorContains(t, err, "invocation of test:index:nonsense returned an error: the cloud has no function")

	_, err = invoke("nonsense", in{})
	require.ErrorContains(t, err, `function token "nonsense"`)
}

func TestInvokeThatDependsOnWhatAPreviewWouldCreateIsUnknown(t *testing.T) {
	k := newKit(t)
	var reply *stages.InvokeReply
	p := program(func(s *script) {
		g := s.group("g")
		s.thing("a", nil, parent(s.group("h", parent(g))))
		if s.err == nil {
			reply, s.err = s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Args: values(in{"x": 1}), DependsOn: []urn.URN{g.URN, urnOf("nobody")}})
		}
	})
	r := k.preview(p)
	require.True(t, reply.Unknown)
	require.Zero(t, countOf(r, providers.MethodInvoke))
	r = k.up(p)
	require.False(t, reply.Unknown)
	require.Equal(t, 1, countOf(r, providers.MethodInvoke))
	k.preview(p)
	require.False(t, reply.Unknown)
}

// An invoke depends on the resources of the outputs in its arguments, too.
func TestInvokeWithAnOutputOfWhatAPreviewWouldCreateIsUnknown(t *testing.T) {
	k := newKit(t)
	var reply *stages.InvokeReply
	p := program(func(s *script) {
		a := s.thing("a", nil)
		if s.err == nil {
			args := values(in{"x": property.OutputOf(property.Output{Element: property.Number(1), Known: true, Dependencies: []urn.URN{a.URN}})})
			reply, s.err = s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Args: args})
		}
	})
	k.preview(p)
	require.True(t, reply.Unknown)
	k.up(p)
	require.False(t, reply.Unknown)
	require.True(t, property.EqualMaps(values(in{"x": 1}), reply.Return))
}

// A function below a custom resource of its package is served by the explicit provider of that resource.
func TestInvokesAreServedByTheExplicitProviderOfTheirParent(t *testing.T) {
	k := newKit(t)
	k.try(sluice.Update, program(func(s *script) {
		_, ref := s.provider("own", nil)
		parent := s.thing("parent", nil, via(ref))
		other := s.thing("other", nil)
		for _, at := range []urn.URN{parent.URN, other.URN} {
			if _, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Parent: at, Args: values(in{"x": 1})}); err != nil {
				s.err = err
			}
		}
	}))
	require.Len(t, k.all("default"), 1)
}

// Exists reads an object and records nothing.
func TestExistsReadsAnObjectAndRecordsNothing(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	id := k.recorded("a").ID
	var there, missing, unknown *stages.ExistsReply
	p := program(func(s *script) {
		s.thing("a", nil)
		for _, x := range []struct {
			id property.Value
			to **stages.ExistsReply
		}{{property.String(id), &there}, {property.String("nothing"), &missing}, {property.Computed(), &unknown}} {
			reply, err := s.m.Exists(s.ctx, &stages.ExistsRequest{Type: "test:index:Thing", ID: x.id})
			if err != nil {
				s.err = err
			}
			*x.to = reply
		}
	})
	k.preview(p)
	k.up(p)
	require.Equal(t, &stages.ExistsReply{Exists: true}, there)
	require.Equal(t, &stages.ExistsReply{}, missing)
	require.Equal(t, &stages.ExistsReply{Unknown: true}, unknown)
	require.Len(t, k.all("a"), 1)
}

func TestWhetherSomethingExistsIsNotKnownBeforeTheConfigurationOfItsProvider(t *testing.T) {
	k := newKit(t)
	var got []*stages.ExistsReply
	p := program(func(s *script) {
		_, ref := s.provider("mine", nil, from("region", s.thing("new", nil)))
		reply, err := s.m.Exists(s.ctx, &stages.ExistsRequest{Type: "test:index:Thing", ID: property.String("nothing"), Provider: ref})
		s.err = errors.Join(s.err, err)
		got = append(got, reply)
	})
	k.preview(p)
	k.up(p)
	require.Equal(t, []*stages.ExistsReply{{Unknown: true}, {}}, got)
}

// Inputs that carry their dependencies have no others: a plain value depends on nothing.
func TestPlainInputsBesideOutputsThatCarryDependenciesDependOnNothing(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		a, b := s.thing("a", nil), s.thing("b", nil)
		out := property.OutputOf(property.Output{Element: property.String("v"), Known: true, Dependencies: []urn.URN{a.URN}})
		s.thing("c", in{"plain": "p", "value": out}, func(r *stages.RegisterRequest) {
			r.Dependencies, r.CarriesDependencies = []urn.URN{b.URN}, true
		})
	}))
	got := k.recorded("c")
	require.Equal(t, map[string][]urn.URN{"plain": {}, "value": {urnOf("a")}}, got.PropertyDependencies)
}

// Check gets the recorded outputs of a resource, unless that is made, or made anew.
func TestCheckGetsTheRecordedOutputs(t *testing.T) {
	k := newKit(t)
	var got []int
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			got = append(got, r.OldOutputs.Len())
			return f.Base.Check(ctx, r)
		}
	}
	k.up(program(func(s *script) { s.thing("a", in{"immutable": "x"}) }))
	outputs := k.recorded("a").Outputs.Len()
	k.up(program(func(s *script) { s.thing("a", in{"immutable": "y"}) })) // the second Check is of the new object
	require.Equal(t, []int{0, outputs, 0}, got)
}

func countOf(r *ran, m providers.Method) int {
	n := 0
	for _, c := range r.calls {
		if c.Method == m {
			n++
		}
	}
	return n
}

func TestCallGoesToTheProviderOfItsResource(t *testing.T) {
	k := newKit(t)
	var reply *stages.CallReply
	k.up(program(func(s *script) {
		_, ref := s.provider("prov", nil)
		a := s.thing("a", nil, via(ref))
		self := property.Of(property.Reference{URN: a.URN, ID: property.String(a.ID)})
		if s.err == nil {
			reply, s.err = s.m.Call(s.ctx, &stages.CallRequest{Token: "test:index:Thing/describe", Args: values(in{"__self__": self, "x": 1})})
		}
	}))
	require.Equal(t, string(urnOf("a")), reply.Return.At("urn").AsString())
	require.Equal(t, []urn.URN{urnOf("a")}, reply.ReturnDependencies["urn"])
	require.Len(t, k.cloud.Loads(), 1)

	r := k.fails(program(func(s *script) {
		if _, err := s.m.Call(s.ctx, &stages.CallRequest{Token: "test:index:Thing/nonsense"}); err != nil {
			s.err = err
		}
	}), "call to function 'test:index:Thing/nonsense' failed")
	r.requireDiagnostic(stages.Error, 2017, "call to function 'test:index:Thing/nonsense' failed: the cloud has no method")
}

func TestMonitorAnswersNothingAfterTheRun(t *testing.T) {
	k := newKit(t)
	var kept stages.Monitor
	k.up(func(_ context.Context, m stages.Monitor) error { kept = m; return nil })
	_, err := kept.Register(t.Context(), registration("test:index:Thing", "a", nil))
	require.ErrorIs(t, err, stages.ErrShutDown)
	_, err = kept.Read(t.Context(), &stages.ReadRequest{Type: "test:index:Thing", Name: "a", ID: property.String("x")})
	require.ErrorIs(t, err, stages.ErrShutDown)
	_, err = kept.Invoke(t.Context(), &stages.InvokeRequest{Token: "test:index:echo"})
	require.ErrorIs(t, err, stages.ErrShutDown)
	require.ErrorIs(t, kept.RegisterOutputs(t.Context(), urnOf("a"), property.Map{}), stages.ErrShutDown)
}

func TestInvokeWaitsForWhatIsInFlightBeneathAComponentAndForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{Latency: func(c providertest.Call) time.Duration {
			if c.Method != providers.MethodCreate {
				return 0
			}
			return map[string]time.Duration{"below": time.Second, "elsewhere": time.Hour}[c.URN.Name()]
		}})
		o := options(cloud, &sluice.MemoryState{}, func(ctx context.Context, m stages.Monitor) error {
			g, err := m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Group", Name: "g", SupportsResultReporting: true})
			if err != nil {
				return err
			}
			var wg conc.WaitGroup
			defer wg.Wait()
			for name, parent := range map[string]urn.URN{"below": g.URN, "elsewhere": ""} {
				wg.Go(func() {
					_, _ = m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: name, Parent: parent, Custom: true, SupportsResultReporting: true})
				})
			}
			time.Sleep(time.Millisecond)
			began := time.Now()
			reply, err := m.Invoke(ctx, &stages.InvokeRequest{Token: "test:index:echo", DependsOn: []urn.URN{g.URN}})
			if err != nil {
				return err
			}
			require.False(t, reply.Unknown)
			require.InDelta(t, time.Second, time.Since(began), float64(time.Millisecond)) // of the bubble's clock
			return nil
		})
		_, err := sluice.Update(t.Context(), o)
		require.NoError(t, err)
	})
}
