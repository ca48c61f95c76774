package python_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/python"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/pythonsdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

// venv is the virtual environment with the SDK.
var venv string

// TestMain installs the SDK that the programs in testdata need, unless it is there already.
func TestMain(m *testing.M) {
	if tier.IsSlow() {
		var err error
		if venv, err = pythonsdk.Install("testdata/program"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func project(t testing.TB, name string) source.Project {
	t.Helper()
	tier.Slow(t, "Python")
	root, err := filepath.Abs(filepath.Join("testdata", "program"))
	require.NoError(t, err)
	return source.Project{
		Runtime: "python", Root: root, Directory: filepath.Join(root, name), Entry: ".",
		Options: map[string]any{"virtualenv": venv},
	}
}

func run(t testing.TB, p source.Project, m *monitortest.Monitor) error {
	t.Helper()
	return python.New(p).Run(context.Background(), monitortest.Host(t, m))
}

func TestAProgramDeclaresItsResources(t *testing.T) {
	m := monitortest.Preview()
	p := project(t, "typical")
	p.Args = []string{"--one", "two"}
	require.NoError(t, run(t, p, m))

	stack := urn.RootStack("dev", "proj")
	declared := map[string]*stages.RegisterRequest{}
	for _, r := range m.Record().Registered {
		declared[r.Name] = r
	}
	require.Len(t, declared, 6)
	require.Equal(t, urn.RootStackType, declared["proj-dev"].Type)
	require.Equal(t, stack, declared["first"].Parent)
	require.Equal(t, property.String("hello"), declared["first"].Inputs.At("value"))
	second := declared["second"]
	require.Equal(t, property.String("hello!"), second.Inputs.At("value"))
	require.True(t, *second.Protect)
	require.Equal(t, []urn.URN{m.URN("test:index:Thing", "first", stack)}, second.PropertyDependencies["value"])
	require.Equal(t, property.Secret(property.String("hush")), declared["secret"].Inputs.At("value"))
	require.Equal(t, m.URN("test:index:Group", "group", stack), declared["child"].Parent)

	outputs := m.StackOutputs(t)
	for name, want := range map[string]string{
		"greeting": "hello!", "where": "proj/dev/True", "org": "organization", "folder": p.Directory,
		"helper": "from a module beside the program", "venv": venv,
	} {
		require.Equal(t, property.String(want), outputs.At(name), name)
	}
	require.Equal(t, property.String("two"), outputs.At("argv").AsArray().At(1))
	require.Equal(t, 1, m.Record().Waits)
	require.Equal(t, []string{"hello from the program\n"}, m.Messages(stages.Info))
	require.Equal(t, []string{"and from its other stream\n"}, m.Messages(stages.InfoErr))
	require.Equal(t, []string{"mind the gap"}, m.Messages(stages.Warning))
	require.Empty(t, m.Messages(stages.Error))
}

func TestFailingProgramsSayWhyOnce(t *testing.T) {
	for name, want := range map[string]string{"throws": "this program throws", "refuses": "this program refuses"} {
		t.Run(name, func(t *testing.T) {
			m := monitortest.Preview()
			require.ErrorIs(t, run(t, project(t, name), m), source.ErrReported)
			require.Len(t, m.Messages(stages.Error), 1)
			require.Contains(t, m.Messages(stages.Error)[0], want)
			require.NotContains(t, m.Messages(stages.Error)[0], "runpy", "only the program's own frames are shown")
		})
	}
}

// A future forgets the traceback of its exception when it is awaited for the second time, which depends on timing.
func TestTracebacksNameTheFilesOfTheProgram(t *testing.T) {
	for name, wants := range map[string][]string{
		"throws_later": {filepath.Join("throws_later", "helper.py") + `", line 9, in missing`, "KeyError: 'this program throws later'"},
		"unreadable":   {filepath.Join("unreadable", "__main__.py") + `", line 3`, "SyntaxError: "},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				m := monitortest.Preview()
				require.ErrorIs(t, run(t, project(t, name), m), source.ErrReported)
				require.Len(t, m.Messages(stages.Error), 1)
				said := m.Messages(stages.Error)[0]
				for _, want := range wants {
					require.Contains(t, said, want)
				}
				for _, foreign := range []string{"site-packages", "asyncio", "runpy", "sluice-run"} {
					require.NotContains(t, said, foreign)
				}
			}
		})
	}
}

