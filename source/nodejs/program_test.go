package nodejs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

// TestMain installs the SDK that the programs in testdata need, unless it is there already.
func TestMain(m *testing.M) {
	if tier.IsSlow() {
		_ = os.Setenv("PULUMI_NODEJS_TRANSPILE_ONLY", "true") // TypeScript would check the SDK's types for each program; it never fails
		if err := nodesdk.Install("testdata/program"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func project(t testing.TB, name string) source.Project {
	t.Helper()
	tier.Slow(t, "Node.js")
	root, err := filepath.Abs(filepath.Join("testdata", "program", name))
	require.NoError(t, err)
	return source.Project{Runtime: "nodejs", Root: root, Directory: root, Entry: "."}
}

func run(t testing.TB, p source.Project, m *monitortest.Monitor) error {
	t.Helper()
	return nodejs.New(p).Run(context.Background(), monitortest.Host(t, m))
}

func TestATypeScriptProgramDeclaresItsResources(t *testing.T) {
	m := monitortest.Preview()
	require.NoError(t, run(t, project(t, "typescript"), m))

	stack := urn.RootStack("dev", "proj")
	declared := map[string]*stages.RegisterRequest{}
	for _, r := range m.Record().Registered {
		declared[r.Name] = r
		require.True(t, r.IsNodeJS || r.AliasSpecs)
	}
	require.Len(t, declared, 6)
	require.Equal(t, urn.RootStackType, declared["proj-dev"].Type)
	first := declared["first"]
	require.Equal(t, urn.Type("test:index:Thing"), first.Type)
	require.True(t, first.Custom)
	require.Equal(t, stack, first.Parent)
	require.Equal(t, property.String("hello"), first.Inputs.At("value"))
	second := declared["second"]
	require.Equal(t, property.String("hello!"), second.Inputs.At("value"))
	require.True(t, *second.Protect)
	require.Equal(t, []urn.URN{m.URN("test:index:Thing", "first", stack)}, second.PropertyDependencies["value"])
	require.Equal(t, property.Secret(property.String("hush")), declared["secret"].Inputs.At("value"))
	require.Equal(t, m.URN("test:index:Group", "group", stack), declared["child"].Parent)

	outputs := m.StackOutputs(t)
	require.Equal(t, property.String("hello!"), outputs.At("greeting"))
	require.Equal(t, property.String("proj/dev/true"), outputs.At("where"))
	require.Equal(t, 1, m.Record().Waits)
	require.Equal(t, []string{"hello from the program\n"}, m.Messages(stages.Info))
	require.Equal(t, []string{"and from its other stream\n"}, m.Messages(stages.InfoErr))
	require.Equal(t, []string{"mind the gap"}, m.Messages(stages.Warning))
	require.Empty(t, m.Messages(stages.Error))
}

func TestOptionsAndArgumentsReachTheProgram(t *testing.T) {
	p := project(t, "commonjs")
	p.Args = []string{"--one", "two"}
	p.Options = map[string]any{"typescript": false, "nodeargs": "--max-old-space-size=512"}
	m := monitortest.Preview()
	require.NoError(t, run(t, p, m))
	outputs := m.StackOutputs(t)
	require.Equal(t, property.String("organization"), outputs.At("org"))
	require.Equal(t, property.String(p.Directory), outputs.At("folder"))
	require.Contains(t, outputs.At("limit").AsString(), "--max-old-space-size=512")
	// The SDK looks for these options, and leaves TypeScript of ES modules to the loader that they name.
	require.NotRegexp(t, `(^| )--(require|import|loader)( |$)`, outputs.At("limit").AsString())
	argv := outputs.At("argv").AsArray()
	require.Equal(t, property.String("two"), argv.At(argv.Len()-1))
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		options map[string]any
		want    string
	}{
		"typescript that is a word":         {map[string]any{"typescript": "maybe"}, "the runtime option `typescript` is \"maybe\"; it can be true or false"},
		"typescript that is a list":         {map[string]any{"typescript": []any{true}}, "the runtime option `typescript` is \"[true]\"; it can be true or false"},
		"a package manager that is unknown": {map[string]any{"packagemanager": "frob"}, "the runtime option `packagemanager` is \"frob\"; it can be auto, npm, pnpm, yarn or bun"},
	} {
		t.Run(name, func(t *testing.T) {
			p := source.Project{Runtime: "nodejs", Directory: t.TempDir(), Entry: ".", Options: c.options}
			require.NoError(t, os.WriteFile(filepath.Join(p.Directory, "package.json"), []byte("{}"), 0o600))
			require.EqualError(t, run(t, p, monitortest.Preview()), c.want)
			require.EqualError(t, nodejs.Runtime{}.Install(t.Context(), p, nil), c.want)
			_, err := nodejs.Runtime{}.StartPlugin(t.Context(), p, tooling.PluginCommand{})
			require.EqualError(t, err, c.want)
		})
	}
}

func TestAnEntryPointMayBeAFile(t *testing.T) {
	for _, entry := range []string{"src/index.ts", "src"} {
		p := project(t, "dir")
		p.Entry = entry
		m := monitortest.Preview()
		require.NoError(t, run(t, p, m))
		require.Equal(t, property.String("index.ts"), m.StackOutputs(t).At("chosen"))
	}
}

func TestHundredsOfResourcesAreDeclared(t *testing.T) {
	m := monitortest.Preview()
	require.NoError(t, run(t, project(t, "many"), m))
	require.Len(t, m.Record().Registered, 301)
}

func TestAProgramMayRunSeveralTimes(t *testing.T) {
	m := monitortest.Preview()
	p, host := nodejs.New(project(t, "commonjs")), monitortest.Host(t, m)
	require.NoError(t, p.Run(context.Background(), host))
	require.NoError(t, p.Run(context.Background(), host))
	require.NoError(t, p.Close())
	require.Equal(t, 2, m.Record().Waits)
}

func TestFailingProgramsThatHaveSaidWhy(t *testing.T) {
	for name, want := range map[string]string{
		"throw":  "this program throws",
		"reject": "nobody catches this",
		"syntax": "Unterminated string literal",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the SDK spends half a minute of processor time on formatting an uncaught error
			m := monitortest.Preview()
			err := run(t, project(t, name), m)
			require.ErrorIs(t, err, source.ErrReported)
			require.Contains(t, strings.Join(m.Messages(stages.Error), "\n"), want)
			require.Zero(t, m.Record().Waits)
		})
	}
}

