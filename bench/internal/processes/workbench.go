package processes

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/pipeline/await"
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
	packages := []string{"cmd/sluice", "providers/internal/pulumi-resource-simple", "bench/program", "bench/floor", "testing/servicetest/cmd/serve"}
	args := []string{"build", "-buildvcs=false", "-o", bin}
	for _, p := range packages {
		args = append(args, modulePath+"/"+p)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		b.close()
		return nil, err
	}
	if out, err := b.started(ctx, "go", args...).CombinedOutput(); err != nil {
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

// patience is how long a process has to end after an interrupt, before it is killed.
const patience = 10 * time.Second

// started returns a process that is interrupted when the context ends, so that it can remove what it has made. Its own temporary files are in the
// workbench.
func (b *workbench) started(ctx context.Context, executable string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.WaitDelay = patience
	if runtime.GOOS != "windows" { // which has no interrupts between processes
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	cmd.Env = b.temporary(os.Environ())
	return cmd
}

// longestFolder is the length in bytes of a folder in which sockets can still be made: their paths have room for about a hundred.
const longestFolder = 50

// temporary returns an environment in which temporary files are in the workbench, unless its path is too long for sockets.
func (b *workbench) temporary(environment []string) []string {
	folder := filepath.Join(b.directory, "tmp")
	if len(folder) > longestFolder || os.MkdirAll(folder, 0o700) != nil {
		return environment
	}
	return append(environment, "TMPDIR="+folder, "GOTMPDIR="+folder)
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
		cmd := b.started(ctx, executable, args...)
		cmd.Dir, cmd.Env = directory, b.temporary(environment)
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

// once returns a probe that runs the others before its first run.
func (p probe) once(others ...probe) probe {
	done := false
	return func(ctx context.Context) (meter.Reading, error) {
		if done {
			return p(ctx)
		}
		done = true
		return p.after(others...)(ctx)
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

// fill imports a state into a stack so that its file has size megabytes, and returns the number of resources. Each
// resource depends on the one before.
func (b *workbench) fill(ctx context.Context, stack string, size int) (int, error) {
	const module = "urn:pulumi:%s::bench::simple:index:Thing::thing-%06d"
	root := fmt.Sprintf("urn:pulumi:%s::bench::pulumi:pulumi:Stack::bench-%[1]s", stack)
	provider := fmt.Sprintf("urn:pulumi:%s::bench::pulumi:providers:simple::default", stack)
	const providerID = "0f1e2d3c-4b5a-4697-8877-665544332211"
	inputs := map[string]any{
		"name": "thing", "count": 17, "enabled": true, "tags": map[string]any{"team": "payments", "stage": stack},
		"ports": []any{80, 443, 8080}, "description": strings.Repeat("some words that somebody has written ", 6),
	}
	resources := []any{
		map[string]any{"urn": root, "custom": false, "type": "pulumi:pulumi:Stack"},
		map[string]any{"urn": provider, "custom": true, "id": providerID, "type": "pulumi:providers:simple"},
	}
	each := 0
	for n := 0; n == 0 || n*each < size*1_000_000; n++ {
		r := map[string]any{
			"urn": fmt.Sprintf(module, stack, n), "custom": true, "id": fmt.Sprintf("thing-%06d", n), "type": "simple:index:Thing",
			"inputs": inputs, "outputs": inputs, "parent": root, "provider": provider + "::" + providerID,
		}
		if n > 0 {
			r["dependencies"] = []any{fmt.Sprintf(module, stack, n-1)}
			r["propertyDependencies"] = map[string]any{"name": r["dependencies"]}
		}
		if n == 1 {
			text, err := json.Marshal(r)
			if err != nil {
				return 0, err
			}
			each = len(text)
		}
		resources = append(resources, r)
	}
	text, err := json.Marshal(map[string]any{"version": 3, "deployment": map[string]any{"resources": resources}})
	if err != nil {
		return 0, err
	}
	file := filepath.Join(b.directory, "megabytes.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return 0, err
	}
	_, err = b.sluice(stack, load{}, "stack", "import", "--file", file)(ctx)
	return len(resources), err
}

//go:embed all:programs
var programs embed.FS

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
		cmd := b.started(ctx, name, args...)
		if filepath.Base(name) != name {
			cmd = b.started(ctx, filepath.Join(directory, name), args...)
		}
		cmd.Dir = directory
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing the dependencies of a program for %s: %s %s: %w\n%s", f.client, name, strings.Join(args, " "), err, out)
		}
		return nil
	}
	return f.install(ctx, in, sdk)
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

// startService starts a service that accepts journals. The caller stops it.
func (b *workbench) startService(ctx context.Context) (*service, error) {
	url := filepath.Join(b.directory, "service-url")
	s := &service{cmd: b.started(ctx, b.executable("serve"), "-journal", "-delay", serviceDelay.String(), "-url", url)}
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		text, err := os.ReadFile(url)
		if err == nil && len(text) > 0 {
			s.url = string(text)
			return s, os.Remove(url)
		}
		if err := await.For(ctx, 100*time.Millisecond); err != nil {
			break
		}
	}
	return nil, errors.Join(errors.New("the service of the tests does not say where it is"), s.stop())
}

// networks is how many resources of a configuration have no dependency; the others depend on one of them.
const networks = 100

// yamlProject makes a missing project with a YAML program and a stack, and returns its directory.
func (b *workbench) yamlProject(ctx context.Context, size int) (string, error) {
	directory := filepath.Join(b.directory, fmt.Sprintf("yaml-%d", size))
	if !fresh(directory) {
		return directory, nil
	}
	if err := writeFile(directory, "Pulumi.yaml", yamlProgram(size)); err != nil {
		return "", err
	}
	_, err := b.timing(load{}, b.executable("sluice"), "stack", "init", yamlStack, "--non-interactive", "--cwd", directory)(ctx)
	return directory, err
}

// hclProject makes a missing directory with a configuration for a peer.
func (b *workbench) hclProject(ctx context.Context, p peer, size int) (string, error) {
	directory := filepath.Join(b.directory, fmt.Sprintf("%s-%d", p.name, size))
	if !fresh(directory) {
		return directory, nil
	}
	if err := writeFile(b.directory, "terraform.rc", ""); err != nil {
		return "", err
	}
	if err := writeFile(directory, "main.tf", hclProgram(size)); err != nil {
		return "", err
	}
	_, err := b.terraform(p, directory, "init", "-input=false", "-no-color")(ctx)
	return directory, err
}

func fresh(directory string) bool {
	_, err := os.Stat(directory)
	return err != nil
}

func writeFile(directory, name, text string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644)
}

// yamlProgram returns a program with size resources.
func yamlProgram(size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench-yaml-%d\n", size)
	b.WriteString("runtime: yaml\nconfig: {size: {type: integer, default: 3}}\nvariables: {tag: \"tag-${size}\"}\nresources:\n")
	for i := range size {
		fmt.Fprintf(&b, "  r%d:\n    type: sim:Resource\n    properties:\n      properties:\n        name: r%d-${tag}\n        size: ${size}\n", i, i)
		if i >= networks {
			fmt.Fprintf(&b, "        network: ${r%d.id}\n", i%networks)
		}
	}
	return b.String()
}

// hclProgram returns a configuration with the same resources.
func hclProgram(size int) string {
	var b strings.Builder
	b.WriteString("variable \"size\" { default = 3 }\nlocals { tag = \"tag-${var.size}\" }\n")
	for i := range size {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = {\n    name = \"r%d-${local.tag}\"\n    size = var.size\n", i, i)
		if i >= networks {
			fmt.Fprintf(&b, "    network = terraform_data.r%d.id\n", i%networks)
		}
		b.WriteString("  }\n}\n")
	}
	return b.String()
}
