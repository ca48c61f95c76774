package python

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// toolchain is the tool that manages the packages of a program.
type toolchain string

const (
	pip    toolchain = "pip"
	poetry toolchain = "poetry"
	uv     toolchain = "uv"
)

// toolchainOf returns the toolchain that the option of a project names, else that of the nearest lock file, else pip.
func toolchainOf(p source.Project) (toolchain, error) {
	switch t := toolchain(p.Option("toolchain")); t {
	case pip, poetry, uv:
		return t, nil
	case "", "auto":
	default:
		return "", fmt.Errorf("the runtime option `toolchain` is %q; it can be pip, poetry or uv", t)
	}
	if p.Option("virtualenv") != "" {
		return pip, nil
	}
	if nearest(p, "uv.lock") != "" {
		return uv, nil
	}
	if nearest(p, "poetry.lock") != "" {
		return poetry, nil
	}
	return pip, nil
}

// nearest returns the folder with a file: the program's or one above it, up to the project's; "" if there is none.
func nearest(p source.Project, file string) string {
	for dir := p.Directory; ; dir = filepath.Dir(dir) {
		if files.IsThere(filepath.Join(dir, file)) {
			return dir
		}
		if dir == p.Root || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// environment is the interpreter of a program, and its virtual environment.
type environment struct {
	toolchain toolchain
	folder    string // of the virtual environment; "" for the interpreter on the PATH
	python    string
}

// find returns the environment of a project. isPlugin is true for plugins, which always have a virtual environment.
func find(ctx context.Context, p source.Project, isPlugin bool) (environment, error) {
	e := environment{}
	var err error
	if e.toolchain, err = toolchainOf(p); err != nil {
		return e, err
	}
	if e.folder, err = e.place(ctx, p, isPlugin); err != nil {
		return e, err
	}
	if e.folder == "" {
		e.python, err = ambient()
		return e, err
	}
	e.python = executableIn(e.folder, "python")
	if e.python == "" {
		return e, e.missing(p)
	}
	return e, nil
}

// place returns the folder of the virtual environment, "" for none. It need not exist.
func (e environment) place(ctx context.Context, p source.Project, isPlugin bool) (string, error) {
	switch named := p.Option("virtualenv"); {
	case e.toolchain == poetry:
		return poetryPlace(ctx, p)
	case e.toolchain == uv:
		return uvPlace(p), nil
	case named == "" && isPlugin:
		return inProject(p, "venv"), nil
	case named == "":
		return "", nil
	default:
		return inProject(p, named), nil
	}
}

// inProject returns the folder of the virtual environment with a name.
func inProject(p source.Project, named string) string {
	if filepath.IsAbs(named) {
		return named
	}
	if inProgram := filepath.Join(p.Directory, named); !files.IsThere(filepath.Join(p.Root, named)) && files.IsThere(inProgram) {
		return inProgram
	}
	return filepath.Join(p.Root, named)
}

// uvPlace returns the folder of the virtual environment of uv: that of the project's option, else uv's own.
func uvPlace(p source.Project) string {
	if named := p.Option("virtualenv"); named != "" {
		return inProject(p, named)
	}
	named := cmp.Or(os.Getenv("UV_PROJECT_ENVIRONMENT"), ".venv")
	if filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(cmp.Or(uvRoot(p.Directory), p.Root), named)
}

// uvVariables returns the variables that make uv use the virtual environment of the project's option.
func uvVariables(p source.Project) []string {
	if p.Option("virtualenv") == "" {
		return nil
	}
	return []string{"UV_PROJECT_ENVIRONMENT=" + uvPlace(p)}
}

func poetryPlace(ctx context.Context, p source.Project) (string, error) {
	path, err := exec.LookPath("poetry")
	if err != nil {
		return "", errors.New("poetry was not found on your $PATH; install it with `pipx install poetry`, or choose another `toolchain` in the runtime's options")
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "poetry", Executable: path, Args: []string{"env", "info", "--path"}, Directory: p.Directory, Environment: os.Environ(),
	})
	if err != nil {
		return "", err
	}
	if exit.Code != 0 || strings.TrimSpace(stdout) == "" {
		if err := checkDeclared(p, poetry); err != nil {
			return "", err
		}
		return "", &absentError{fmt.Sprintf("poetry has no virtual environment for %s", p.Directory), "run `poetry install` there" + direct.Below(stderr)}
	}
	return strings.TrimSpace(stdout), nil
}

// makes returns the commands that make a virtual environment, as text.
func (e environment) makes(p source.Project) string {
	switch e.toolchain {
	case uv:
		return "`" + strings.Join(append(uvVariables(p), "uv sync"), " ") + "` in " + p.Directory
	case poetry:
		return "`poetry install` in " + p.Directory
	}
	made := environment{toolchain: pip, python: filepath.Join(e.folder, binaries(), "python")}
	return fmt.Sprintf("`python3 -m venv %s`, then %s", e.folder, made.installs(p))
}

// missing returns the error of a virtual environment without an interpreter, with the command that makes it.
func (e environment) missing(p source.Project) error {
	install := e.makes(p)
	if info, err := os.Stat(e.folder); err == nil && info.IsDir() {
		if target, err := os.Readlink(filepath.Join(e.folder, binaries(), "python")); err == nil {
			return fmt.Errorf("the virtual environment %s is for a Python that is no longer there (%s); remove it and make it again with %s", e.folder, target, install)
		}
		return fmt.Errorf("%s is not a virtual environment: it has no %s; make one with %s", e.folder, filepath.Join(binaries(), "python"), install)
	}
	if err := checkDeclared(p, e.toolchain); err != nil {
		return fmt.Errorf("the virtual environment %s does not exist: %w", e.folder, err)
	}
	absent := &absentError{fmt.Sprintf("the virtual environment %s does not exist", e.folder), "make it with " + install}
	if e.toolchain == pip && !files.IsThere(filepath.Join(p.Directory, "requirements.txt")) && !files.IsThere(filepath.Join(p.Directory, "pyproject.toml")) {
		return errors.New(absent.Error())
	}
	return absent
}

// absentError reports that the virtual environment of a project does not exist. The files to make it from do exist.
type absentError struct{ problem, mend string }

func (e *absentError) Error() string { return e.problem + "; " + e.mend }

// binaries returns the name of the folder with a virtual environment's executables.
func binaries() string {
	if runtime.GOOS == "windows" {
		return "Scripts"
	}
	return "bin"
}

func executableIn(folder, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, binaries(), name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// ambient returns the interpreter on the PATH.
func ambient() (string, error) {
	names := []string{"python3", "python"}
	if runtime.GOOS == "windows" {
		names = []string{"python", "python3"}
	}
	if named := os.Getenv("PULUMI_PYTHON_CMD"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s was not found on your $PATH; %s, or name a virtual environment with the runtime option `virtualenv`",
		names[0], direct.HowToGet("Python", "python3 python3-venv", "python"))
}

// variables returns the additions to the environment base of a process in a virtual environment, as `activate` sets them.
func (e environment) variables(base []string) []string {
	if e.folder == "" {
		return nil
	}
	path := os.Getenv("PATH")
	for _, pair := range base {
		if v, ok := strings.CutPrefix(pair, "PATH="); ok {
			path = v
		}
	}
	return []string{
		"VIRTUAL_ENV=" + e.folder, "PYTHONHOME=",
		"PATH=" + filepath.Join(e.folder, binaries()) + string(os.PathListSeparator) + path,
	}
}

// debug returns the process in which a file, or a module after "-m", waits for a debugger at an address. The package debugpy must be
// installed in the environment. name is the name of the process in editors.
func (e environment) debug(ctx context.Context, p source.Project, name, address string, log func(stages.LogMessage), arguments ...string) (debugged, error) {
	_, _, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "python", Executable: e.python, Args: []string{"-c", "import debugpy"}, Directory: p.Directory,
		Environment: append(os.Environ(), e.variables(nil)...),
	})
	if err != nil {
		return debugged{}, err
	}
	if exit.Code != 0 {
		return debugged{}, fmt.Errorf("the debugger debugpy is not installed for %s; install it with %s", e.python, e.adds("debugpy"))
	}
	script, err := direct.Script("python", "sluice-debug-*.py", debugScript)
	if err != nil {
		return debugged{}, err
	}
	return debugged{
		script: script,
		// Without the option, a debugger could not step into the modules that are part of the interpreter, and debugpy would complain.
		arguments: append([]string{"-Xfrozen_modules=off", "-u", script, address}, arguments...),
		debugger: &direct.Debugger{
			Tool:    "Python",
			Listens: regexp.MustCompile(`^debugpy listens on 127\.0\.0\.1:(\d+)$`),
			Config: func(_ string, port, _ int) map[string]any {
				return map[string]any{
					"name": name, "type": "python", "request": "attach", "justMyCode": true,
					"connect": map[string]any{"host": "127.0.0.1", "port": port},
				}
			},
			Log: log,
		},
	}, nil
}

