package policy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// bench is a folder with a pack, and with plugins on its own PATH.
type bench struct {
	t       *testing.T
	pack    string
	tools   string
	journal string
	engine  string

	mu   sync.Mutex // guards said
	said []stages.LogMessage
}

// newBench links this binary as the named plugins. how defines their behaviour.
func newBench(t *testing.T, how string, plugins ...string) *bench {
	b := &bench{t: t, pack: t.TempDir(), tools: t.TempDir(), engine: "127.0.0.1:1"}
	b.journal = filepath.Join(b.tools, "journal")
	t.Setenv(behaviour, how)
	t.Setenv(journal, b.journal)
	self, err := os.Executable()
	require.NoError(t, err)
	for _, p := range plugins {
		require.NoError(t, os.Symlink(self, filepath.Join(b.tools, p)))
	}
	b.write("PulumiPolicy.yaml", "runtime:\n  name: fake\n  options:\n    strict: true\n    list: [1]\n")
	return b
}

const (
	shim         = "pulumi-analyzer-policy-fake"
	languageHost = "pulumi-language-fake"
)

func (b *bench) write(name, text string) string {
	path := filepath.Join(b.pack, name)
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (b *bench) open(config string) (*Pack, error) {
	return Open(b.pack, config, Options{Engine: monitortest.At(b.engine), Finder: plugin.Finder{LookupEnv: func(name string) (string, bool) {
		return b.tools, name == "PATH"
	}}})
}

// tryLoad opens and loads the pack.
func (b *bench) tryLoad(config string) (*Analyzer, error) {
	p, err := b.open(config)
	require.NoError(b.t, err)
	a, err := p.Load(b.t.Context(), theRun, b.log)
	if a == nil {
		return nil, err
	}
	b.t.Cleanup(func() { _ = a.Close() })
	return a.(*Analyzer), err
}

func (b *bench) load(config string) *Analyzer {
	b.t.Helper()
	a, err := b.tryLoad(config)
	require.NoError(b.t, err)
	return a
}

// theRun is the run for which packs are loaded.
var theRun = stages.RunInfo{
	Organization: "org", Project: "shop", Stack: "dev", DryRun: true, Config: map[string]string{"shop:size": "3", "shop:pw": "x"},
	ConfigSecretKeys: []string{"shop:pw"},
}

func (b *bench) log(l stages.LogMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, l)
}

func (b *bench) messages() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out strings.Builder
	for _, l := range b.said {
		out.WriteString(l.Severity.String() + " " + l.Message)
	}
	return out.String()
}

// asked returns the methods that were called, in order, and reads the last request to one of them.
func (b *bench) asked(method string, into proto.Message) (all []string) {
	b.t.Helper()
	text, err := os.ReadFile(b.journal)
	require.NoError(b.t, err)
	for line := range strings.Lines(string(text)) {
		name, request, _ := strings.Cut(line, "\t")
		all = append(all, name)
		if name == method {
			proto.Reset(into)
			require.NoError(b.t, protojson.Unmarshal([]byte(request), into))
		}
	}
	return all
}

func TestAPackIsIntroducedToTheStackInOrder(t *testing.T) {
	for _, way := range []string{shim, languageHost} {
		t.Run(way, func(t *testing.T) {
			b := newBench(t, "", way)
			a := b.load("")
			var hello pulumirpc.AnalyzerHandshakeRequest
			calls := b.asked("Handshake", &hello)
			if way == languageHost {
				calls = calls[1:] // RunPlugin
			}
			require.Equal(t, []string{"Handshake", "ConfigureStack", "GetAnalyzerInfo", "Configure"}, calls)
			require.Equal(t, "127.0.0.1:1", hello.GetEngineAddress())
			require.Equal(t, b.pack, hello.GetRootDirectory())
			require.Equal(t, b.pack, hello.GetProgramDirectory())
			var stack pulumirpc.AnalyzerStackConfigureRequest
			b.asked("ConfigureStack", &stack)
			require.Equal(t, []any{"org", "shop", "dev", true}, []any{stack.GetOrganization(), stack.GetProject(), stack.GetStack(), stack.GetDryRun()})
			require.Equal(t, map[string]string{"shop:size": "3", "shop:pw": "x"}, stack.GetConfig())
			require.Equal(t, []string{"shop:pw"}, stack.GetConfigSecretKeys())
			require.Equal(t, stages.AnalyzerInfo{Name: "fake", Version: "1.0.0", Directory: b.pack, Policies: []stages.PolicyInfo{
				{Name: "first", Type: stages.ResourcePolicy, Severity: "low"},
				{Name: "second", Level: stages.Mandatory, Type: stages.StackPolicy},
			}}, a.Info())
			soon(t, func() bool { return strings.Contains(b.messages(), "info#err the pack begins") })
			_, err := a.Analyze(t.Context(), stages.Analysis{})
			require.NoError(t, err)
			soon(t, func() bool { return strings.Contains(b.messages(), "info judging") })
			require.NoError(t, a.Close())
			require.NoError(t, a.Close(), "twice does no harm")
			require.Error(t, a.served.Exited(), "nothing is left behind")
			require.Contains(t, b.asked("", nil), "Cancel")
		})
	}
}