func TestAProgramThatExitsIsReportedWithItsLastOutput(t *testing.T) {
	err := run(t, project(t, "exits"), monitortest.Preview())
	var exit *source.ProgramExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, "exit status 7", exit.Status)
	require.Contains(t, exit.Output, "last words")
}

func TestAProgramMayEndEarly(t *testing.T) {
	require.NoError(t, run(t, project(t, "ends_early"), monitortest.Preview()))
}

// What a program has not declared when its process ends does not count as removed.
func TestAProcessThatEndsInTheMiddleHasFailed(t *testing.T) {
	require.ErrorContains(t, run(t, project(t, "ends_in_the_middle"), monitortest.Preview()), "ended its process in the middle")
}

func TestPackagesAreThoseWhoseSDKsAreInstalled(t *testing.T) {
	packages, err := python.New(project(t, "typical")).Packages(context.Background())
	require.NoError(t, err)
	require.Empty(t, packages, "the SDK itself and that for policies are no packages")

	venv := t.TempDir() // another one
	out, err := exec.Command("python3", "-m", "venv", "--without-pip", venv).CombinedOutput()
	require.NoError(t, err, "%s", out)
	site, err := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages"))
	require.NoError(t, err)
	for file, text := range map[string]string{
		"pulumi_random-4.1.0a2.dist-info/METADATA":       "Metadata-Version: 2.1\nName: pulumi_random\nVersion: 4.1.0a2\n",
		"pulumi_random-4.1.0a2.dist-info/RECORD":         "pulumi_random-4.1.0a2.dist-info/METADATA,,\n",
		"acme_cloud-1.0.0.dist-info/METADATA":            "Metadata-Version: 2.1\nName: acme-cloud\nVersion: 1.0.0\n",
		"acme_cloud-1.0.0.dist-info/RECORD":              "acme_cloud/pulumi-plugin.json,,\n",
		"acme_cloud/pulumi-plugin.json":                  `{"resource": true, "name": "acme", "version": "2.0.0", "server": "https://example.com", "parameterization": {"name": "sub", "version": "3.0.0", "value": "aGk="}}`,
		"pulumi_not_a_provider-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pulumi-not-a-provider\nVersion: 1.0.0\n",
		"pulumi_not_a_provider-1.0.0.dist-info/RECORD":   "pulumi_not_a_provider/pulumi-plugin.json,,\n",
		"pulumi_not_a_provider/pulumi-plugin.json":       `{"resource": false}`,
		"something_else-1.0.0.dist-info/METADATA":        "Metadata-Version: 2.1\nName: something-else\nVersion: 1.0.0\n",
	} {
		path := filepath.Join(site[0], filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	p := project(t, "typical")
	p.Options["virtualenv"] = venv
	packages, err = python.New(p).Packages(context.Background())
	require.NoError(t, err)
	require.Equal(t, []stages.Package{
		{Name: "acme", Version: "2.0.0", DownloadURL: "https://example.com", Parameterization: &stages.Parameterization{Name: "sub", Version: "3.0.0", Value: []byte("hi")}},
		{Name: "random", Version: "4.1.0-alpha.2"},
	}, packages)

	require.ErrorContains(t, run(t, p, monitortest.Preview()), "the package pulumi is not installed for "+filepath.Join(venv, "bin", "python"))
	p.Options["typechecker"] = "mypy"
	require.ErrorContains(t, run(t, p, monitortest.Preview()),
		"The typechecker option is set to mypy, but mypy is not installed. Please add an entry for mypy to requirements.txt and run `")
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	empty, broken := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(broken, "bin"), 0o755))
	require.NoError(t, os.Symlink("/nowhere/python3.7", filepath.Join(broken, "bin", "python")))
	for name, c := range map[string]struct {
		options map[string]any
		entry   string
		path    string
		want    []string
	}{
		"environment":             {options: map[string]any{"virtualenv": "none"}, want: []string{"none does not exist", "python3 -m venv"}},
		"environment of uv":       {options: map[string]any{"toolchain": "uv"}, want: []string{".venv does not exist", "there is no pyproject.toml"}},
		"environment, no file":    {options: map[string]any{"virtualenv": "none"}, want: []string{"python -m pip install pulumi`"}},
		"poetry":                  {options: map[string]any{"toolchain": "poetry"}, path: empty, want: []string{"poetry was not found", "pipx install poetry"}},
		"interpreter":             {options: map[string]any{}, path: empty, want: []string{"python3 was not found", "install Python"}},
		"environment in a folder": {options: map[string]any{"virtualenv": empty}, want: []string{"is not a virtual environment"}},
		"Python of environment":   {options: map[string]any{"virtualenv": broken}, want: []string{"no longer there (/nowhere/python3.7)"}},
		"program":                 {entry: "other.py", want: []string{"there is no program", "other.py does not exist"}},
		"toolchain":               {options: map[string]any{"toolchain": "conda"}, want: []string{`"conda"`, "pip, poetry or uv"}},
		"type checker":            {options: map[string]any{"virtualenv": venv, "typechecker": "x"}, want: []string{`"x"`, "mypy or pyright"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.path != "" {
				t.Setenv("PATH", c.path)
			}
			p := project(t, "typical")
			if c.options != nil {
				p.Options = c.options
			}
			if c.entry != "" {
				p.Entry = c.entry
			}
			err := run(t, p, monitortest.Preview())
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestAMissingSDKIsToBeNamedFirst(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"named":                 {"requirements.txt", "requests\npulumi>=3,<4\n", "; install what the program needs with `"},
		"package made for it":   {"requirements.txt", "pulumi_random\n", "; install what the program needs with `"},
		"named in another file": {"requirements.txt", "-r base.txt\n", "; install what the program needs with `"},
		"not named":             {"requirements.txt", "requests # for pulumi\n", "; add pulumi to requirements.txt, and install what the program needs with `"},
		"no file":               {"other.txt", "", "; install what the program needs with `"},
		"only mentioned":        {"requirements.txt", "--index-url https://pulumi.example/simple\nfoo[pulumi] ; extra == 'pulumi'\npulumix==1\n", "; add pulumi to requirements.txt, and"},
		"mentioned for uv": {"pyproject.toml", "[project]\nname = \"pulumi-program\"\nversion = \"1\"\ndescription = \"uses pulumi\"\ndependencies = [\"foo[pulumi]\"]\n" +
			"[tool.ruff]\nselect = [\"pulumi\"]\n", "; add pulumi to pyproject.toml, and"},
		"not named for uv": {"pyproject.toml", "[project]\nname = \"x\"\nversion = \"1\"\n", "; add pulumi to pyproject.toml, and install what the program needs with `"},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, "typical")
			p.Root, p.Directory = t.TempDir(), t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(p.Directory, "__main__.py"), nil, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(p.Directory, c.file), []byte(c.text), 0o600))
			empty := filepath.Join(p.Directory, ".venv")
			require.NoError(t, exec.Command("python3", "-m", "venv", "--without-pip", empty).Run())
			p.Options = map[string]any{"virtualenv": empty}
			if c.file == "pyproject.toml" {
				p.Options["toolchain"] = "uv"
			}
			require.ErrorContains(t, run(t, p, monitortest.Preview()), c.want)
		})
	}
}

