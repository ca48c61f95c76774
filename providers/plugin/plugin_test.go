package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/testing/executable"
	"github.com/sluice-iac/sluice/urn"
)

// binaries is a directory with the test plugin.
var binaries string

func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-test.fuzzworker") {
		os.Exit(m.Run()) // its targets start no plugin
	}
	os.Exit(func() int {
		directory, err := os.MkdirTemp("", "plugins")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(directory) }()
		if err := executable.Build(context.Background(), filepath.Join(directory, "pulumi-resource-simple"), "../internal/pulumi-resource-simple"); err != nil {
			panic(err)
		}
		binaries = directory
		code := m.Run()
		if left := leftovers(); code == 0 && left != "" {
			fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
			code = 1
		}
		return code
	}())
}

// leftovers waits for goroutines of this repository and of gRPC's clients to end, and returns those that do not.
func leftovers() string {
	var left string
	for range 15_000 { // five minutes: only a goroutine that does not end takes that long
		left = ""
		stacks := make([]byte, 4<<20)
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if !strings.Contains(stack, "plugin_test.leftovers") &&
				(strings.Contains(stack, "sluice/providers/") || strings.Contains(stack, "internal/transport.new")) {
				left += stack + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

const thing urn.Type = "simple:index:Thing"

var web = urn.New("dev", "p", "", thing, "web")

func object(pairs ...any) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			m[pairs[i].(string)] = property.String(v)
		case int:
			m[pairs[i].(string)] = property.Number(float64(v))
		case property.Value:
			m[pairs[i].(string)] = v
		}
	}
	return property.NewMap(m)
}

// setup is the configuration of a test's plugin.
type setup struct {
	env    map[string]string // of the plugin and the engine
	config property.Map
	output func(plugin.Line)
}

// hanging counts the calls of a plugin that hang.
type hanging struct{ heard chan struct{} }

func newHanging() hanging { return hanging{make(chan struct{}, 100)} }

// output is the output of the plugin.
func (h hanging) output(l plugin.Line) {
	if strings.HasSuffix(l.Text, " hangs") {
		h.heard <- struct{}{}
	}
}

// wait waits until that many more calls hang.
func (h hanging) wait(calls int) {
	for range calls {
		<-h.heard
	}
}

// at returns a function that returns an address.
func at(address string) func() (string, error) {
	return func() (string, error) { return address, nil }
}

func newHost(s setup) *plugin.Host { return plugin.NewHost(options(s)) }

// options returns the options of a host that finds the test plugins on the PATH.
func options(s setup) plugin.Options {
	environment := map[string]string{"PATH": binaries}
	for k, v := range s.env {
		environment[k] = v
	}
	return plugin.Options{
		EngineAddress: at("127.0.0.1:1"), Output: s.output,
		LookupEnv: func(name string) (string, bool) { v, ok := environment[name]; return v, ok },
		Environ: func() []string {
			var all []string
			for k, v := range environment {
				all = append(all, k+"="+v)
			}
			return all
		},
	}
}

