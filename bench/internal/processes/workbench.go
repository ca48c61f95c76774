package processes

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/shape"
)

// workbench is a temporary directory with the executables and the projects for measuring processes.
type workbench struct {
	directory string
}

const modulePath = "github.com/sluice-iac/sluice"

// newWorkbench builds the executables: the command line, the plugin, the program and the floor. The working directory
// must be in the module.
func newWorkbench(ctx context.Context) (*workbench, error) {
	directory, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	b := &workbench{directory: directory}
	bin := filepath.Join(directory, "bin") + string(filepath.Separator)
	packages := []string{"cmd/sluice", "providers/internal/pulumi-resource-simple", "bench/program", "bench/floor", "internal/servicetest/cmd/serve"}
	args := []string{"build", "-buildvcs=false", "-o", bin}
	for _, p := range packages {
		args = append(args, modulePath+"/"+p)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		b.close()
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		b.close()
		return nil, fmt.Errorf("building the executables: %w\n%s", err, out)
	}
	err = b.front(ctx, frontOf(shape.ClientThin)) // commands that run no program use its project
	for _, d := range []string{"state", "home"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(directory, d), 0o755))
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *workbench) close() { _ = os.RemoveAll(b.directory) }

func (b *workbench) executable(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.directory, "bin", name)
}

// load describes the resources that a program process declares. The zero load, for commands that run no program, uses the
// thin client.
type load struct {
	shape, client string
	size          int
	key           string // see [shape.EnvKey]
}

// name returns the name of a stack for the load.
func (l load) name() string { return fmt.Sprintf("%s-%s-%d", l.shape, l.client, l.size) }

func (b *workbench) environment(l load) []string {
	return append(os.Environ(),
		"PATH="+filepath.Join(b.directory, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PULUMI_HOME="+filepath.Join(b.directory, "home"),
		"PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state")),
		"PULUMI_CONFIG_PASSPHRASE=benchmark", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_STACK=",
		shape.EnvShape+"="+l.shape, shape.EnvClient+"="+l.client, shape.EnvKey+"="+l.key, fmt.Sprintf("%s=%d", shape.EnvSize, l.size))
}

// probe is one measured run.
type probe func(ctx context.Context) (meter.Reading, error)

// timing returns a probe of one process in the project of the load's client.
func (b *workbench) timing(l load, executable string, args ...string) probe {
	return b.in(b.project(cmp.Or(l.client, shape.ClientThin)), b.environment(l), executable, args...)
}

// in returns a probe of one process in a directory.
func (b *workbench) in(directory string, environment []string, executable string, args ...string) probe {
	return func(ctx context.Context) (meter.Reading, error) {
		cmd := exec.CommandContext(ctx, executable, args...)
		cmd.Dir, cmd.Env = directory, environment
		return meter.Process(cmd)
	}
}

// then returns a probe that measures p and then runs the others unmeasured.
func (p probe) then(others ...probe) probe {
	return func(ctx context.Context) (meter.Reading, error) {
		r, err := p(ctx)
		for _, other := range others {
			if err == nil {
				_, err = other(ctx)
			}
		}
		return r, err
	}
}

// after returns a probe that runs the others unmeasured and then measures p.
func (p probe) after(others ...probe) probe {
	return func(ctx context.Context) (meter.Reading, error) {
		for _, other := range others {
			if _, err := other(ctx); err != nil {
				return nil, err
			}
		}
		return p(ctx)
	}
}

// floor returns a probe of the floor that runs a program, which it can do for some clients only.
func (b *workbench) floor(l load, preview bool) probe {
	args := []string{b.executable("pulumi-resource-simple")}
	if !preview {
		args = []string{"-up", args[0]}
	}
	return b.timing(l, b.executable("floor"), append(args, frontOf(l.client).alone(b, preview)...)...)
}

// sluice returns a probe of a command of the command line on a stack.
func (b *workbench) sluice(stack string, l load, args ...string) probe {
	return b.timing(l, b.executable("sluice"), append(args, "--non-interactive", "--stack", stack)...)
}

// stack makes a missing stack.
func (b *workbench) stack(ctx context.Context, name string) error {
	_, err := b.timing(load{}, b.executable("sluice"), "stack", "select", "--create", name, "--non-interactive")(ctx)
	return err
}

//go:embed all:programs
var programs embed.FS

// front defines how programs of a client run: the interpreter and the project.
type front struct {
	client      string
	interpreter string // a program on PATH; "" for none
	options     string // of the project: the rest of its runtime
	// install installs the dependencies of the program in its folder; nil does nothing.
	install func(ctx context.Context, in func(name string, args ...string) error, sdk string) error
	// language is Pulumi's plugin for it, a program on PATH.
	language string
	// alone returns the command line with which the floor starts the program; nil means that it cannot.
	alone func(b *workbench, preview bool) []string
}