func TestALanguagePluginIsToldWhatToRun(t *testing.T) {
	b := newBench(t, "", languageHost, shim)
	b.load("")
	var run pulumirpc.RunPluginRequest
	b.asked("RunPlugin", &run)
	require.Equal(t, "analyzer", run.GetKind())
	require.Equal(t, []string{"127.0.0.1:1"}, run.GetArgs())
	require.Equal(t, b.pack, run.GetInfo().GetProgramDirectory())
	require.Equal(t, b.pack, run.GetInfo().GetRootDirectory())
	require.Equal(t, true, run.GetInfo().GetOptions().AsMap()["strict"])
	require.Contains(t, run.GetEnv(), "PULUMI_STACK=dev")
}

func TestALanguagePluginThatRunsOnlyProgramsLeavesItToTheShim(t *testing.T) {
	b := newBench(t, "only programs", languageHost, shim)
	require.Equal(t, "fake", b.load("").Info().Name)
}

func TestAShimGetsOptionsAndEnvironment(t *testing.T) {
	b := newBench(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(b.tools, shim), []byte("#!/bin/sh\necho \"args: $*\" >&2\npwd >&2\nenv | grep PULUMI >&2\nexit 3\n"), 0o755))
	_, err := b.tryLoad("")
	for _, want := range []string{
		"args: 127.0.0.1:1 . -strict=true\n", b.pack, "PULUMI_ORGANIZATION=org", "PULUMI_PROJECT=shop", "PULUMI_STACK=dev",
		"PULUMI_DRY_RUN=true", `PULUMI_CONFIG={"shop:pw":"x","shop:size":"3"}`, "exit status 3",
	} {
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, b.messages(), "what the pack wrote is in the error, and only there")
}

func TestPacksThatDoNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		how, way string
		want     []string
	}{
		"no plugin":           {"", "", []string{`its runtime is "fake"`, "pulumi-language-fake or pulumi-analyzer-policy-fake"}},
		"dies":                {"dies at once", shim, []string{"exit status 4 before it wrote its port", "the pack begins"}},
		"dies, hosted":        {"dies at once", languageHost, []string{"exit status 4 before it wrote its port", "the pack begins"}},
		"no port":             {"no port", shim, []string{`"hello"`, "first line must be the TCP port"}},
		"no port, hosted":     {"no port", languageHost, []string{`"hello"`, "first line must be the TCP port"}},
		"dies when asked":     {"dies when asked", shim, []string{"ended unexpectedly (exit status 5)"}},
		"dies asked, hosted":  {"dies when asked", languageHost, []string{"ended unexpectedly (exit status 5)"}},
		"config it does not ": {"no config", shim, []string{`policy pack "fake" at "`, "does not support config"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.how, strings.Fields(c.way)...)
			_, err := b.tryLoad(b.write("config.json", `{"first": "advisory"}`))
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.ErrorContains(t, err, b.pack[1:], "the folder is named")
		})
	}
}