func load(t *testing.T, s setup) providers.Provider {
	t.Helper()
	p, err := newHost(s).Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func configured(t *testing.T, s setup) providers.Provider {
	t.Helper()
	p := load(t, s)
	require.NoError(t, p.Configure(t.Context(), providers.ConfigureRequest{
		URN: urn.New("dev", "p", "", "pulumi:providers:simple", "main"), Inputs: s.config,
	}))
	return p
}

func create(ctx context.Context, p providers.Provider, name string, inputs property.Map) (providers.CreateResponse, error) {
	u := urn.New("dev", "p", "", thing, name)
	return p.Create(ctx, providers.CreateRequest{URN: u, Name: name, Type: thing, Properties: inputs})
}

func requireSame(t *testing.T, want, got property.Map) {
	t.Helper()
	require.True(t, property.IdenticalMaps(want, got), "want %v\ngot  %v", want, got)
}

func TestPluginManagesAResource(t *testing.T) {
	ctx := t.Context()
	config := object("directory", t.TempDir())
	p := configured(t, setup{config: config})
	in := object("a", "1", "password", property.Secret(property.String("s")), "n", property.Null,
		"list", property.ArrayOf(property.Number(1), property.Bool(true)), "asset", property.TextAsset("hello"))

	check, err := p.Check(ctx, providers.CheckRequest{URN: web, Name: "web", Type: thing, News: in, AllowUnknowns: true})
	require.NoError(t, err)
	requireSame(t, in, check.Inputs)

	preview, err := p.Create(ctx, providers.CreateRequest{URN: web, Type: thing, Preview: true,
		Properties: in.With("late", property.Computed())})
	require.NoError(t, err)
	require.Empty(t, preview.ID)
	require.True(t, preview.Properties.At("arn").IsUnknown())
	require.True(t, preview.Properties.At("late").IsUnknown())

	made, err := create(ctx, p, "web", in)
	require.NoError(t, err)
	require.Equal(t, providertest.ID(web, 1), made.ID)
	requireSame(t, in, made.Properties.Without("arn"))

	// Another process finds the resource in the directory.
	q := configured(t, setup{config: config})
	read, err := q.Read(ctx, providers.ReadRequest{URN: web, Type: thing, ID: made.ID, Known: true, Inputs: in, State: made.Properties})
	require.NoError(t, err)
	require.False(t, read.Absent)
	require.True(t, read.HasInputs)
	requireSame(t, in, read.Inputs)
	imported, err := q.Read(ctx, providers.ReadRequest{URN: web, Type: thing, ID: made.ID})
	require.NoError(t, err)
	requireSame(t, in, imported.Inputs)

	now := in.With("a", property.String("2")).With("immutableZone", property.String("x"))
	diff, err := q.Diff(ctx, providers.DiffRequest{
		URN: web, Type: thing, ID: made.ID, OldInputs: in, OldOutputs: made.Properties, NewInputs: now,
	})
	require.NoError(t, err)
	require.Equal(t, providers.DiffSome, diff.Changes)
	require.Equal(t, []string{"immutableZone"}, diff.ReplaceKeys)
	require.Equal(t, map[string]providers.PropertyDiff{
		"a": {Kind: providers.DiffUpdate, InputDiff: true}, "immutableZone": {Kind: providers.DiffAddReplace, InputDiff: true},
	}, diff.DetailedDiff, "an asset that is sent elided does not count as a change")

	now = in.With("a", property.String("2"))
	updated, err := q.Update(ctx, providers.UpdateRequest{
		URN: web, Type: thing, ID: made.ID, OldInputs: in, OldOutputs: made.Properties, NewInputs: now,
	})
	require.NoError(t, err)
	requireSame(t, now, updated.Properties.Without("arn"))
	require.NoError(t, p.Delete(ctx, providers.DeleteRequest{URN: web, Type: thing, ID: made.ID, Outputs: made.Properties}))
	gone, err := q.Read(ctx, providers.ReadRequest{URN: web, Type: thing, ID: made.ID})
	require.NoError(t, err)
	require.Equal(t, providers.ReadResponse{Absent: true}, gone)

	again, err := create(ctx, q, "web", in)
	require.NoError(t, err)
	require.Equal(t, providertest.ID(web, 2), again.ID)
}

func TestFunctionsAndMethodsAreCalled(t *testing.T) {
	p := configured(t, setup{})
	args := object("x", property.Secret(property.String("1")), "dropped", property.Computed())
	invoke, err := p.Invoke(t.Context(), providers.InvokeRequest{Token: "simple:index:echo", Args: args})
	require.NoError(t, err)
	requireSame(t, args.Without("dropped"), invoke.Return)
	invoke, err = p.Invoke(t.Context(), providers.InvokeRequest{Token: "simple:index:lookup"})
	require.NoError(t, err)
	require.Equal(t, []providers.CheckFailure{{Property: "id", Reason: "must be a string"}}, invoke.Failures)

	output := property.OutputOf(property.Output{Known: true, Element: property.String("v"), Dependencies: []urn.URN{web}})
	self := property.Of(property.Reference{URN: web, ID: property.String("id")})
	call, err := p.Call(t.Context(), providers.CallRequest{
		Token: "simple:index:Thing/describe", Args: object("__self__", self, "y", output),
	})
	require.NoError(t, err)
	requireSame(t, object("y", output, "urn", string(web)), call.Return)
	require.Equal(t, map[string][]urn.URN{"urn": {web}}, call.ReturnDependencies)

	schema, err := p.Schema(t.Context(), providers.SchemaRequest{})
	require.NoError(t, err)
	require.Contains(t, schema, `"simple"`)
}

func TestProviderWithoutSecretsGetsPlainValuesAndAnswersAreAnnotated(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"told by handshake": {"SIMPLE_FEATURES": "secrets,references"},
		"told by configure": {"SIMPLE_FEATURES": "secrets,references", "SIMPLE_LEGACY": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			p := configured(t, setup{env: env, config: object("directory", directory)})
			in := object("password", property.Secret(property.String("hidden")), "open", "x",
				"ref", property.Of(property.Reference{URN: web, ID: property.String("web-id")}))
			made, err := create(t.Context(), p, "web", in)
			require.NoError(t, err)
			requireSame(t, in.With("ref", property.String("web-id")), made.Properties.Without("arn"))
			table, err := providertest.OpenDirectory(directory)
			require.NoError(t, err)
			stored, _, err := table.Read(made.ID)
			require.NoError(t, err)
			require.False(t, stored.Inputs.HasSecrets())

			invoke, err := p.Invoke(t.Context(), providers.InvokeRequest{Token: "simple:index:echo", Args: in})
			require.NoError(t, err)
			require.True(t, invoke.Return.At("open").IsSecret())
		})
	}
}