// adds returns the command that adds a package to an environment.
func (e environment) adds(name string) string {
	switch e.toolchain {
	case uv:
		return "`uv add " + name + "`"
	case poetry:
		return "`poetry add " + name + "`"
	}
	return fmt.Sprintf("`%s -m pip install %s`", e.python, name)
}

// damaged returns a clearer error if the interpreter of the virtual environment cannot be started.
func (e environment) damaged(p source.Project, err error) error {
	if path := (*fs.PathError)(nil); e.folder != "" && errors.As(err, &path) && path.Path == e.python {
		return fmt.Errorf("the virtual environment %s is damaged: %w; remove it and make it again with %s", e.folder, err, e.makes(p))
	}
	return err
}

// withoutSDK returns the error of an environment without the package pulumi.
func (e environment) withoutSDK(p source.Project) error {
	if e.folder != "" {
		if others, _ := filepath.Glob(filepath.Join(e.folder, "lib", "python*", "site-packages", "pulumi")); len(others) > 0 {
			version := strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(others[0]))), "python")
			return fmt.Errorf("the packages in the virtual environment %s are for Python %s, which its interpreter no longer is; "+
				"remove it and make it again with %s", e.folder, version, e.makes(p))
		}
	}
	return fmt.Errorf("the package pulumi is not installed for %s; %sinstall what the program needs with %s", e.python, e.declares(p), e.installs(p))
}