func TestTheEndOfTheContextEndsTheProgram(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "__main__.py"), []byte("import time\nprint('begins', flush=True)\ntime.sleep(600)\n"), 0o600))
	p := project(t, "typical")
	p.Root, p.Directory = root, root
	m := monitortest.Preview()
	ctx, cancel := context.WithCancel(context.Background())
	host := monitortest.Host(t, m)
	host.Monitor = &monitortest.OnLog{Monitor: m, Do: cancel}
	require.ErrorIs(t, python.New(p).Run(ctx, host), context.Canceled)
}

func TestInstallMakesTheEnvironment(t *testing.T) {
	tier.Slow(t, "Python")
	root := t.TempDir()
	p := source.Project{Runtime: "python", Root: root, Directory: root, Entry: ".", Options: map[string]any{"virtualenv": "env"}}
	require.ErrorContains(t, python.Runtime{}.Install(context.Background(), p, nil), "there is no requirements.txt")
	require.NoDirExists(t, filepath.Join(root, "env"), "a program that does not say what to install has no environment made")

	require.NoError(t, os.WriteFile(filepath.Join(root, "requirements.txt"), nil, 0o600))
	var said []string
	output := func(l plugin.Line) { said = append(said, l.Text) }
	require.NoError(t, python.Runtime{}.Install(context.Background(), p, output))
	require.Contains(t, said, "Creating virtual environment...")
	said = nil
	require.NoError(t, python.Runtime{}.Install(context.Background(), p, output))
	require.NotContains(t, said, "Creating virtual environment...")
	tools, err := python.Runtime{}.About(context.Background(), p)
	require.NoError(t, err)
	require.Len(t, tools, 1)
	require.Equal(t, filepath.Join(root, "env", "bin", "python"), tools[0].Path)
	require.True(t, strings.HasPrefix(tools[0].Version, "3."), tools[0].Version)
}