func TestPreviewOfAProviderWithoutPreviewsEchoesInputs(t *testing.T) {
	in := object("a", "1")
	for name, env := range map[string]map[string]string{
		"unsupported":  {"SIMPLE_LEGACY": "1", "SIMPLE_FEATURES": "preview"},
		"switched off": {"PULUMI_DISABLE_PROVIDER_PREVIEW": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			p := configured(t, setup{env: env})
			made, err := p.Create(t.Context(), providers.CreateRequest{URN: web, Properties: in, Preview: true})
			require.NoError(t, err)
			requireSame(t, in, made.Properties)
			updated, err := p.Update(t.Context(), providers.UpdateRequest{URN: web, NewInputs: in, Preview: true})
			require.NoError(t, err)
			requireSame(t, in, updated.Properties)
		})
	}
}

func TestConfigurationKeepsItsSecrets(t *testing.T) {
	p := load(t, setup{})
	news := object("token", property.Secret(property.String("s")), "later", property.Computed())
	answer, err := p.CheckConfig(t.Context(), providers.CheckRequest{News: news, AllowUnknowns: true})
	require.NoError(t, err)
	requireSame(t, news, answer.Inputs)
	diff, err := p.DiffConfig(t.Context(), providers.DiffRequest{OldInputs: news, NewInputs: object("immutableA", "1"), AllowUnknowns: true})
	require.NoError(t, err)
	require.True(t, diff.Replaces())
}

func TestMissingConfigurationIsListed(t *testing.T) {
	p := load(t, setup{})
	err := p.Configure(t.Context(), providers.ConfigureRequest{Inputs: object("missingKeys", "true")})
	var missing *providers.ConfigMissingError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []providers.MissingKey{{Name: "simple:token", Description: "the token of the cloud"}}, missing.Keys)
}