func TestALanguagePluginIsInstalledForAPack(t *testing.T) {
	b := newBench(t, "")
	var wanted []plugin.Wanted
	home := t.TempDir()
	finder := plugin.Finder{Home: home, LookupEnv: func(name string) (string, bool) { return b.tools, name == "PATH" }}
	acquire := func(_ context.Context, w plugin.Wanted) error {
		wanted = append(wanted, w)
		self, err := os.Executable()
		directory := filepath.Join(home, "plugins", "language-fake-v1.0.0")
		return errors.Join(err, os.MkdirAll(directory, 0o755), os.Symlink(self, filepath.Join(directory, languageHost)))
	}
	p, err := Open(b.pack, "", Options{Engine: monitortest.At(b.engine), Finder: finder, Acquire: acquire})
	require.NoError(t, err)
	for range 2 {
		a, err := p.Load(t.Context(), theRun, b.log)
		require.NoError(t, err)
		require.NoError(t, a.Close())
	}
	require.Equal(t, []plugin.Wanted{{Kind: plugin.Language, Name: "fake"}}, wanted)

	// A shim is enough, and the log has the reason why there is no plugin.
	p, err = Open(b.pack, "", Options{Engine: monitortest.At(b.engine), Finder: plugin.Finder{LookupEnv: finder.LookupEnv, Home: t.TempDir()}, Acquire: func(context.Context, plugin.Wanted) error {
		return errors.New("the network is down")
	}})
	require.NoError(t, err)
	_, err = p.Load(t.Context(), theRun, b.log)
	require.ErrorContains(t, err, "pulumi-language-fake or pulumi-analyzer-policy-fake, and neither was found")
	require.ErrorContains(t, err, "the network is down")
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(b.tools, shim)))
	a, err := p.Load(t.Context(), theRun, b.log)
	require.NoError(t, err)
	require.NoError(t, a.Close())
}

