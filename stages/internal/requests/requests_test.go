package requests

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/step"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

var mainRef = urn.ProviderRef{URN: urn.New("dev", "p", "", "pulumi:providers:x", "main"), ID: "1"}.String()

func urnOf(typ urn.Type, name string) urn.URN { return urn.New("dev", "p", "", typ, name) }

func newAdmission(t *testing.T, s stages.Settings) *Admission {
	t.Helper()
	a, _ := newAdmissionAndExecutor(t, s)
	return a
}

func newAdmissionAndExecutor(t *testing.T, s stages.Settings) (*Admission, *step.Executor) {
	t.Helper()
	s.Base, s.Info.Stack, s.Info.Project = &state.Snapshot{}, "dev", "p"
	s.PackageConfig = func(string) property.Map { return property.Map{} }
	c := control.NewControl(t.Context(), s.Info, time.Now, nil)
	b, w := rooms.NewRooms(s)
	w.Base.Open(rooms.Recorded{Snapshot: s.Base})
	a := &access.Access{Control: c, Rooms: b, Extensions: access.NewExtensions(nil)}
	hooks := &step.HookSet{}
	executor := step.NewExecutor(c, b, w.Steps, a, plan.NewPlans(c, b, s), s, hooks)
	return NewAdmission(c, w.Outputs, w.Omissions, w.Migrations, a, executor.Outputs, hooks, s), executor
}

func (a *Admission) complete(t *testing.T, req stages.RegisterRequest) (*stages.PendingReply, *stages.Goal, error) {
	t.Helper()
	q := stages.NewPendingReply(true)
	g, err := (&Completion{Admission: a, Req: &req, PendingReply: q}).Complete(t.Context())
	return q, g, err
}

// declare completes a request and answers it.
func (a *Admission) declare(t *testing.T, req stages.RegisterRequest, id string) urn.URN {
	t.Helper()
	q, _, err := a.complete(t, req)
	require.NoError(t, err)
	u := urnOf(req.Type, req.Name)
	a.Families.answered(q, &stages.RegisterReply{URN: u, ID: id})
	return u
}

func TestRequestsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		req  stages.RegisterRequest
		text string
	}{
		"type":        {stages.RegisterRequest{Type: "T", Name: "a", Custom: true}, "not a full type token"},
		"remote type": {stages.RegisterRequest{Type: "T", Name: "a", Remote: true}, "not a full type token"},
		"environment": {stages.RegisterRequest{Type: thing, Name: "a", EnvVarMappings: map[string]string{"A": "B"}}, "only be used with provider resources"},
		"timeout":     {stages.RegisterRequest{Type: thing, Name: "a", CustomTimeouts: stages.CustomTimeouts{Read: "soon"}}, "unable to parse customTimeout Value soon"},
		"path":        {stages.RegisterRequest{Type: thing, Name: "a", HideDiffs: []string{"ok", "a["}}, "hideDiffs[1]"},
		"version":     {stages.RegisterRequest{Type: thing, Name: "a", Custom: true, Package: stages.Package{Version: "new"}}, `version "new" is not a semantic version`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := newAdmission(t, stages.Settings{}).complete(t, c.req)
			require.ErrorAs(t, err, new(*stages.InvalidRequestError))
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestComponentsMayHaveTypesOfAnyForm(t *testing.T) {
	_, g, err := newAdmission(t, stages.Settings{}).complete(t, stages.RegisterRequest{Type: "App", Name: "a"})
	require.NoError(t, err)
	require.Empty(t, g.Provider)
}

func TestTimeoutsAreSeconds(t *testing.T) {
	got, err := parseTimeouts(stages.CustomTimeouts{Create: "1m30s", Update: "250ms", Delete: "1h"})
	require.NoError(t, err)
	require.Equal(t, state.Timeouts{Create: 90, Update: 0.25, Delete: 3600}, got)
}

func TestChildrenInheritWhatTheyLeaveOpen(t *testing.T) {
	yes, no := true, false
	r := newAdmission(t, stages.Settings{})
	parent := r.declare(t, stages.RegisterRequest{
		Type: "App", Name: "parent", Protect: &yes, RetainOnDelete: &yes, DeletedWith: urnOf(thing, "with"), Providers: map[string]string{"x": mainRef},
	}, "")

	request := stages.RegisterRequest{Type: thing, Name: "child", Custom: true, Parent: parent}
	g, err := (&Completion{Admission: r, Req: &request, PendingReply: stages.NewPendingReply(true)}).Complete(t.Context())
	require.NoError(t, err)
	require.True(t, g.IsProtected() && g.IsRetained())
	require.Equal(t, urnOf(thing, "with"), g.DeletedWith)
	require.Equal(t, mainRef, g.Provider, "by its package")
	require.Nil(t, request.Protect, "the request belongs to the program")

	request.Protect, request.RetainOnDelete, request.DeletedWith = &no, &no, urnOf(thing, "own")
	_, g, err = r.complete(t, request)
	require.NoError(t, err)
	require.False(t, g.IsProtected() || g.IsRetained())
	require.Equal(t, urnOf(thing, "own"), g.DeletedWith)
}

func TestNothingIsInheritedFromAParentThatIsNotAnswered(t *testing.T) {
	yes := true
	r := newAdmission(t, stages.Settings{})
	_, _, err := r.complete(t, stages.RegisterRequest{Type: "App", Name: "parent", Protect: &yes})
	require.NoError(t, err)
	_, g, err := r.complete(t, stages.RegisterRequest{Type: "App", Name: "child", Parent: urnOf("App", "parent")})
	require.NoError(t, err)
	require.False(t, g.IsProtected())
}

func TestTransformsRunFromTheResourceToTheStack(t *testing.T) {
	var order []string
	transform := func(name string) stages.Transform {
		return func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
			order = append(order, name)
			in.Properties = in.Properties.With(name, property.Number(float64(len(order))))
			return in, nil
		}
	}
	r := newAdmission(t, stages.Settings{})
	require.NoError(t, r.Monitor().RegisterStackTransform(t.Context(), transform("stack")))
	far := r.declare(t, stages.RegisterRequest{Type: "App", Name: "far", Transforms: []stages.Transform{transform("far")}}, "")
	near := r.declare(t, stages.RegisterRequest{Type: "App", Name: "near", Parent: far, Transforms: []stages.Transform{transform("near")}}, "")
	order = nil
	_, g, err := r.complete(t, stages.RegisterRequest{
		Type: "App", Name: "child", Parent: near, Transforms: []stages.Transform{transform("first"), transform("second")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second", "near", "far", "stack"}, order)
	require.Equal(t, 5, g.Inputs.Len(), "each gets what the one before returned")
}

func TestPropertiesDependOnWhatTheirValuesCarry(t *testing.T) {
	r := newAdmission(t, stages.Settings{})
	a, b, c := urnOf(thing, "a"), urnOf(thing, "b"), urnOf(thing, "c")
	inputs := property.NewMap(map[string]property.Value{
		"plain":  property.Number(1),
		"output": property.OutputOf(property.Output{Element: property.Number(2), Known: true, Dependencies: []urn.URN{c}}),
	})
	_, g, err := r.complete(t, stages.RegisterRequest{Type: "App", Name: "x", Inputs: inputs, Dependencies: []urn.URN{b, a, b}})
	require.NoError(t, err)
	require.Equal(t, []urn.URN{a, b}, g.Dependencies)
	require.Equal(t, map[string][]urn.URN{"plain": {a, b}, "output": {a, b, c}}, g.PropertyDependencies)
	require.Equal(t, 2.0, g.Inputs.At("output").AsNumber())
}

func TestResourcesDependOnWhatTransformsBringIn(t *testing.T) {
	r := newAdmission(t, stages.Settings{})
	a := urnOf(thing, "a")
	bring := func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
		in.Properties = in.Properties.With("added", property.OutputOf(property.Output{Known: true, Dependencies: []urn.URN{a}}))
		return in, nil
	}
	_, g, err := r.complete(t, stages.RegisterRequest{Type: "App", Name: "x", Transforms: []stages.Transform{bring}})
	require.NoError(t, err)
	require.Equal(t, []urn.URN{a}, g.Dependencies)
	require.Equal(t, map[string][]urn.URN{"added": {a}}, g.PropertyDependencies)
}

func TestOldNodeProgramsMeanTheOppositeByParentsOfAliases(t *testing.T) {
	aliases := []urn.Alias{{Name: "a"}, {Name: "b", NoParent: true}, {Name: "c", Parent: "p"}, {URN: "u"}}
	for _, req := range []*stages.RegisterRequest{{Aliases: aliases}, {Aliases: aliases, IsNodeJS: true, AliasSpecs: true}} {
		require.Equal(t, aliases, nodeAliases(req))
	}
	got := nodeAliases(&stages.RegisterRequest{Aliases: aliases, IsNodeJS: true})
	require.Equal(t, []urn.Alias{{Name: "a", NoParent: true}, {Name: "b"}, {Name: "c", Parent: "p"}, {URN: "u"}}, got)
	require.False(t, aliases[0].NoParent, "the request belongs to the program")
}

func TestDefaultProvidersAreNamedAfterWhatTheyNeed(t *testing.T) {
	for want, spec := range map[string]providers.Spec{
		"default":                           {},
		"default_1_2_3":                     {Version: "1.2.3"},
		"default_1_2_3_beta_1_build-5":      {Version: "1.2.3-beta.1+build-5"},
		"default_https_/example.com/x":      {DownloadURL: "https://example.com/x/"},
		"default_1_0_0_github_/org/.repo_":  {Version: "1.0.0", DownloadURL: "github://org/.repo_/"},
		"default_https_/h_8080/a-b/-c/d_e_": {DownloadURL: "https://h:8080/a-b//-c/d~e?"},
		"default__":                         {DownloadURL: "/"},
	} {
		got, err := DefaultName(spec)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := DefaultName(providers.Spec{Package: "x", Version: "new"})
	require.ErrorAs(t, err, new(*stages.InvalidRequestError))
}

func registry(t *testing.T) *providers.Registry {
	t.Helper()
	return providers.NewRegistry(t.Context(), nil, providers.RegistryOptions{})
}

func TestTheLanguageHostCompletesWhatARequestLeavesOpen(t *testing.T) {
	d := newDefaultProviders(nil, stages.Settings{Registry: registry(t), Packages: []stages.Package{
		{Name: "x", Version: "1.9.0", DownloadURL: "old"}, {Name: "x", Version: "1.10.0", DownloadURL: "new"}, {Name: "x"},
		{Name: "base", Version: "9.0.0", Extension: &stages.Parameterization{Name: "x"}},
	}})
	require.Equal(t, stages.Package{Name: "x", Version: "1.10.0", DownloadURL: "new"}, d.Normalize("x", stages.Package{}))
	require.Equal(t, stages.Package{Name: "x", Version: "1.0.0", DownloadURL: "own"}, d.Normalize("x", stages.Package{Version: "1.0.0", DownloadURL: "own"}))
	require.Equal(t, stages.Package{Name: "y"}, d.Normalize("y", stages.Package{}))
	require.Equal(t, stages.Package{Name: "base"}, d.Normalize("base", stages.Package{}), "an extension says nothing of what it is layered on")
}

func TestTheBuiltInPackageCannotBeDenied(t *testing.T) {
	some, all := newDefaultProviders(nil, stages.Settings{Registry: registry(t), DeniedProviders: []string{"x"}}), newDefaultProviders(nil, stages.Settings{Registry: registry(t), DeniedProviders: []string{"*"}})
	require.True(t, some.IsDenied("x"))
	require.False(t, some.IsDenied("y"))
	require.True(t, all.IsDenied("y"))
	require.False(t, all.IsDenied(stages.BuiltinPackage))
	ref, err := all.reference(t.Context(), "y", stages.Package{})
	require.NoError(t, err)
	require.Equal(t, urn.DeniedRef("y").String(), ref, "nobody is asked to make it")
}

func TestOneDefaultProviderIsMadeForAllWhoNeedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intake := await.NewMailbox[stages.Submitted]()
		d := newDefaultProviders(intake, stages.Settings{Registry: registry(t), PackageConfig: func(string) property.Map { return property.Map{} }})
		refs := make([]string, 3)
		var wg conc.WaitGroup
		for i := range refs {
			wg.Go(func() { refs[i], _ = d.reference(context.Background(), "x", stages.Package{Version: "1.0.0"}) })
		}
		synctest.Wait()
		made, ok := intake.TryTake()
		require.True(t, ok)
		require.Equal(t, "default_1_0_0", made.Internal.Name)
		_, ok = intake.TryTake()
		require.False(t, ok)
		made.Answer(&stages.RegisterReply{URN: urnOf("pulumi:providers:x", "default_1_0_0"), ID: "7"})
		wg.Wait()
		want := urn.ProviderRef{URN: urnOf("pulumi:providers:x", "default_1_0_0"), ID: "7"}.String()
		require.Equal(t, []string{want, want, want}, refs)
	})
}

// A name can be registered once, so a second attempt would only hide the first failure.
func TestADefaultProviderThatFailsIsNotMadeAgain(t *testing.T) {
	intake := await.NewMailbox[stages.Submitted]()
	d := newDefaultProviders(intake, stages.Settings{Registry: registry(t), PackageConfig: func(string) property.Map { return property.Map{} }})
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := d.reference(ended, "x", stages.Package{})
	require.ErrorIs(t, err, context.Canceled)
	made, ok := intake.TryTake()
	require.True(t, ok)
	made.Answer(&stages.RegisterReply{URN: urnOf("pulumi:providers:x", "default"), Result: stages.Fail})
	for range 2 {
		_, err = d.reference(t.Context(), "x", stages.Package{})
		require.EqualError(t, err, `the provider for package "x" could not be made; see its own error`)
	}
	_, ok = intake.TryTake()
	require.False(t, ok)
}

func TestPackagesAreKnownByTheirReference(t *testing.T) {
	p := &packages{}
	first, err := p.register(stages.Package{Name: "x", Version: "1.0.0"})
	require.NoError(t, err)
	again, err := p.register(stages.Package{Name: "x", Version: "1.0.0"})
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := p.register(stages.Package{Name: "x", Version: "2.0.0"})
	require.NoError(t, err)
	require.NotEqual(t, first, other)

	meant, err := p.meant(stages.Package{Name: "spelled out"}, first)
	require.NoError(t, err)
	require.Equal(t, stages.Package{Name: "x", Version: "1.0.0"}, meant)
	meant, err = p.meant(stages.Package{Name: "spelled out"}, "")
	require.NoError(t, err)
	require.Equal(t, "spelled out", meant.Name)
	_, err = p.meant(stages.Package{}, "gone")
	require.EqualError(t, err, "unknown provider package 'gone'")
	path := &stages.Parameterization{Name: "../x"}
	for _, bad := range []stages.Package{
		{}, {Name: "../x"}, {Name: "x", Parameterization: path}, {Name: "x", Extension: path},
	} {
		_, err = p.register(bad)
		require.ErrorAs(t, err, new(*stages.InvalidRequestError))
	}
}

func TestAnExtensionIsKnownByItsContent(t *testing.T) {
	p := &packages{}
	ext := stages.Parameterization{Name: "e", Version: "1.0.0", Value: []byte("v")}
	ref, err := p.register(stages.Package{Name: "base", Extension: &ext})
	require.NoError(t, err)
	require.Equal(t, ext.Ref(), ref)
	other, err := p.register(stages.Package{Name: "another-base", Extension: &ext})
	require.NoError(t, err)
	require.NotEqual(t, ref, other, "one reference means one package")
	meant, err := p.meant(stages.Package{}, ref)
	require.NoError(t, err)
	require.Equal(t, "base", meant.Name)
}

func TestADependencyOnAComponentIsOneOnItsChildren(t *testing.T) {
	r := newAdmission(t, stages.Settings{})
	app := r.declare(t, stages.RegisterRequest{Type: "App", Name: "app"}, "")
	unresolved := func(us ...urn.URN) bool {
		t.Helper()
		found, err := r.Families.unresolved(t.Context(), us)
		require.NoError(t, err)
		return found
	}
	require.False(t, unresolved(app))
	made := r.declare(t, stages.RegisterRequest{Type: thing, Name: "made", Custom: true, Provider: mainRef, Parent: app}, "1")
	require.False(t, unresolved(app, made))
	planned := r.declare(t, stages.RegisterRequest{Type: thing, Name: "planned", Custom: true, Provider: mainRef, Parent: app}, "")
	require.True(t, unresolved(app))
	require.True(t, unresolved(planned))
	require.False(t, unresolved(made, urnOf(thing, "nobody knows")))
}

func TestADependencyOnAComponentWaitsForWhatIsInFlightBeneathIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newAdmission(t, stages.Settings{})
		app, other := r.declare(t, stages.RegisterRequest{Type: "App", Name: "app"}, ""), r.declare(t, stages.RegisterRequest{Type: "App", Name: "other"}, "")
		r.Families.registering(app)
		r.Families.registering(other)
		over := false
		var wg conc.WaitGroup
		wg.Go(func() {
			_, err := r.Families.unresolved(context.Background(), []urn.URN{app})
			require.NoError(t, err)
			over = true
		})
		synctest.Wait()
		require.False(t, over)
		r.Families.registered(app)
		wg.Wait() // and for nothing that is beneath another component
		require.True(t, over)
		r.Families.registered(other)
	})
}

