package yaml_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/yaml"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "rewrite what the programs of the corpus are expected to do")

// session is one program of the corpus: its files, how to run it, and the expected result in the file "want".
type session struct {
	archive *txtar.Archive
	path    string
	run     struct {
		Config  map[string]string
		Secrets []string
		Preview bool
		Entry   string
		Options map[string]any
		Env     map[string]string
		// Results answers registrations by name: "fail", "skip" or "unknown".
		Results map[string]string
		// Make lists the components to construct if the session is a plugin. If it is empty, the test requests the
		// schema.
		Make []struct {
			Type   urn.Type
			Name   string
			Inputs map[string]any
		}
	}
	want string
}

func openSession(t testing.TB, path string) *session {
	t.Helper()
	a, err := txtar.ParseFile(path)
	require.NoError(t, err)
	s := &session{archive: a, path: path}
	for _, f := range a.Files {
		switch f.Name {
		case "want":
			s.want = string(f.Data)
		case "run.json":
			require.NoError(t, json.Unmarshal(f.Data, &s.run))
		}
	}
	return s
}

// outcome runs the program against a monitor that answers from memory, and describes all of its requests.
func (s *session) outcome(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	schemas := sharedSchemas(t)
	for _, f := range s.archive.Files {
		if pkg, ok := strings.CutPrefix(f.Name, "schema/"); ok {
			schemas[strings.TrimSuffix(pkg, ".json")] = string(f.Data)
			continue
		}
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o644))
	}
	project := source.Project{Runtime: "yaml", Root: dir, Directory: dir, Entry: s.run.Entry, Options: s.run.Options}
	p := yaml.New(project, yaml.Options{
		Providers: hostOf(t, schemas),
		LookupEnv: func(name string) (string, bool) { v, ok := s.run.Env[name]; return v, ok },
	})
	var b strings.Builder
	packages, err := p.Packages(t.Context())
	if err == nil {
		for _, pkg := range packages {
			fmt.Fprintf(&b, "package %s\n", describePackage(pkg))
		}
	}
	m := s.monitor()
	if err := p.Run(t.Context(), source.Host{Monitor: m}); err != nil {
		if errors.Is(err, source.ErrReported) {
			err = source.ErrReported
		}
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	b.WriteString(describeRecord(m.Record()))
	return strings.ReplaceAll(b.String(), dir, "$DIR")
}

// sharedSchemas returns the schemas that many programs use, by package.
func sharedSchemas(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join("testdata", "schemas", "*.json"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = string(text)
	}
	return out
}

// hostOf returns a host that serves the schemas of the session; other packages have none.
func hostOf(t *testing.T, schemas map[string]string) providers.Host {
	return providers.HostFunc(func(_ context.Context, spec providers.Spec) (providers.Provider, error) {
		if strings.HasPrefix(spec.Package, "missing") {
			return nil, errors.New("the plugin pulumi-resource-" + spec.Package + " was not found")
		}
		fake := providertest.NewFake(spec.Package)
		if text, ok := schemas[spec.Package]; ok {
			fake.OnSchema = func(context.Context, providers.SchemaRequest) (string, error) { return text, nil }
		}
		fake.OnParameterize = func(_ context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
			if text, ok := schemas[req.Name]; ok {
				fake.OnSchema = func(context.Context, providers.SchemaRequest) (string, error) { return text, nil }
			}
			return providers.ParameterizeResponse{Name: req.Name, Version: req.Version}, nil
		}
		return fake, nil
	})
}