func TestPrepareMakesAnEnvironmentThatDoesNotExist(t *testing.T) {
	tier.Slow(t, "Python")
	root := t.TempDir()
	p := source.Project{Runtime: "python", Root: root, Directory: root, Entry: ".", Options: map[string]any{"virtualenv": "env"}}
	var said []string
	prepare := func() error {
		return python.New(p).Prepare(context.Background(), func(m stages.LogMessage) { said = append(said, m.Message) })
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	require.NoError(t, prepare())
	require.Empty(t, said, "there is no program")
	write("__main__.py", "")
	require.NoError(t, prepare())
	require.Empty(t, said, "nothing says what to install")
	require.NoDirExists(t, filepath.Join(root, "env"))

	write("requirements.txt", "./missing\n")
	require.ErrorContains(t, prepare(), "env does not exist, and it could not be made: ")
	require.NoError(t, os.RemoveAll(filepath.Join(root, "env")))

	write("requirements.txt", "")
	said = nil
	require.NoError(t, prepare())
	require.Contains(t, said[0], "env does not exist: making it")
	require.FileExists(t, filepath.Join(root, "env", "bin", "python"))
	said = nil
	require.NoError(t, prepare())
	require.Empty(t, said)
}

func TestRequirementsBecomeAProjectForUv(t *testing.T) {
	root, tools := filepath.Join(t.TempDir(), "my shop"), t.TempDir()
	require.NoError(t, os.Mkdir(root, 0o755))
	called := filepath.Join(tools, "called")
	require.NoError(t, os.WriteFile(filepath.Join(tools, "uv"), []byte(fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %s\n", called)), 0o755))
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	old, now := filepath.Join(root, "requirements.txt"), filepath.Join(root, "pyproject.toml")
	p := source.Project{Runtime: "python", Root: root, Directory: root, Entry: ".", Options: map[string]any{"toolchain": "uv"}}

	require.NoError(t, os.WriteFile(old, []byte("-e .\n"), 0o600))
	require.ErrorContains(t, python.Runtime{}.Install(context.Background(), p, nil), "line 1, `-e .`")
	require.FileExists(t, old)
	require.NoFileExists(t, now)

	require.NoError(t, os.WriteFile(old, []byte("# what it needs\npulumi>=3.0.0,<4.0.0  # the SDK\r\n\npulumi-random==4.16.7\n"), 0o600))
	var said []string
	require.NoError(t, python.Runtime{}.Install(context.Background(), p, func(l plugin.Line) { said = append(said, l.Text) }))
	require.Contains(t, strings.Join(said, "\n"), "made "+now+" from requirements.txt; uv reads only the former")
	require.FileExists(t, old)
	text, err := os.ReadFile(now)
	require.NoError(t, err)
	require.Contains(t, string(text), `name = "my-shop"`)
	require.Contains(t, string(text), `dependencies = ["pulumi>=3.0.0,<4.0.0", "pulumi-random==4.16.7"]`)
	require.Contains(t, string(text), "package-mode = false")
	calls, err := os.ReadFile(called)
	require.NoError(t, err)
	require.Equal(t, "sync\n", string(calls))

	require.NoError(t, os.Remove(now))
	below := filepath.Join(root, "one")
	require.NoError(t, os.Mkdir(below, 0o755))
	p.Root, p.Directory = below, below
	require.NoError(t, python.Runtime{}.Install(context.Background(), p, nil))
	require.FileExists(t, now, "beside the requirements.txt above the project")
	require.NoFileExists(t, filepath.Join(below, "pyproject.toml"))

	require.NoError(t, os.Remove(now))
	require.NoError(t, os.Mkdir(filepath.Join(below, ".git"), 0o755))
	require.ErrorContains(t, python.Runtime{}.Install(context.Background(), p, nil), "there is no pyproject.toml", "the file above is another repository's")

	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, python.Runtime{}.Install(context.Background(), p, nil), "install it with `pipx install uv`")
	require.NoFileExists(t, now)
}

// The places are those of uv 0.13.
func TestTheEnvironmentOfUvIsBesideItsProject(t *testing.T) {
	workspace := "[project]\nname = \"w\"\n[tool.uv.workspace]\nmembers = [\"projects/*\"]\nexclude = [\"projects/out\"]\n"
	for name, c := range map[string]struct {
		files       map[string]string
		in          string
		options     map[string]any
		environment string
		want        string
	}{
		"nothing":              {in: "a", want: "a/.venv"},
		"above the project":    {files: map[string]string{"pyproject.toml": ""}, in: "a/b", want: ".venv"},
		"nearest":              {files: map[string]string{"pyproject.toml": "", "uv.lock": "", "a/pyproject.toml": ""}, in: "a/b", want: "a/.venv"},
		"lock file":            {files: map[string]string{"a/uv.lock": "", "pyproject.toml": ""}, in: "a/b", want: "a/.venv"},
		"member":               {files: map[string]string{"pyproject.toml": workspace, "projects/a/pyproject.toml": ""}, in: "projects/a/src", want: ".venv"},
		"excluded":             {files: map[string]string{"pyproject.toml": workspace, "projects/out/pyproject.toml": ""}, in: "projects/out", want: "projects/out/.venv"},
		"no member":            {files: map[string]string{"pyproject.toml": workspace, "other/pyproject.toml": ""}, in: "other", want: "other/.venv"},
		"root of a workspace":  {files: map[string]string{"pyproject.toml": workspace}, in: "other", want: ".venv"},
		"option":               {files: map[string]string{"pyproject.toml": "", "uv.lock": ""}, in: "a", options: map[string]any{"virtualenv": "env"}, want: "a/env"},
		"environment variable": {files: map[string]string{"pyproject.toml": ""}, in: "a", environment: "env", want: "env"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
			}
			t.Setenv("UV_PROJECT_ENVIRONMENT", c.environment)
			p := project(t, "typical")
			copied := filepath.Join(root, c.in)
			require.NoError(t, os.CopyFS(copied, os.DirFS(p.Directory)))
			p.Root, p.Directory, p.Options = copied, copied, map[string]any{"toolchain": "uv"}
			for k, v := range c.options {
				p.Options[k] = v
			}
			require.ErrorContains(t, run(t, p, monitortest.Preview()), "the virtual environment "+filepath.Join(root, c.want)+" does not exist")
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, c.want)), 0o755))
			require.NoError(t, os.Symlink(venv, filepath.Join(root, c.want)))
			require.NoError(t, run(t, p, monitortest.Preview()))
		})
	}
}

func TestPoetryIsAskedOnceWhereTheEnvironmentIs(t *testing.T) {
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	fake := fmt.Sprintf("#!/bin/sh\necho \"$@\" >> %s\necho %s\n", asked, venv)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "poetry"), []byte(fake), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	p := project(t, "typical")
	p.Options = map[string]any{"toolchain": "poetry"}
	program := python.New(p)
	_, err := program.Packages(context.Background())
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, program.Run(context.Background(), monitortest.Host(t, monitortest.Preview())))
	}
	calls, err := os.ReadFile(asked)
	require.NoError(t, err)
	require.Equal(t, "env info --path\n", string(calls))
}