func TestErrorsSayWhatIsKnown(t *testing.T) {
	uncertain := func(lost bool) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			var u *providers.UncertainError
			require.ErrorAs(t, err, &u)
			require.Equal(t, lost, u.Lost)
		}
	}
	cases := map[string]struct {
		config property.Map
		in     property.Map
		check  func(*testing.T, error)
		says   []string
	}{
		"refused": {
			config: object("failOn", "create web"), says: []string{"the cloud refused to create web"},
			check: func(t *testing.T, err error) {
				require.False(t, errors.As(err, new(*providers.UncertainError)))
			},
		},
		"lost": {config: object("uncertainOn", "create"), says: []string{"the cloud lost the connection"}, check: uncertain(false)},
		"died before": {
			config: object("crashOn", "create web"), check: uncertain(true),
			says: []string{"pulumi-resource-simple", "exit status 2", "panic: the provider crashes in create web", string(web)},
		},
		"died after": {config: object("crashAfter", "create web"), check: uncertain(true), says: []string{"exit status 2"}},
		"no ID": {
			config: object("malformed", "empty-id"), check: uncertain(true), says: []string{"an empty ID", "simple", string(web)},
		},
		"unknown ID": {
			config: object("malformed", "unknown-id"), check: uncertain(true),
			says: []string{"create of " + string(web) + ": provider simple 1.0.0 [", "/pulumi-resource-simple] answered with the marker of an unknown value as the ID", "a bug in the provider"},
		},
		"not healthy, without an ID": {
			config: object("malformed", "partial"), check: uncertain(true),
			says: []string{"provider simple 1.0.0 [", "/pulumi-resource-simple] answered with an empty ID for an object that is not healthy (the cloud gave up waiting)"},
		},
		"not healthy, with an unknown ID": {
			config: object("malformed", "partial-unknown-id"), check: uncertain(true),
			says: []string{"the marker of an unknown value as the ID for an object that is not healthy (the cloud gave up waiting)"},
		},
		"cannot be encoded": {
			config: object("malformed", "not-text"), check: uncertain(true),
			says: []string{"create of " + string(web) + ": provider simple 1.0.0 [", "/pulumi-resource-simple] could not encode its answer: ", "invalid UTF-8", "a bug in the provider"},
		},
		"nested too deeply": {
			config: object("malformed", "too-deep"), check: uncertain(true),
			says: []string{"create of " + string(web) + ": provider simple 1.0.0 [", "/pulumi-resource-simple] returned properties that cannot be read: ", `"strange[0][0]`, "nested deeper than", "a bug in the provider"},
		},
		"strange signature": {
			config: object("malformed", "bad-signature"), check: uncertain(true), says: []string{`"strange"`, "simple", string(web)},
		},
		"unknown outside a preview": {
			config: object("malformed", "unknown"), check: uncertain(true), says: []string{`"strange"`, "simple", string(web)},
		},
		"unhealthy": {
			in: object("unhealthy", property.Bool(true), "p", property.Secret(property.String("s"))),
			check: func(t *testing.T, err error) {
				var unhealthy *providers.InitError
				require.ErrorAs(t, err, &unhealthy)
				require.Equal(t, providertest.ID(web, 1), unhealthy.ID)
				require.Equal(t, []string{"web is unhealthy"}, unhealthy.Reasons)
				require.True(t, unhealthy.Properties.At("p").IsSecret())
				require.True(t, unhealthy.HasInputs)
			},
		},
		"unknown input outside a preview": {
			in: object("deep", property.ArrayOf(property.Computed())), says: []string{`"deep[0]"`, string(web)},
			check: func(t *testing.T, err error) { require.Error(t, err) },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := configured(t, setup{config: c.config})
			_, err := create(t.Context(), p, "web", c.in)
			c.check(t, err)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

func TestUnsupportedMethodIsRecognized(t *testing.T) {
	p := load(t, setup{})
	_, err := p.Construct(t.Context(), providers.ConstructRequest{Type: "simple:index:Group", Deployment: providers.Deployment{MonitorAddress: at("127.0.0.1:1")}})
	require.Error(t, err, "nobody answers at the monitor's address")
	require.NotErrorIs(t, err, providers.ErrUnsupported)
}

func TestDeathOfAPluginEndsAllItsCalls(t *testing.T) {
	calls := newHanging()
	p := configured(t, setup{config: object("hangOn", "read", "crashOn", "delete"), output: calls.output})
	var wg conc.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := p.Read(t.Context(), providers.ReadRequest{URN: web, ID: "x"})
			var u *providers.UncertainError
			require.ErrorAs(t, err, &u)
			require.True(t, u.Lost)
		})
	}
	calls.wait(8) // a call that has not reached the plugin is not lost
	require.ErrorContains(t, p.Delete(t.Context(), providers.DeleteRequest{URN: web, ID: "x"}), "exit status 2")
	wg.Wait()
	_, err := create(t.Context(), p, "late", object())
	require.ErrorContains(t, err, "exit status 2", "later calls say why, too")
	require.False(t, errors.As(err, new(*providers.UncertainError)), "nobody was asked")
	require.NoError(t, p.Cancel(t.Context()))
}

func TestCancelEndsACallThatHangs(t *testing.T) {
	calls := newHanging()
	p := configured(t, setup{config: object("hangOn", "read"), output: calls.output})
	var wg conc.WaitGroup
	wg.Go(func() {
		_, err := p.Read(t.Context(), providers.ReadRequest{URN: web, ID: "x"})
		require.ErrorContains(t, err, "the cloud refused")
	})
	calls.wait(1)
	require.NoError(t, p.Cancel(t.Context()))
	wg.Wait()
}

func TestEndOfTheContextIsTheErrorOfTheCall(t *testing.T) {
	calls := newHanging()
	p := configured(t, setup{config: object("hangOn", "read"), output: calls.output})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg conc.WaitGroup
	defer wg.Wait()
	wg.Go(func() { calls.wait(1); cancel(enough) })
	_, err := p.Read(ctx, providers.ReadRequest{URN: web, ID: "x"})
	require.ErrorIs(t, err, enough)
	require.ErrorAs(t, err, new(*providers.UncertainError))
}

func TestStubbornPluginIsKilled(t *testing.T) {
	p, err := newHost(setup{env: map[string]string{"SIMPLE_STUBBORN": "1"}}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Cancel(ctx), context.DeadlineExceeded)
	require.NoError(t, p.Close())
	_, err = create(t.Context(), p, "web", object())
	require.Error(t, err)
}