func TestANodePackNeedsItsPackages(t *testing.T) {
	b := newBench(t, "")
	b.write("PulumiPolicy.yaml", "runtime: nodejs\n")
	require.NoError(t, os.WriteFile(filepath.Join(b.tools, "node"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	_, err := b.tryLoad("")
	require.ErrorContains(t, err, "it looks like the policy pack's dependencies are not installed")
	require.ErrorContains(t, err, "npm install")
}

func TestLoadingCanBeGivenUp(t *testing.T) {
	b := newBench(t, "")
	require.NoError(t, os.WriteFile(filepath.Join(b.tools, shim), []byte("#!/bin/sh\nexec sleep 10000\n"), 0o755))
	p, err := b.open("")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = p.Load(ctx, theRun, b.log)
	require.Error(t, err)
}

func TestOldPacksAreAskedOnlyWhatTheyKnow(t *testing.T) {
	b := newBench(t, "old,no config", shim)
	b.write("PulumiPolicy.yaml", "runtime: fake\nversion: 9.9.9\n")
	a := b.load("")
	require.Equal(t, "9.9.9", a.Info().Version, "that of the file counts")
	remedies, err := a.Remediate(t.Context(), stages.Analysis{})
	require.NoError(t, err)
	require.Empty(t, remedies)
	found, err := a.AnalyzeStack(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, a.Cancel(t.Context()))
}

func TestAPackThatAnnouncesStackPoliciesHasToJudgeStacks(t *testing.T) {
	b := newBench(t, "no stack method", shim)
	_, err := b.load("").AnalyzeStack(t.Context(), nil)
	require.Error(t, err)
	found, err := b.load(b.write("config.json", `{"second": "disabled"}`)).AnalyzeStack(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestSecretsThatAPolicyCopiesStaySecret(t *testing.T) {
	b := newBench(t, "copies", shim)
	got, err := b.load("").Remediate(t.Context(), stages.Analysis{Properties: property.NewMap(map[string]property.Value{
		"password": property.MakeSecret(property.String("hunter2hunter2")),
		"known":    property.String("it was hunter2hunter2 before"),
	})})
	require.NoError(t, err)
	after := *got.Remediations[0].Properties
	require.True(t, after.At("copy").IsSecret())
	inside := after.At("inside").AsArray()
	require.True(t, inside.At(0).AsMap().At("url").IsSecret())
	require.False(t, inside.At(1).HasSecrets())
	require.False(t, after.At("known").HasSecrets(), "what was there before stays as it was")
	require.False(t, after.At("tag").HasSecrets())
}

func TestConfigurationReachesThePack(t *testing.T) {
	b := newBench(t, "", shim)
	a := b.load(b.write("config.json", `{"all": "disabled", "first": {"most": 7, "enforcementLevel": "mandatory"}, "absent": "advisory", "environments": ["e"]}`))
	var got pulumirpc.ConfigureAnalyzerRequest
	b.asked("Configure", &got)
	require.Len(t, got.GetPolicyConfig(), 2)
	require.Equal(t, pulumirpc.EnforcementLevel_MANDATORY, got.GetPolicyConfig()["first"].GetEnforcementLevel())
	require.Equal(t, map[string]any{"most": 7.0}, got.GetPolicyConfig()["first"].GetProperties().AsMap())
	require.Equal(t, pulumirpc.EnforcementLevel_DISABLED, got.GetPolicyConfig()["second"].GetEnforcementLevel())
	require.Equal(t, stages.Disabled, a.Info().Policies[1].Level)
	require.Contains(t, b.messages(), `warning the configuration of policy pack fake is about a policy "absent", which the pack does not have`)
}

func TestConfigurationThatDoesNotFit(t *testing.T) {
	b := newBench(t, "", shim)
	for most, problem := range map[string]string{"0.5": "got number, want integer", "0": "minimum: got 0, want 1", `"x"`: "got string, want integer"} {
		_, err := b.tryLoad(b.write("config.json", `{"first": {"most": `+most+`}}`))
		var config *ConfigError
		require.ErrorAs(t, err, &config)
		require.Equal(t, []string{"validating policy config: fake 1.0.0  first: most: " + problem}, config.Messages())
	}
}

func TestFilesThatAreNoPacks(t *testing.T) {
	b := newBench(t, "")
	for name, c := range map[string]struct{ manifest, config, want string }{
		"no runtime":      {"main: x", "", "names no runtime"},
		"a path":          {"runtime: ../../x", "", `"../../x" cannot be the name of a runtime`},
		"not YAML":        {"runtime: [", "", "PulumiPolicy.yaml: yaml:"},
		"odd runtime":     {"runtime: [a]", "", "PulumiPolicy.yaml"},
		"not JSON":        {"runtime: fake", "{", "must be a JSON object"},
		"a list":          {"runtime: fake", "[]", "must be a JSON object"},
		"an odd level":    {"runtime: fake", `{"p": "strict"}`, `policy "p": "strict" is not an enforcement level`},
		"a level of odds": {"runtime: fake", `{"p": {"enforcementLevel": 1}}`, `policy "p": 1 is not an enforcement level`},
		"a number":        {"runtime: fake", `{"p": 1}`, `policy "p": 1 is neither`},
	} {
		b.write("PulumiPolicy.yaml", c.manifest)
		_, err := b.open(b.write("config.json", c.config))
		require.ErrorContains(t, err, c.want, name)
	}
	require.NoError(t, os.Remove(filepath.Join(b.pack, "PulumiPolicy.yaml")))
	_, err := b.open("")
	require.ErrorContains(t, err, "there is no policy pack in "+b.pack)
	b.write("PulumiPolicy.yaml", "runtime: fake")
	_, err = b.open(filepath.Join(b.pack, "absent.json"))
	require.ErrorContains(t, err, "absent.json")
	_, err = b.open(b.write("empty.json", " \n"))
	require.NoError(t, err)
}

func TestLayersOfConfiguration(t *testing.T) {
	level := func(l stages.EnforcementLevel) *stages.EnforcementLevel { return &l }
	policies := []described{{
		PolicyInfo: stages.PolicyInfo{Name: "p", Level: stages.Advisory},
		properties: map[string]any{"a": map[string]any{"default": "schema"}, "b": map[string]any{"default": "schema"}, "c": map[string]any{"default": "schema"}, "d": map[string]any{}},
	}, {PolicyInfo: stages.PolicyInfo{Name: "q", Level: stages.Mandatory}}}
	got := reconcile(policies, map[string]setting{
		"all": {Level: level(stages.Remediate)},
		"p":   {Properties: map[string]any{"b": "pack", "c": "pack"}},
	}, map[string]setting{
		"p": {Level: level(stages.Disabled), Properties: map[string]any{"c": "user"}},
	})
	require.Equal(t, map[string]any{"a": "schema", "b": "pack", "c": "user"}, got["p"].Properties)
	require.Equal(t, stages.Disabled, *got["p"].Level)
	require.Equal(t, stages.Remediate, *got["q"].Level)
}

func analysis() stages.Analysis {
	first := false
	return stages.Analysis{
		URN: "urn:pulumi:dev::shop::pkg:m:T::a", Type: "pkg:m:T", Name: "a",
		Properties: property.NewMap(map[string]property.Value{
			"password": property.Secret(property.String("hunter2")), "id": property.Computed(),
			"ref": property.Of(property.Reference{URN: "urn:pulumi:dev::shop::pkg:m:T::b", ID: property.String("b-1")}),
		}),
		Options: stages.AnalysisOptions{
			Protect: true, IgnoreChanges: []string{"x"}, DeleteBeforeReplace: &first, AdditionalSecretOutputs: []string{"y"},
			Aliases: []urn.URN{"urn:old"}, CustomTimeouts: state.Timeouts{Create: 1, Update: 2, Delete: 3, Read: 4}, Parent: "urn:parent",
		},
		Provider: &stages.ProviderState{URN: "urn:prov", Type: "pulumi:providers:pkg", Name: "prov", Properties: property.NewMap(map[string]property.Value{
			"region": property.String("eu")})},
	}
}

const analyzed = `{
	"urn": "urn:pulumi:dev::shop::pkg:m:T::a", "type": "pkg:m:T", "name": "a",
	"properties": {"password": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"},
		"id": "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "ref": "b-1"},
	"options": {"protect": true, "ignoreChanges": ["x"], "deleteBeforeReplaceDefined": true, "additionalSecretOutputs": ["y"],
		"aliases": ["urn:old"], "customTimeouts": {"create": 1, "update": 2, "delete": 3, "read": 4}, "parent": "urn:parent"},
	"provider": {"urn": "urn:prov", "type": "pulumi:providers:pkg", "name": "prov", "properties": {"region": "eu"}}`

func requireMessage(t *testing.T, want string, got proto.Message) {
	t.Helper()
	text, err := protojson.Marshal(got)
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(want)), want)
	require.JSONEq(t, want, string(text))
}

func TestQuestionsAndAnswersOnTheWire(t *testing.T) {
	b := newBench(t, "", shim)
	a := b.load("")
	found, err := a.Analyze(t.Context(), analysis())
	require.NoError(t, err)
	var req pulumirpc.AnalyzeRequest
	b.asked("Analyze", &req)
	requireMessage(t, analyzed+"}", &req)
	require.Equal(t, stages.Findings{
		Violations: []stages.Violation{
			{Policy: "first", Message: "bad", Level: stages.Remediate, Severity: "critical", URN: "urn:pulumi:dev::shop::pkg:m:T::a"},
			{Policy: "new", Level: stages.Mandatory},
		},
		NotApplicable: []string{"other"},
	}, found)

	remedies, err := a.Remediate(t.Context(), analysis())
	require.NoError(t, err)
	b.asked("Remediate", &req)
	requireMessage(t, analyzed+"}", &req)
	require.Len(t, remedies.Remediations, 3)
	after := *remedies.Remediations[0].Properties
	require.Equal(t, property.Secret(property.String("in the clear")), after.At("password"), "what was secret stays secret")
	require.True(t, after.At("id").IsUnknown())
	require.Equal(t, analysis().Properties.At("ref"), after.At("ref"))
	require.Equal(t, "by policy", after.At("tag").AsString())
	require.Equal(t, stages.Remediation{Policy: "second", Diagnostic: "cannot"}, remedies.Remediations[1])
	require.Equal(t, stages.Remediation{Policy: "third"}, remedies.Remediations[2])
	require.Equal(t, []string{"fourth"}, remedies.NotApplicable)

	found, err = a.AnalyzeStack(t.Context(), []stages.StackResource{{
		Analysis: analysis(), Dependencies: []urn.URN{"urn:d"}, PropertyDependencies: map[string][]urn.URN{"ref": {"urn:d"}, "none": nil},
	}})
	require.NoError(t, err)
	require.Equal(t, []stages.Violation{{Policy: "second", Message: "too many"}}, found.Violations)
	var whole pulumirpc.AnalyzeStackRequest
	b.asked("AnalyzeStack", &whole)
	requireMessage(t, `{"resources": [`+analyzed+`, "parent": "urn:parent", "dependencies": ["urn:d"],
		"propertyDependencies": {"ref": {"urns": ["urn:d"]}}}]}`, &whole)
}

func TestAPackThatDiesIsLost(t *testing.T) {
	for _, way := range []string{shim, languageHost} {
		t.Run(way, func(t *testing.T) {
			a := newBench(t, "dies", way).load("")
			_, err := a.Analyze(t.Context(), stages.Analysis{})
			var lost *stages.AnalyzerLostError
			require.ErrorAs(t, err, &lost)
			require.Equal(t, "fake", lost.Analyzer)
			require.ErrorContains(t, err, "policy pack fake 1.0.0 ended unexpectedly (exit status 6)")
			require.ErrorContains(t, err, "last words")
			_, err = a.AnalyzeStack(t.Context(), nil)
			require.ErrorAs(t, err, &lost)
		})
	}
}

// dying is a process whose end becomes known some time after its connection broke.
type dying struct {
	plugin.Server
	after time.Duration
}

func (d dying) AwaitExit(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(d.after):
		return &plugin.ExitError{Plugin: "fake", Status: "exit status 3"}
	}
}

func TestTheEndOfAPackIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		want  string
	}{
		"on a busy machine": {3 * time.Second, "exit status 3"},
		"of one that lives": {time.Hour, "does not answer any more"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &Analyzer{served: dying{after: c.after}}
				err := a.failed(t.Context(), "judge", status.Error(codes.Unavailable, "gone"))
				require.ErrorAs(t, err, new(*stages.AnalyzerLostError))
				require.ErrorContains(t, err, c.want)
			})
		})
	}
}

