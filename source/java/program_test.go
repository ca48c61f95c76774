package java_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/java"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/javasdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

// sdk is the reason why the SDK is not available, nil if it is.
var sdk error

// TestMain compiles the program in testdata, which downloads the SDK unless it is there already.
func TestMain(m *testing.M) {
	if tier.IsSlow() {
		sdk = javasdk.Install("testdata/program")
	}
	if sdk != nil && (!errors.Is(sdk, javasdk.ErrMissing) || os.Getenv("CI") != "") {
		fmt.Fprintln(os.Stderr, sdk)
		os.Exit(1)
	}
	for _, v := range javasdk.Variables() {
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value) // fails only for invalid names
	}
	os.Exit(m.Run())
}

func project(t testing.TB, args ...string) source.Project {
	t.Helper()
	tier.Slow(t, "Java")
	if sdk != nil {
		t.Skip(sdk)
	}
	root, err := filepath.Abs(filepath.Join("testdata", "program"))
	require.NoError(t, err)
	return source.Project{Runtime: "java", Root: root, Directory: root, Entry: ".", Args: args}
}

func run(t testing.TB, p source.Project, m *monitortest.Monitor) error {
	t.Helper()
	return java.New(p).Run(context.Background(), monitortest.Host(t, m))
}

func TestAProgramDeclaresItsResources(t *testing.T) {
	m := monitortest.Preview()
	p := project(t, "one", "two words")
	require.NoError(t, run(t, p, m))

	stack := urn.RootStack("dev", "proj")
	declared := map[string]*stages.RegisterRequest{}
	for _, r := range m.Record().Registered {
		declared[r.Name] = r
	}
	require.Len(t, declared, 6)
	require.Equal(t, urn.RootStackType, declared["proj-dev"].Type)
	require.Equal(t, property.String("hello"), declared["first"].Inputs.At("value"))
	second := declared["second"]
	require.Equal(t, property.String("hello!"), second.Inputs.At("value"))
	require.True(t, *second.Protect)
	require.Equal(t, []urn.URN{m.URN("test:index:Thing", "first", stack)}, second.PropertyDependencies["value"])
	require.Equal(t, property.Secret(property.String("hush")), declared["secret"].Inputs.At("value"))
	require.Equal(t, m.URN("test:index:Group", "group", stack), declared["child"].Parent)
	require.Contains(t, m.Record().Outputs, m.URN("test:index:Group", "group", stack))

	outputs := m.StackOutputs(t)
	for name, want := range map[string]string{
		"greeting": "hello!", "where": "organization/proj/dev/true", "folder": p.Directory, "arguments": "one|two words",
	} {
		require.Equal(t, property.String(want), outputs.At(name), name)
	}
	require.Equal(t, []string{"compiling with Maven", "hello from the program\n"}, m.Messages(stages.Info), "and nothing of Maven's own")
	require.Equal(t, []string{"[ERROR] and from its other stream\n"}, m.Messages(stages.InfoErr))
	require.Equal(t, []string{"mind the gap"}, m.Messages(stages.Warning))
	require.Empty(t, m.Messages(stages.Error))
}

func TestAFailingProgramHasSaidWhy(t *testing.T) {
	m := monitortest.Preview()
	require.ErrorIs(t, run(t, project(t, "fail"), m), source.ErrReported)
	require.Contains(t, strings.Join(m.Messages(stages.Error), "\n"), "this program fails")
	require.Equal(t, []string{"compiling with Maven"}, m.Messages(stages.Info), "the build tool does not say it again")
	require.Equal(t, "a line before\na line after\n", strings.Join(m.Messages(stages.InfoErr), ""), "and neither does the SDK")
}

func TestAProgramThatDiesIsReportedWithItsOutput(t *testing.T) {
	for what, want := range map[string]struct{ status, output string }{
		"exit":  {"exit status 7", "last words"},
		"throw": {"exit status 1", "this program throws before it starts"},
	} {
		t.Run(what, func(t *testing.T) {
			m := monitortest.Preview()
			var exit *source.ProgramExitError
			require.ErrorAs(t, run(t, project(t, what), m), &exit)
			require.Equal(t, want.status, exit.Status)
			shown := strings.Join(append(m.Messages(stages.Info), m.Messages(stages.InfoErr)...), "")
			require.Contains(t, shown, want.output)
			require.NotContains(t, shown, "Failed to execute goal")
			require.NotContains(t, shown, "[Help 1]")
		})
	}
}

// copied returns a copy of the program with further files: their text by path.
func copied(t testing.TB, files map[string]string) source.Project {
	t.Helper()
	p := project(t)
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "src"), os.DirFS(filepath.Join(p.Root, "src"))))
	pom, err := os.ReadFile(filepath.Join(p.Root, "pom.xml"))
	require.NoError(t, err)
	write(t, root, map[string]string{"pom.xml": string(pom)})
	write(t, root, files)
	p.Root, p.Directory = root, root
	return p
}

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for file, text := range files {
		path := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
}