func TestAProgramThatExitsIsReportedWithItsLastOutput(t *testing.T) {
	m := monitortest.Preview()
	p := project(t, "exit")
	err := run(t, p, m)
	var exit *source.ProgramExitError
	require.ErrorAs(t, err, &exit)
	require.NotErrorIs(t, err, source.ErrReported)
	require.Equal(t, "exit status 7", exit.Status)
	require.Contains(t, exit.Output, "last words")
	require.Contains(t, err.Error(), p.Directory)
	require.Empty(t, m.Messages(stages.Error))
}

func TestAProgramThatRunsOutOfMemoryGetsAHint(t *testing.T) {
	p := project(t, "memory")
	p.Options = map[string]any{"nodeargs": []any{"--max-old-space-size=40"}}
	m := monitortest.Preview()
	err := run(t, p, m)
	var exit *source.ProgramExitError
	require.ErrorAs(t, err, &exit)
	require.Contains(t, exit.Hint, "--max-old-space-size", "what node printed: %+v", m.Record().Logs)
}

func TestTheEndOfTheContextEndsTheProgram(t *testing.T) {
	m := monitortest.Preview()
	ctx, cancel := context.WithCancel(context.Background())
	host := monitortest.Host(t, m)
	host.Monitor = &monitortest.OnLog{Monitor: m, Do: cancel}
	err := nodejs.New(project(t, "wait")).Run(ctx, host)
	require.ErrorIs(t, err, context.Canceled)
}

func TestTheManifestOfThePackageNamesTheProgram(t *testing.T) {
	above := project(t, "above")
	above.Directory = filepath.Join(above.Root, "infra")
	for _, p := range []source.Project{above, project(t, "exported")} {
		m := monitortest.Preview()
		require.NoError(t, run(t, p, m))
		require.Contains(t, fmt.Sprint(m.Messages(stages.Info)), "the program of the package")
	}
	p := project(t, "above")
	p.Directory, p.Entry = filepath.Join(p.Root, "infra"), "index.js"
	require.ErrorContains(t, run(t, p, monitortest.Preview()), "there is no program: "+filepath.Join(p.Directory, "index.js"), "the project file names it")
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Run("program", func(t *testing.T) {
		p := project(t, "typescript")
		p.Entry = "other.ts"
		require.ErrorContains(t, run(t, p, monitortest.Preview()), "there is no program: "+filepath.Join(p.Directory, "other.ts"))
		require.ErrorContains(t, run(t, project(t, "dir"), monitortest.Preview()), "there is no program")
	})
	t.Run("SDK", func(t *testing.T) {
		p := project(t, "typescript")
		p.Directory = t.TempDir()
		for name, c := range map[string]struct {
			files   map[string]string
			command string
		}{
			"named":                           {map[string]string{"app/package.json": `{"dependencies": {"@pulumi/pulumi": "^3"}}`}, "npm install"},
			"named for development":           {map[string]string{"app/package.json": `{"devDependencies": {"@pulumi/pulumi": "^3"}}`}, "npm install"},
			"named above, in the workspace":   {map[string]string{"app/package.json": `{}`, "package.json": `{"dependencies": {"@pulumi/pulumi": "^3"}}`}, "npm install"},
			"not named":                       {map[string]string{"app/package.json": `{"dependencies": {"left-pad": "1"}}`}, "npm install @pulumi/pulumi"},
			"no package.json":                 {nil, "npm install @pulumi/pulumi"},
			"not named, with another manager": {map[string]string{"app/package.json": `{}`, "app/yarn.lock": ""}, "yarn add @pulumi/pulumi"},
		} {
			t.Run(name, func(t *testing.T) {
				p := project(t, "typescript")
				root := t.TempDir()
				p.Directory = filepath.Join(root, "app")
				require.NoError(t, os.Mkdir(p.Directory, 0o755))
				for file, text := range c.files {
					require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
				}
				require.ErrorContains(t, run(t, p, monitortest.Preview()), "or above; run `"+c.command+"` there")
			})
		}
	})
	t.Run("node", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		require.ErrorContains(t, run(t, project(t, "typescript"), monitortest.Preview()), "node was not found on your $PATH")
	})
}