func TestErrorsOfAPackAreItsOwn(t *testing.T) {
	a := newBench(t, "refuses", shim).load("")
	_, err := a.Analyze(t.Context(), stages.Analysis{})
	require.EqualError(t, err, "the policy threw")
}

func TestAQuestionCanBeGivenUp(t *testing.T) {
	a := newBench(t, "hangs", shim).load("")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer time.AfterFunc(100*time.Millisecond, func() { cancel(stages.ErrShutDown) }).Stop()
	_, err := a.Analyze(ctx, stages.Analysis{})
	require.ErrorIs(t, err, stages.ErrShutDown)
}

func TestRestore(t *testing.T) {
	text, secret := property.String, func(s string) property.Value { return property.Secret(property.String(s)) }
	object := func(v property.Value) property.Value {
		return property.Of(property.NewMap(map[string]property.Value{"in": v}))
	}
	ref := property.Of(property.Reference{URN: "urn:pulumi:dev::p::a:b:C::r", ID: text("r-1")})
	hashed := func(v property.Value) property.Value {
		m, err := property.HashAssets(t.Context(), property.NewMap(map[string]property.Value{"v": v}), "")
		require.NoError(t, err)
		return m.At("v")
	}
	asset := hashed(property.TextAsset("t"))
	for name, c := range map[string]struct{ before, after, want property.Value }{
		"changed":              {text("a"), text("b"), text("b")},
		"secret kept":          {secret("a"), secret("a"), secret("a")},
		"secret lost":          {secret("a"), text("a"), secret("a")},
		"secret changed":       {secret("a"), text("b"), secret("b")},
		"made secret":          {text("a"), secret("a"), secret("a")},
		"inside an object":     {object(secret("a")), object(text("a")), object(secret("a"))},
		"inside a list":        {property.ArrayOf(secret("a")), property.ArrayOf(text("a"), text("b")), property.ArrayOf(secret("a"), text("b"))},
		"secret object":        {property.Secret(object(text("a"))), object(text("b")), property.Secret(object(text("b")))},
		"reference":            {ref, text("r-1"), ref},
		"reference replaced":   {ref, text("other"), text("other")},
		"secret reference":     {property.Secret(ref), text("r-1"), property.Secret(ref)},
		"asset without hash":   {asset, property.TextAsset("t"), asset},
		"asset replaced":       {asset, property.TextAsset("u"), property.TextAsset("u")},
		"object became a text": {object(text("a")), text("b"), text("b")},
		"unknown":              {property.Computed(), property.Computed(), property.Computed()},
	} {
		t.Run(name, func(t *testing.T) {
			wrap := func(v property.Value) property.Map {
				return property.NewMap(map[string]property.Value{"v": v, "new": text("n")})
			}
			got := restore(wrap(c.before), wrap(c.after))
			require.True(t, property.IdenticalMaps(wrap(c.want), got), "%v", got)
		})
	}
}

// A pack may be an executable. It needs no manifest, and its manifest gives its version.
func TestAPackMayBeAnExecutable(t *testing.T) {
	b := newBench(t, "")
	self, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	executable := filepath.Join(folder, "checks")
	require.NoError(t, os.Symlink(self, executable))
	load := func() *Analyzer {
		p, err := Open(executable, "", Options{Engine: monitortest.At(b.engine)})
		require.NoError(t, err)
		a, err := p.Load(t.Context(), theRun, b.log)
		require.NoError(t, err)
		t.Cleanup(func() { _ = a.Close() })
		return a.(*Analyzer)
	}
	require.NotEmpty(t, load().Info().Name)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "PulumiPolicy.yaml"), []byte("runtime: go\nversion: 9.8.7\n"), 0o644))
	require.Equal(t, "9.8.7", load().Info().Version)

	_, err = Open(folder+"/nothing", "", Options{})
	require.ErrorContains(t, err, "name the folder or the executable")
}