func TestAProgramThatDoesNotCompileShowsTheCompilersLines(t *testing.T) {
	m := monitortest.Preview()
	err := run(t, copied(t, map[string]string{"src/main/java/program/Broken.java": "package program;\nclass Broken { Missing x; }\n"}), m)
	var broken *java.CompileError
	require.ErrorAs(t, err, &broken)
	require.Equal(t, "src/main/java/program/Broken.java:2:16: cannot find symbol\n  symbol:   class Missing\n  location: class program.Broken",
		broken.Output)
	require.Equal(t, []string{"compiling with Maven"}, m.Messages(stages.Info))
	require.Empty(t, m.Messages(stages.InfoErr))
}

func TestABuildThatCannotBeStartedSaysWhy(t *testing.T) {
	pom, err := os.ReadFile("testdata/program/pom.xml")
	require.NoError(t, err)
	for name, c := range map[string]struct{ old, new, want string }{
		"malformed":  {"</project>", "</projec>", "Non-parseable POM"},
		"no class":   {"<mainClass>${mainClass}</mainClass>", "", "does not say which class is the program"},
		"too new":    {"11</maven.compiler.source>", "99</maven.compiler.source>", "let JAVA_HOME name the folder of a newer JDK"},
		"dependency": {"<version>1.36.1</version>", "<version>[0.0.1-none]</version>", "com.pulumi:pulumi"},
	} {
		t.Run(name, func(t *testing.T) {
			m := monitortest.Preview()
			err := run(t, copied(t, map[string]string{"pom.xml": strings.Replace(string(pom), c.old, c.new, 1)}), m)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "[ERROR]")
			require.NotContains(t, err.Error(), "Help 1")
			require.NotContains(t, err.Error(), "To see the full stack trace")
			require.Equal(t, []string{"compiling with Maven"}, m.Messages(stages.Info))
		})
	}
}

func TestTheEndOfTheContextEndsTheProgram(t *testing.T) {
	p := project(t, "wait")
	ctx, cancel := context.WithCancel(context.Background())
	host := monitortest.Host(t, monitortest.Preview())
	host.Monitor = &onOutput{monitortest.Preview(), cancel}
	require.ErrorIs(t, java.New(p).Run(ctx, host), context.Canceled)
}

// onOutput calls a function when the program begins.
type onOutput struct {
	*monitortest.Monitor
	f func()
}

func (o *onOutput) Log(_ context.Context, l stages.LogMessage) {
	if l.Message == "begins\n" {
		o.f()
	}
}

func TestPackagesAreThoseWhoseSDKsAreOnTheClassPath(t *testing.T) {
	list, err := java.New(project(t)).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list, "the SDK itself is no package")

	p := copied(t, map[string]string{ // SDKs that were generated into the program
		"src/main/resources/com/pulumi/random/plugin.json": `{"resource": true, "name": "random", "version": "4.1.0"}`,
		"src/main/resources/com/pulumi/random/version.txt": "4.1.0",
		"src/main/resources/com/acme/cloud/plugin.json": `{"resource": true, "name": "acme", "version": "v2.0.0", "server": "https://example.com",
			"parameterization": {"name": "sub", "version": "3.0.0", "value": "aGk="}}`,
		"src/main/resources/com/acme/tool/plugin.json": `{"resource": false, "name": "tool"}`,
		"src/main/resources/com/acme/old/version.txt":  "1.0.0",
	})
	list, err = java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{
		{Name: "acme", Version: "2.0.0", DownloadURL: "https://example.com", Parameterization: &stages.Parameterization{Name: "sub", Version: "3.0.0", Value: []byte("hi")}},
		{Name: "random", Version: "4.1.0"},
	}, list)
}

func TestAJarIsRunAsItIs(t *testing.T) {
	p := project(t)
	require.NoError(t, java.Runtime{}.Install(context.Background(), p, nil))
	root := t.TempDir()
	folder := filepath.Join(root, "content")
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(p.Root, "target", "classes"))))
	write(t, folder, map[string]string{"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\nMain-Class: program.App\n"})
	archive(t, filepath.Join(root, "app.jar"), folder)
	p.Root, p.Directory, p.Options, p.Args = root, root, map[string]any{"binary": "app.jar"}, []string{"exit"}
	m := monitortest.Preview()
	var exit *source.ProgramExitError
	require.ErrorAs(t, run(t, p, m), &exit)
	require.Equal(t, 7, exit.Code)
	require.Equal(t, []string{"last words\n"}, m.Messages(stages.Info))

	list, err := java.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, list, "a jar without the SDK names none")
	tools, err := java.Runtime{}.About(context.Background(), p)
	require.NoError(t, err)
	require.Len(t, tools, 1)
}

func TestAboutNamesTheJDKAndTheBuildTool(t *testing.T) {
	tools, err := java.Runtime{}.About(context.Background(), project(t))
	require.NoError(t, err)
	require.Len(t, tools, 2)
	require.Equal(t, "java", tools[0].Name)
	require.Regexp(t, `^\d+`, tools[0].Version)
	require.Equal(t, "mvn", tools[1].Name)
	require.Regexp(t, `^\d+(\.\d+)+$`, tools[1].Version)
}