func fronts() []front {
	inGo := func(client string) front {
		return front{
			client: client, language: "pulumi-language-go",
			alone: func(b *workbench, _ bool) []string { return []string{b.executable("program")} },
		}
	}
	return []front{
		inGo(shape.ClientSDK), inGo(shape.ClientThin),
		{
			client: shape.ClientNode, interpreter: "node", options: "nodejs", language: "pulumi-language-nodejs",
			install: func(_ context.Context, in func(name string, args ...string) error, sdk string) error {
				return in("npm", "install", "--no-audit", "--no-fund", "--no-save", "@pulumi/pulumi@"+sdk)
			},
			alone: func(b *workbench, preview bool) []string {
				directory := b.project(shape.ClientNode)
				args := []string{
					"node", filepath.Join(directory, "node_modules", "@pulumi", "pulumi", "cmd", "run"), "--monitor", "{monitor}", "--engine", "{monitor}",
					"--organization", "organization", "--project", "bench", "--stack", "dev", "--root-directory", directory, "--pwd", directory, "--parallel", "16",
				}
				if preview {
					args = append(args, "--dry-run")
				}
				return append(args, ".")
			},
		},
		{
			client: shape.ClientPython, interpreter: python(), options: "{name: python, options: {virtualenv: venv}}", language: "pulumi-language-python",
			install: func(_ context.Context, in func(name string, args ...string) error, sdk string) error {
				if err := in(python(), "-m", "venv", "venv"); err != nil {
					return err
				}
				bin := filepath.Join("venv", "bin", "python")
				if runtime.GOOS == "windows" {
					bin = filepath.Join("venv", "Scripts", "python")
				}
				return in(bin, "-m", "pip", "install", "--quiet", "pulumi=="+sdk)
			},
		},
	}
}

func frontOf(client string) front {
	all := fronts()
	return all[slices.IndexFunc(all, func(f front) bool { return f.client == client })]
}

func python() string {
	if runtime.GOOS == "windows" {
		return "python"
	}
	return "python3"
}

// project returns the folder with the project of a client.
func (b *workbench) project(client string) string {
	return filepath.Join(b.directory, "project-"+client)
}

// front makes a missing project of a client, with the dependencies of its program.
func (b *workbench) front(ctx context.Context, f front) error {
	directory := b.project(f.client)
	if !fresh(directory) {
		return nil
	}
	options := f.options
	if f.interpreter == "" {
		options = fmt.Sprintf("{name: go, options: {binary: %q}}", b.executable("program"))
	}
	if err := writeFile(directory, "Pulumi.yaml", fmt.Sprintf("name: bench\nruntime: %s\n", options)); err != nil {
		return err
	}
	if f.install == nil {
		return nil
	}
	folder := "programs/" + f.client
	files, err := programs.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := programs.ReadFile(folder + "/" + file.Name())
		if err != nil {
			return err
		}
		if err := writeFile(directory, file.Name(), string(text)); err != nil {
			return err
		}
	}
	in := func(name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		if filepath.Base(name) != name {
			cmd = exec.CommandContext(ctx, filepath.Join(directory, name), args...)
		}
		cmd.Dir = directory
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing the dependencies of a program for %s: %s %s: %w\n%s", f.client, name, strings.Join(args, " "), err, out)
		}
		return nil
	}
	return f.install(ctx, in, sdk)
}

// sdk is the version of Pulumi's SDK for Node.js and Python. Not every version is published for every language: it is the newest that both have and
// that is not newer than the SDK for Go of this module.
const sdk = "3.270.0"

// found reports whether a program is on PATH.
func found(name string) bool {
	_, err := exec.LookPath(name)
	return name == "" || err == nil
}

// The peers: comparable programs, by their names on PATH.
const (
	Pulumi    = "pulumi"
	Terraform = "terraform"
	OpenTofu  = "tofu"
)

// peer is a comparable program.
type peer struct{ name, path, version string }

type peers map[string]peer

// findPeers returns the peers on PATH that report a version. A link named pulumi that leads to sluice is not one.
func findPeers(ctx context.Context) peers {
	found := peers{}
	for _, name := range []string{Pulumi, Terraform, OpenTofu} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if target, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(filepath.Base(target), "sluice") {
			continue
		}
		cmd := exec.CommandContext(ctx, path, "version")
		cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "PULUMI_SKIP_UPDATE_CHECK=true")
		said, err := cmd.Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		words := strings.Fields(first) // "Terraform v1.11.4", "v3.248.0"
		if len(words) == 0 {
			continue
		}
		found[name] = peer{name, path, words[len(words)-1]}
	}
	return found
}

// setting is a way to call Pulumi. The zero setting is the default.
type setting struct {
	suffix      string // of its name in reports
	environment []string
}

// parallelDiff makes Pulumi call Diff for several resources at once.
func parallelDiff() setting {
	return setting{suffix: "-parallel-diff", environment: []string{"PULUMI_PARALLEL_DIFF=true"}}
}

// pulumi returns a probe of Pulumi's command line on a stack of its own.
func (b *workbench) pulumi(p peer, stack string, l load, s setting, args ...string) probe {
	return b.in(b.project(l.client), append(b.pulumiEnvironment(l), s.environment...), p.path, append(args, "--non-interactive", "--stack", stack)...)
}

// pulumiEnvironment is that of sluice, except for the home and the state.
func (b *workbench) pulumiEnvironment(l load) []string {
	return append(b.environment(l),
		"PULUMI_HOME="+filepath.Join(b.directory, "home-pulumi"), "PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state-pulumi")))
}

// pulumiStack makes a missing stack of Pulumi.
func (b *workbench) pulumiStack(ctx context.Context, p peer, stack string) error {
	for _, d := range []string{"home-pulumi", "state-pulumi"} {
		if err := os.MkdirAll(filepath.Join(b.directory, d), 0o755); err != nil {
			return err
		}
	}
	_, err := b.in(b.project(shape.ClientThin), b.pulumiEnvironment(load{}), p.path, "stack", "select", "--create", stack, "--non-interactive")(ctx)
	return err
}

// terraform returns a probe of Terraform or OpenTofu in a directory with a configuration. It uses no settings of the
// user.
func (b *workbench) terraform(p peer, directory string, args ...string) probe {
	environment := append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(b.directory, "terraform.rc"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=.terraform")
	return b.in(directory, environment, p.path, args...)
}