func TestPluginThatDoesNotStartIsQuoted(t *testing.T) {
	cases := map[string]struct {
		env  map[string]string
		says []string
	}{
		"not a port":     {map[string]string{"SIMPLE_PORT_LINE": "hello"}, []string{"wrote an invalid port to stdout", `"hello"`, "pulumi-resource-simple"}},
		"port too large": {map[string]string{"SIMPLE_PORT_LINE": "65536"}, []string{"wrote an invalid port to stdout"}},
		"ends at once":   {map[string]string{"SIMPLE_EXIT": "no license"}, []string{"ended with exit status 3 before it wrote its port", "no license"}},
		"nobody at port": {map[string]string{"SIMPLE_PORT_LINE": "1"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if c.says == nil {
				short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
				ctx = short
			}
			_, err := newHost(setup{env: c.env}).Load(ctx, providers.Spec{Package: "simple"})
			require.Error(t, err)
			for _, text := range c.says {
				require.ErrorContains(t, err, text)
			}
		})
	}
}

func TestMissingPluginSaysHowToInstallIt(t *testing.T) {
	_, err := newHost(setup{}).Load(t.Context(), providers.Spec{Package: "other", Version: "1.2.3", DownloadURL: "https://example.com"})
	var missing *plugin.MissingError
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "no resource plugin 'pulumi-resource-other' found in the workspace at version v1.2.3 or on your $PATH")
	require.Equal(t, []advice.Advice{{Action: advice.InstallPlugin, Plugin: advice.Plugin{
		Kind: "resource", Name: "other", Version: "1.2.3", Server: "https://example.com",
	}}}, advice.Of(err))
}

func TestAttachedPluginIsNotStopped(t *testing.T) {
	process, err := plugin.Start(plugin.Command{Name: "simple", Executable: filepath.Join(binaries, "pulumi-resource-simple")})
	require.NoError(t, err)
	defer process.Stop()
	port, err := process.Port(t.Context())
	require.NoError(t, err)
	env := map[string]string{"PULUMI_DEBUG_PROVIDERS": fmt.Sprintf("aws:1, simple:%d", port), "PATH": ""}
	for range 2 {
		p, err := newHost(setup{env: env}).Load(t.Context(), providers.Spec{Package: "simple"})
		require.NoError(t, err)
		_, err = create(t.Context(), p, "web", object())
		require.NoError(t, err)
		require.NoError(t, p.Close())
	}
	require.NoError(t, process.Exited())
	_, err = newHost(setup{env: map[string]string{"PULUMI_DEBUG_PROVIDERS": "simple:x"}}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.ErrorContains(t, err, "PULUMI_DEBUG_PROVIDERS")
}

func TestParameterizedPluginServesAnotherPackage(t *testing.T) {
	p, err := newHost(setup{}).Load(t.Context(), providers.Spec{
		Package: "other", Version: "2.0.0", Parameterization: &providers.Parameterization{Plugin: "simple", Value: []byte("x")},
	})
	require.NoError(t, err)
	require.Equal(t, "other", p.Package())
	require.NoError(t, p.Close())
}

func TestPluginGetsItsEnvironmentAndOutputIsForwarded(t *testing.T) {
	var mu sync.Mutex
	var lines []plugin.Line
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host := newHost(setup{
		env: map[string]string{"SOURCE": "12\nfirst\n\nsecond"},
		output: func(l plugin.Line) {
			mu.Lock()
			defer mu.Unlock()
			if lines = append(lines, l); l.Text == "second" {
				cancel()
			}
		},
	})
	// The mapping makes the plugin write a port of its own choice, at which nobody answers.
	_, err := host.Load(ctx, providers.Spec{Package: "simple", Environment: map[string]string{"SOURCE": "SIMPLE_PORT_LINE", "UNSET": "SIMPLE_EXIT"}})
	require.Error(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, lines, 2)
	require.Equal(t, "first", lines[0].Text)
	require.Equal(t, "second", lines[1].Text)
	require.NotZero(t, lines[0].Stream)
	require.False(t, lines[0].Stderr)
}

func TestLargeValuesTravel(t *testing.T) {
	p := configured(t, setup{config: object("hugeBytes", 8<<20)})
	made, err := create(t.Context(), p, "web", object("big", strings.Repeat("y", 6<<20)))
	require.NoError(t, err)
	require.Len(t, made.Properties.At("huge").AsString(), 8<<20)
	require.Len(t, made.Properties.At("big").AsString(), 6<<20)
}