// declares returns the advice to add the SDK to the dependencies of the program, "" if they may contain it.
func (e environment) declares(p source.Project) string {
	file, brings := "requirements.txt", listBringsSDK
	if e.toolchain != pip {
		file, brings = "pyproject.toml", fileBringsSDK
	}
	text, err := os.ReadFile(filepath.Join(p.Directory, file))
	if err != nil || brings(string(text)) {
		return ""
	}
	return "add pulumi to " + file + ", and "
}

// installs returns the command that installs the dependencies of a program.
func (e environment) installs(p source.Project) string {
	switch e.toolchain {
	case uv:
		return e.makes(p)
	case poetry:
		return "`poetry install`"
	}
	if files.IsThere(filepath.Join(p.Directory, "requirements.txt")) {
		return fmt.Sprintf("`%s -m pip install -r requirements.txt`", e.python)
	}
	return fmt.Sprintf("`%s -m pip install pulumi`", e.python)
}

// withoutChecker returns the error of an environment without the project's type checker. Scripts search for its words.
func (e environment) withoutChecker(name string) error {
	mend := fmt.Sprintf("Please add an entry for %s to requirements.txt and run `%s -m pip install -r requirements.txt`", name, e.python)
	switch e.toolchain {
	case uv:
		mend = fmt.Sprintf("Please install it using `uv add %s`", name)
	case poetry:
		mend = fmt.Sprintf("Please install it using `poetry add %s`", name)
	}
	return fmt.Errorf("The typechecker option is set to %s, but %s is not installed. %s", name, name, mend) //nolint:staticcheck // known text
}

// debugScript runs a file or a module that waits for a debugger.
//
//go:embed debug.py
var debugScript []byte

// usualPort is the port to which editors connect by default.
const usualPort = 5678

// debugged is a process that waits for a debugger.
type debugged struct {
	script    string // a file, which the caller removes
	arguments []string
	debugger  *direct.Debugger
}