// monitor returns a monitor that answers registrations with their inputs, components with none, and invokes with the replies of
// invokeReply.
func (s *session) monitor() *monitortest.Monitor {
	m := &monitortest.Monitor{Run: stages.RunInfo{
		Organization: "org", Project: "proj", Stack: "dev", Config: s.run.Config, ConfigSecretKeys: s.run.Secrets, DryRun: s.run.Preview,
	}}
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		reply := m.Accept(req)
		switch s.run.Results[req.Name] {
		case "fail":
			reply.Result = stages.Fail
		case "skip":
			reply.Result = stages.Skip
		case "unknown":
			reply.Unknown = true
		}
		if req.Remote {
			child := m.URN("pkg:index:Child", "child", reply.URN)
			reply.Outputs = property.NewMap(map[string]property.Value{
				"child":    property.Of(property.Reference{URN: child, ID: property.String("c")}),
				"endpoint": property.String("https://x"),
			})
			reply.PropertyDependencies = map[string][]urn.URN{"endpoint": {child}}
		}
		if s.run.Preview && req.Custom {
			reply.ID = ""
		}
		return reply, nil
	}
	m.OnRead = func(_ context.Context, req *stages.ReadRequest) (*stages.RegisterReply, error) {
		outputs := req.Properties
		if req.Type == "pulumi:pulumi:StackReference" {
			outputs = outputs.With("outputs", property.Of(property.NewMap(map[string]property.Value{
				"plain": property.String("p"), "hidden": property.Secret(property.String("s")),
			})))
		}
		return &stages.RegisterReply{URN: m.URN(req.Type, req.Name, req.Parent), ID: req.ID.AsString(), Outputs: outputs}, nil
	}
	m.OnInvoke = invokeReply
	return m
}

// invokeReply returns the replies of the functions of the corpus, by the last part of their token.
func invokeReply(_ context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
	one := func(name string, v property.Value) (*stages.InvokeReply, error) {
		return &stages.InvokeReply{Return: property.NewMap(map[string]property.Value{name: v})}, nil
	}
	switch _, name, _ := strings.Cut(req.Token, ":"); {
	case strings.HasSuffix(name, "secretive"):
		return one("value", property.Secret(property.String("hush")))
	case strings.HasSuffix(name, "scalar"):
		return one("result", property.Number(7))
	case strings.HasSuffix(name, "refuse"):
		return &stages.InvokeReply{Failures: []stages.CheckFailure{{Property: "size", Reason: "is too large"}}}, nil
	case strings.HasSuffix(name, "broken"):
		return nil, errors.New("the network is down")
	case strings.HasSuffix(name, "getResource"):
		return &stages.InvokeReply{Return: property.NewMap(map[string]property.Value{
			"urn": req.Args.At("urn"), "id": property.String("c"),
			"state": property.Of(property.NewMap(map[string]property.Value{"color": property.String("red")})),
		})}, nil
	}
	return &stages.InvokeReply{Return: req.Args}, nil
}

func TestProgramsRegisterWhatIsExpected(t *testing.T) {
	for _, dir := range []string{"corpus", "mistakes"} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		require.NoError(t, err)
		for _, path := range paths {
			t.Run(dir+"/"+strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
				s := openSession(t, path)
				got := ""
				if s.isPlugin() {
					got = s.makeComponents(t)
				} else {
					got = s.outcome(t)
				}
				if *update && got != s.want {
					s.rewrite(t, got)
					return
				}
				require.Equal(t, s.want, got)
			})
		}
	}
}

// isPlugin reports whether the session is a plugin with components rather than a program.
func (s *session) isPlugin() bool {
	return slices.ContainsFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == "PulumiPlugin.yaml" })
}

func (s *session) rewrite(t *testing.T, got string) {
	t.Helper()
	files := slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	s.archive.Files = append(files, txtar.File{Name: "want", Data: []byte(got)})
	require.NoError(t, os.WriteFile(s.path, txtar.Format(s.archive), 0o644))
}

func TestTheCorpusIsAsLargeAsPromised(t *testing.T) {
	for dir, least := range map[string]int{"corpus": 60, "mistakes": 30} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(paths), least, dir)
	}
}

func describePackage(p stages.Package) string {
	s := strings.TrimSpace(strings.Join([]string{p.Name, p.Version, p.DownloadURL}, " "))
	for what, q := range map[string]*stages.Parameterization{" parameterized ": p.Parameterization, " extended ": p.Extension} {
		if q != nil {
			s += what + q.Name + " " + q.Version + " " + string(q.Value)
		}
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