func TestTheProgramEndsWhenItsLastRequestIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newAdmission(t, stages.Settings{})
		var wg conc.WaitGroup
		wg.Go(func() {
			_, _ = r.Monitor().Register(context.Background(), &stages.RegisterRequest{Type: "App", Name: "a"})
		})
		synctest.Wait()
		submitted, ok := r.intake.TryTake()
		require.True(t, ok)
		r.EndOfProgram()
		require.True(t, r.intake.Put(stages.Submitted{}), "a remote component may still register its children")
		submitted.Answer(&stages.RegisterReply{URN: urnOf("App", "a")})
		wg.Wait()
		require.False(t, r.intake.Put(stages.Submitted{}))
		_, err := r.Monitor().Register(context.Background(), &stages.RegisterRequest{})
		require.ErrorIs(t, err, stages.ErrShutDown)
	})
}

func TestEveryRequestIsAnsweredWhenTheRunStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newAdmission(t, stages.Settings{})
		var errs [2]error
		var wg conc.WaitGroup
		wg.Go(func() {
			_, errs[0] = r.Monitor().Register(context.Background(), &stages.RegisterRequest{Type: "App", Name: "a"})
		})
		wg.Go(func() {
			_, errs[1] = r.Monitor().Read(context.Background(), &stages.ReadRequest{Type: thing, Name: "b"})
		})
		synctest.Wait()
		r.control.Halt()
		wg.Wait()
		for _, err := range errs {
			require.Equal(t, stages.ErrShutDown, err)
		}
		_, err := r.Monitor().Register(context.Background(), &stages.RegisterRequest{})
		require.Equal(t, stages.ErrShutDown, err)
	})
}

func TestOnlyOneMayWaitForTheEnd(t *testing.T) {
	r := newAdmission(t, stages.Settings{})
	r.control.ShutDown()
	require.NoError(t, r.Monitor().WaitForShutdown(t.Context()))
	require.EqualError(t, r.Monitor().WaitForShutdown(t.Context()), "Already waiting for shutdown")
}

func TestOutputsAreRegisteredOnceForWhatIsOpen(t *testing.T) {
	r, executor := newAdmissionAndExecutor(t, stages.Settings{})
	app := urnOf("App", "app")
	executor.Reporter.Keep(&stages.Decision{StepInfo: stages.StepInfo{URN: app, Type: urn.RootStackType}, Answers: true}, &state.Resource{URN: app})
	outputs := property.NewMap(map[string]property.Value{"url": property.String("a")})
	require.NoError(t, r.Monitor().RegisterOutputs(t.Context(), app, outputs))
	require.ErrorAs(t, r.Monitor().RegisterOutputs(t.Context(), app, outputs), new(*stages.InvalidRequestError))
	_, kept := r.access.Rooms.Outputs.OfStack()
	require.True(t, property.EqualMaps(outputs, kept), "those of the stack wait for the end of the run")
}
