package python

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Runtime runs programs and plugins in the interpreter of their virtual environment.
type Runtime struct{}

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project; see [New].
func (Runtime) Program(p source.Project) source.Program { return New(p) }

// StartPlugin runs a plugin: its __main__.py, or a package through the SDK, which finds the components in it.
func (Runtime) StartPlugin(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	e, err := find(ctx, p, !c.Dynamic && c.Kind != plugin.Analyzer)
	if err != nil {
		return nil, err
	}
	args, err := pluginArguments(p, c)
	if err != nil {
		return nil, err
	}
	c.Environment = append(slices.Clip(c.Environment), e.variables(c.Environment)...)
	if c.Kind == plugin.Analyzer {
		c.Directory = p.Directory // policy packs run in their own folder (protocol.md 7.2)
	}
	command := c.Command(p, e.python, append([]string{"-u"}, args...)...)
	if c.Debug != nil {
		d, err := e.debug(ctx, p, c.Name, direct.AnyDebugAddress, c.Debug, args...)
		if err != nil {
			return nil, err
		}
		command.Args, command.Intercept = d.arguments, d.debugger.Interceptor()
		command.Done = func() { _ = os.Remove(d.script) }
	}
	process, err := c.Start(command)
	if process == nil || err != nil {
		return nil, e.damaged(p, err)
	}
	return &server{Server: process, environment: e, project: p}, nil
}

// server is a plugin that may end because the SDK is missing, which Python reports with a traceback.
type server struct {
	plugin.Server
	environment environment
	project     source.Project
}

// noModule is Python's message that the SDK is missing.
const noModule = "ModuleNotFoundError: No module named 'pulumi'"

// Port waits until the plugin has written its port.
func (s *server) Port(ctx context.Context) (int, error) {
	port, err := s.Server.Port(ctx)
	if err != nil && strings.Contains(s.LastOutput(), noModule) {
		return 0, fmt.Errorf("plugin %s: %w", s.Title(), s.environment.withoutSDK(s.project))
	}
	return port, err
}

func pluginArguments(p source.Project, c tooling.PluginCommand) ([]string, error) {
	folder := filepath.Join(p.Directory, p.Entry)
	switch {
	case c.Dynamic:
		return append([]string{"-m", "pulumi.dynamic"}, c.Args...), nil
	case files.IsThere(filepath.Join(folder, "__main__.py")) && c.Kind == plugin.Analyzer:
		return slices.Concat([]string{"-m", "pulumi.policy"}, c.Args, []string{folder}), nil
	case files.IsThere(filepath.Join(folder, "__main__.py")):
		return append([]string{folder}, c.Args...), nil
	}
	name, err := projectName(p.Root)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]string{"-m", "pulumi.run.plugin", name}, c.Args), nil
}

// projectName reads the name of a package from its pyproject.toml.
func projectName(directory string) (string, error) {
	text, err := os.ReadFile(filepath.Join(directory, "pyproject.toml"))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is neither __main__.py nor pyproject.toml in %s; write one", directory)
	}
	if err != nil {
		return "", err
	}
	var file struct {
		Project struct {
			Name string `toml:"name"`
		} `toml:"project"`
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return "", fmt.Errorf("pyproject.toml in %s: %w", directory, err)
	}
	if file.Project.Name == "" {
		return "", fmt.Errorf("pyproject.toml in %s has no project.name", directory)
	}
	return file.Project.Name, nil
}

// Install installs the dependencies of a program: with uv or poetry from their lock files, or with pip from requirements.txt or
// pyproject.toml. It makes the virtual environment of the project if that does not exist, and for uv and poetry a pyproject.toml from a
// requirements.txt.
func (Runtime) Install(ctx context.Context, p source.Project, output func(plugin.Line)) error {
	t, err := toolchainOf(p)
	if err != nil {
		return err
	}
	if _, missing := exec.LookPath(string(t)); t != pip && missing == nil {
		if err := declare(ctx, p, t, output); err != nil {
			return err
		}
		if err := checkDeclared(p, t); err != nil {
			return err
		}
	}
	switch t {
	case uv:
		return direct.Install(ctx, p.Directory, uvVariables(p), output, "install it with `pipx install uv`", "uv", "sync")
	case poetry:
		return direct.Install(ctx, p.Directory, nil, output, "install it with `pipx install poetry`", "poetry", "install", "--no-ansi", "--no-interaction")
	}
	args := []string{"-m", "pip", "install", "--disable-pip-version-check"}
	switch {
	case files.IsThere(filepath.Join(p.Directory, "requirements.txt")):
		args = append(args, "-r", "requirements.txt")
	case files.IsThere(filepath.Join(p.Directory, "pyproject.toml")):
		args = append(args, "-e", ".")
	default:
		return fmt.Errorf("there is no requirements.txt in %s; write `pulumi>=3` and what else the program needs into it", p.Directory)
	}
	e := environment{toolchain: pip}
	if e.folder, err = e.place(ctx, p, files.IsThere(filepath.Join(p.Directory, plugin.PluginManifest))); err != nil {
		return err
	}
	python, err := ambient()
	if err != nil {
		return err
	}
	if e.folder != "" {
		if executableIn(e.folder, "python") == "" {
			if output != nil {
				output(plugin.Line{Piece: plugin.Piece{Text: "Creating virtual environment..."}}) // scripts search for these words
			}
			if err := direct.Install(ctx, p.Directory, nil, output, "", python, "-m", "venv", e.folder); err != nil {
				return err
			}
		}
		python = executableIn(e.folder, "python")
	}
	return direct.Install(ctx, p.Directory, nil, output, "", python, args...)
}

// checkDeclared refuses a program for uv or poetry without a pyproject.toml, from which both read the dependencies.
func checkDeclared(p source.Project, t toolchain) error {
	for dir := p.Directory; t != pip; dir = filepath.Dir(dir) {
		if files.IsThere(filepath.Join(dir, "pyproject.toml")) {
			return nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	var mend string
	switch t {
	case pip:
		return nil
	case poetry:
		mend = "`poetry init` and `poetry add pulumi`"
	case uv:
		mend = "`uv init` and `uv add pulumi`"
		if folder := required(p.Directory); folder != "" {
			mend = "`uv init` and `uv add -r " + filepath.Join(folder, "requirements.txt") + "`"
		}
	}
	return fmt.Errorf("there is no pyproject.toml in %s, which %s reads; make one with %s there, or choose the runtime option `toolchain: pip`",
		p.Directory, t, mend)
}

// ofTool matches the version in a toolchain's output: `Poetry (version 2.5.1)` or `uv 0.13.9 (…)`.
var ofTool = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+)+`) })

// About returns the interpreter of a program and its toolchain.
func (Runtime) About(ctx context.Context, p source.Project) ([]tooling.Tool, error) {
	e, err := find(ctx, p, false)
	if err != nil {
		return nil, err
	}
	python, err := direct.Version(ctx, p.Directory, e.python, "--version")
	if err != nil {
		return nil, err
	}
	python.Name = "python"
	python.Version = strings.TrimPrefix(python.Version, "Python ")
	tools := []tooling.Tool{python}
	if e.toolchain != pip {
		tool, err := direct.Version(ctx, p.Directory, string(e.toolchain), "--version")
		if err != nil {
			return tools, err
		}
		tool.Version = cmp.Or(ofTool().FindString(tool.Version), tool.Version)
		tools = append(tools, tool)
	}
	return tools, nil
}
