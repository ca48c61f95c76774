package golang_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/golang"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// built is the test program, built once for all tests by TestMain.
var built string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-golang-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built = filepath.Join(dir, "program")
	return m.Run()
}

// project returns the test program with its only argument. The first test builds it, the others reuse the executable.
func project(t testing.TB, what string) source.Project {
	t.Helper()
	p := folder(t, "program")
	p.Args = []string{what}
	p.Options = map[string]any{"buildTarget": built}
	if _, err := os.Stat(built); err == nil {
		p.Options = map[string]any{"binary": built}
	}
	return p
}

func folder(t testing.TB, name string) source.Project {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return source.Project{Runtime: "go", Root: dir, Directory: dir, Entry: "."}
}

func run(t testing.TB, p source.Project, m *monitortest.Monitor) error {
	t.Helper()
	prog := golang.New(p)
	defer func() { require.NoError(t, prog.Close()) }()
	return prog.Run(context.Background(), monitortest.Host(t, m))
}

func TestAGoProgramDeclaresItsResources(t *testing.T) {
	m := monitortest.Preview()
	require.NoError(t, run(t, project(t, ""), m))
	stack := urn.RootStack("dev", "proj")
	declared := map[string]*stages.RegisterRequest{}
	for _, r := range m.Record().Registered {
		declared[r.Name] = r
		require.False(t, r.IsNodeJS)
	}
	require.Len(t, declared, 4)
	first := declared["first"]
	require.Equal(t, urn.Type("test:index:Thing"), first.Type)
	require.Equal(t, stack, first.Parent)
	require.Equal(t, property.String("hello"), first.Inputs.At("value"))
	second := declared["second"]
	require.True(t, *second.Protect)
	require.Equal(t, []urn.URN{m.URN("test:index:Thing", "first", stack)}, second.PropertyDependencies["value"])
	require.Equal(t, property.Secret(property.String("hush")), declared["secret"].Inputs.At("value").DowngradeOutputs())

	outputs := m.StackOutputs(t)
	require.Equal(t, property.String("hello"), outputs.At("greeting"))
	require.Equal(t, property.String("organization/proj/dev/true"), outputs.At("where"))
	require.Equal(t, 1, m.Record().Waits)
	require.Contains(t, m.Messages(stages.Info), "hello from the program\n")
	require.Equal(t, []string{"mind the gap"}, m.Messages(stages.Warning))
	require.FileExists(t, built, "buildTarget says where the program is built, and it stays there")
}

func TestAThousandResourcesAreDeclared(t *testing.T) {
	m := monitortest.Preview()
	require.NoError(t, run(t, project(t, "many"), m))
	require.Len(t, m.Record().Registered, 1001)
}

func TestAFailingProgramHasSaidWhy(t *testing.T) {
	m := monitortest.Preview()
	require.ErrorIs(t, run(t, project(t, "fail"), m), source.ErrReported)
	require.Contains(t, strings.Join(m.Messages(stages.Error), "\n"), "this program fails")
}

func TestAProgramThatDiesIsReportedWithItsLastOutput(t *testing.T) {
	for what, want := range map[string]struct{ status, output string }{
		"exit":  {"exit status 7", "last words"},
		"panic": {"exit status 2", "this program panics"},
	} {
		t.Run(what, func(t *testing.T) {
			m := monitortest.Preview()
			p := project(t, what)
			var exit *source.ProgramExitError
			require.ErrorAs(t, run(t, p, m), &exit)
			require.Equal(t, want.status, exit.Status)
			require.Contains(t, exit.Output, want.output)
			require.Contains(t, exit.Error(), p.Directory)
		})
	}
}

func TestAProgramThatDoesNotCompileShowsTheCompilersText(t *testing.T) {
	var broken *golang.BuildError
	require.ErrorAs(t, run(t, folder(t, "broken"), monitortest.Preview()), &broken)
	require.Contains(t, broken.Output, "main.go:3:15: undefined: undefinedFunction")
	require.Contains(t, broken.Error(), "does not build")
}

func TestALibraryIsNoProgram(t *testing.T) {
	p := folder(t, "program")
	p.Directory = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module library\n", "library.go": "package library\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(p.Directory, name), []byte(text), 0o600))
	}
	for range 2 { // the second run finds the executable of the first
		require.ErrorContains(t, run(t, p, monitortest.Preview()), "does your program have a 'main' package?")
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Run("binary", func(t *testing.T) {
		p := folder(t, "program")
		p.Options = map[string]any{"binary": "no-such-file"}
		require.ErrorContains(t, run(t, p, monitortest.Preview()), filepath.Join(p.Directory, "no-such-file"))
	})
	t.Run("go", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		require.ErrorContains(t, run(t, folder(t, "program"), monitortest.Preview()), "go was not found on your $PATH")
	})
	t.Run("program", func(t *testing.T) {
		p := folder(t, "program")
		p.Entry = "other.go"
		var broken *golang.BuildError
		require.ErrorAs(t, run(t, p, monitortest.Preview()), &broken)
		require.Contains(t, broken.Output, "other.go")
	})
}

func TestTheEndOfTheContextStopsTheBuild(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := golang.New(folder(t, "program")).Run(ctx, monitortest.Host(t, monitortest.Preview()))
	require.ErrorIs(t, err, context.Canceled)
}

func TestTheEndOfTheRunStopsTheBuild(t *testing.T) {
	over, end := context.WithCancel(context.Background())
	end()
	host := monitortest.Host(t, monitortest.Preview())
	host.Over = over
	err := golang.New(folder(t, "program")).Run(context.Background(), host)
	require.True(t, errors.Is(err, stages.ErrShutDown) || errors.Is(err, context.Canceled), "before or while it builds: %v", err)
}

func TestPackagesComeFromImportedModules(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"go.mod": "module example.com/app\n\ngo 1.24\n\nrequire (\n\texample.com/made v1.2.3\n\tgithub.com/pulumi/pulumi-known/sdk/v4 v4.5.6\n" +
			"\texample.com/tool v1.0.0\n\texample.com/unused v0.9.9\n)\n\n" +
			"replace example.com/made v1.2.3 => ./made\n\nreplace github.com/pulumi/pulumi-known/sdk/v4 v4.5.6 => ./known\n\n" +
			"replace example.com/tool v1.0.0 => ./tool\n\nreplace example.com/unused v0.9.9 => ./unused\n",
		"main.go": "package main\n\nimport (\n\t_ \"example.com/made/go/made/sub\"\n\t_ \"example.com/tool\"\n" +
			"\t_ \"github.com/pulumi/pulumi-known/sdk/v4/go/known\"\n)\n\nfunc main() {}\n",
		"made/go.mod":             "module example.com/made\n",
		"made/go/made/sub/sub.go": "package sub\n",
		"made/go/made/pulumi-plugin.json": `{"resource": true, "name": "terraform-provider", "version": "v0.1.0", "server": "https://x",
			"parameterization": {"name": "made", "version": "1.2.3", "value": "aGVsbG8="}}`,
		"known/go.mod":              "module github.com/pulumi/pulumi-known/sdk/v4\n",
		"known/go/known/known.go":   "package known\n",
		"tool/go.mod":               "module example.com/tool\n",
		"tool/tool.go":              "package tool\n",
		"tool/pulumi-plugin.json":   `{"resource": false, "name": "tool"}`,
		"unused/go.mod":             "module example.com/unused\n",
		"unused/pulumi-plugin.json": `{"resource": true, "name": "unused"}`,
	} {
		path := filepath.Join(root, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	list, err := golang.New(source.Project{Runtime: "go", Directory: root, Entry: "."}).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{
		{Name: "known", Version: "4.5.6"},
		{
			Name: "terraform-provider", Version: "0.1.0", DownloadURL: "https://x",
			Parameterization: &stages.Parameterization{Name: "made", Version: "1.2.3", Value: []byte("hello")},
		},
	}, list)
}

func TestABuiltProgramNamesNoPackages(t *testing.T) {
	list, err := golang.New(source.Project{Options: map[string]any{"binary": "x"}}).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestWhatIsUpToDateIsNotBuiltAgain(t *testing.T) {
	p := folder(t, "program")
	p.Options = map[string]any{"buildTarget": filepath.Join(t.TempDir(), "program")}
	const compiling = "compiling the program with Go"
	m := monitortest.Preview()
	require.NoError(t, run(t, p, m))
	require.Contains(t, m.Messages(stages.Info), compiling)
	before, err := os.Stat(p.Option("buildTarget"))
	require.NoError(t, err)

	m = monitortest.Preview()
	require.NoError(t, run(t, p, m))
	require.NotContains(t, m.Messages(stages.Info), compiling)
	after, err := os.Stat(p.Option("buildTarget"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after)) // linking makes another file
}

func TestAPreparedBuildIsThatOfTheNextRun(t *testing.T) {
	p := folder(t, "program")
	p.Directory = t.TempDir()
	p.Root = p.Directory
	p.Options = map[string]any{"buildTarget": filepath.Join(t.TempDir(), "program")}
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(p.Directory, "main.go"), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.Directory, "go.mod"), []byte("module program\n"), 0o600))
	write("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"the first\") }\n")
	prog := golang.New(p)
	said := func(stages.LogMessage) { t.Error("only the run says something") }
	require.NoError(t, prog.Prepare(t.Context(), said))
	m := monitortest.Preview()
	require.NoError(t, prog.Run(t.Context(), monitortest.Host(t, m)))
	require.Contains(t, m.Messages(stages.Info), "compiling the program with Go")
	require.Contains(t, m.Messages(stages.Info), "the first\n")

	require.NoError(t, prog.Prepare(t.Context(), said)) // and the operation is refused
	write("package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"the second\") }\n")
	require.NoError(t, prog.Prepare(t.Context(), said))
	m = monitortest.Preview()
	require.NoError(t, prog.Run(t.Context(), monitortest.Host(t, m)))
	require.Contains(t, m.Messages(stages.Info), "the second\n")

	write("package main\n\nfunc main() { undefinedFunction() }\n")
	require.NoError(t, prog.Prepare(t.Context(), said))
	var broken *golang.BuildError
	require.ErrorAs(t, prog.Run(t.Context(), monitortest.Host(t, monitortest.Preview())), &broken)
	require.Contains(t, broken.Output, "undefined: undefinedFunction")

	require.NoError(t, prog.Prepare(t.Context(), said))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, prog.Run(ctx, monitortest.Host(t, monitortest.Preview())), context.Canceled)
	require.NoError(t, prog.Prepare(t.Context(), said))
	require.NoError(t, prog.Close(), "it ends the build")
}
