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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/internal/results"
	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// workbench is a temporary directory with the executables and the projects for measuring processes.
type workbench struct {
	directory string

	mu          sync.Mutex    // guards the rest
	interrupted []*os.Process // leaders of groups that were interrupted
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
	if err := b.build(ctx); err != nil {
		b.close()
		return nil, err
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

// build links the executables into the workbench. They are made in a folder of the module and stay there, because most often they are up to date, and
// linking them costs more than many cases.
func (b *workbench) build(ctx context.Context) error {
	root, err := b.started(ctx, "go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return fmt.Errorf("finding the module: %w", err)
	}
	kept, bin := filepath.Join(strings.TrimSpace(string(root)), "bin", "bench"), filepath.Join(b.directory, "bin")
	if err := errors.Join(os.MkdirAll(kept, 0o755), os.Mkdir(bin, 0o755)); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(kept + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	// Information for debuggers is a third of the linker's work, and is not loaded.
	args := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", kept + string(filepath.Separator)}
	for _, p := range []string{"cmd/sluice", "providers/internal/pulumi-resource-simple", "bench/program", "bench/floor", "testing/servicetest/cmd/serve"} {
		args = append(args, modulePath+"/"+p)
	}
	if out, err := b.started(ctx, "go", args...).CombinedOutput(); err != nil {
		// A half of an executable could pass for the whole.
		return errors.Join(fmt.Errorf("building the executables: %w\n%s", err, out), os.RemoveAll(kept))
	}
	files, err := os.ReadDir(kept)
	for _, file := range files {
		err = errors.Join(err, link(filepath.Join(kept, file.Name()), filepath.Join(bin, file.Name())))
	}
	return err
}

// link makes path a hard link to an executable, or a copy on another file system.
func link(executable, path string) error {
	if os.Link(executable, path) == nil {
		return nil
	}
	content, err := os.ReadFile(executable)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o755)
}

// patience is how long a process has to end after an interrupt, before it is killed.
const patience = 10 * time.Second

// started returns a process that leads a group. The group is interrupted when the context ends, so that it can remove what it has made. Its own
// temporary files are in the workbench.
func (b *workbench) started(ctx context.Context, executable string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.WaitDelay = patience
	if runtime.GOOS != "windows" { // which has no interrupts between processes
		process.Lead(cmd)
		cmd.Cancel = func() error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.interrupted = append(b.interrupted, cmd.Process)
			process.InterruptGroup(cmd.Process)
			return nil
		}
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

// close ends what an interrupted process has left, such as the linker of a build, and removes everything.
func (b *workbench) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, leader := range b.interrupted {
		process.KillGroup(leader)
	}
	for range 20 { // a process that is ending may still make a file
		if os.RemoveAll(b.directory) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

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
	changed       int    // see [shape.EnvChanged]
}

// name returns the name of a stack for the load.
func (l load) name() string { return fmt.Sprintf("%s-%s-%d", l.shape, l.client, l.size) }

func (b *workbench) environment(l load) []string {
	return append(os.Environ(),
		"PATH="+filepath.Join(b.directory, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PULUMI_HOME="+filepath.Join(b.directory, "home"),
		"PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state")),
		"PULUMI_CONFIG_PASSPHRASE=benchmark", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_STACK=",
		shape.EnvShape+"="+l.shape, shape.EnvClient+"="+l.client, shape.EnvKey+"="+l.key, fmt.Sprintf("%s=%d", shape.EnvSize, l.size),
		shape.EnvChanged+"="+filepath.Join(b.directory, changedFile))
}

// changedFile is the file with [load.changed], as a source of a program that is edited. In an environment of its own a plugin might answer otherwise.
const changedFile = "changed"

// installed returns an environment in which the plugin is not on PATH but in the plugin folder of a home of its own: answers of other plugins are
// not used again.
func (b *workbench) installed(l load) []string {
	return append(b.environment(l), "PATH="+os.Getenv("PATH"), "PULUMI_HOME="+filepath.Join(b.directory, "home-installed"))
}

// tool is a program that is measured.
type tool struct {
	path      string
	profiling string // its flag for the beginning of the names of profiles, which comes first; "" if it writes none
}

func (b *workbench) tool(name string) tool {
	t := tool{path: b.executable(name)}
	switch name {
	case "sluice":
		t.profiling = "--profiling"
	case "floor":
		t.profiling = "-profiling"
	}
	return t
}

// timing returns a probe of one process in the project of the load's client.
func (b *workbench) timing(l load, t tool, args ...string) probe {
	return b.in(l, b.project(cmp.Or(l.client, shape.ClientThin)), b.environment(l), t, args...)
}

// in returns a probe of one process in a directory, with a program that declares a load.
func (b *workbench) in(l load, directory string, environment []string, t tool, args ...string) probe {
	return b.measured(t, args, func(ctx context.Context, run meter.Run, args []string) (meter.Reading, error) {
		if err := writeFile(b.directory, changedFile, strconv.Itoa(l.changed)); err != nil {
			return meter.Reading{}, err
		}
		cmd := b.started(ctx, t.path, args...)
		cmd.Dir, cmd.Env = directory, append(b.temporary(environment), shape.EnvLatencies+"="+b.latencies())
		return meter.Process(ctx, run, cmd)
	})
}

// measured returns a probe that calls do with the arguments of a tool. It adds what the processes have written about themselves: latencies and
// profiles.
func (b *workbench) measured(t tool, args []string, do func(ctx context.Context, run meter.Run, args []string) (meter.Reading, error)) probe {
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		with, prefix := args, filepath.Join(b.directory, "profile")
		if run.Profile != nil && t.profiling != "" {
			with = append([]string{t.profiling, prefix}, args...)
		}
		_ = os.Remove(b.latencies()) // of another process
		r, err := do(ctx, run, with)
		if err == nil && run.Profile != nil {
			err = run.Profile.Files(prefix)
		}
		if err != nil {
			return meter.Reading{}, err
		}
		r.Latencies, err = readLatencies(b.latencies())
		return r, err
	}
}

// latencies is the file in which a program writes how long it waited for each answer.
func (b *workbench) latencies() string { return filepath.Join(b.directory, "latencies") }

// readLatencies returns nil if there is no file: only [shape.ClientThin] writes it.
func readLatencies(file string) (*results.Latencies, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := &results.Latencies{}
	for field := range strings.FieldsSeq(string(text)) {
		ns, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all.Record(time.Duration(ns))
	}
	return all, nil
}

// floor returns a probe of the floor that runs a program, with a plugin whose calls take so long. It can run programs of some clients only.
func (b *workbench) floor(l load, preview bool, delay time.Duration) probe {
	args := []string{"-delay", delay.String()}
	if !preview {
		args = append(args, "-up")
	}
	args = append(args, b.executable("pulumi-resource-simple"))
	return b.timing(l, b.tool("floor"), append(args, frontOf(l.client).alone(b, preview)...)...)
}

// alone returns a probe of a program with a monitor that answers each registration at once.
func (b *workbench) alone(l load, preview bool) probe {
	return b.timing(l, b.tool("floor"), append([]string{"-bare"}, frontOf(l.client).alone(b, preview)...)...)
}

// yardstick returns the floor as the contender with which others are compared. Where it cannot run the program it runs a thin one with as many
// resources.
func (b *workbench) yardstick(l load, preview bool, delay time.Duration) runner.Contender {
	if l.client == "" || frontOf(l.client).alone == nil {
		l.client, l.shape = shape.ClientThin, cmp.Or(l.shape, shape.Wide)
		return runner.Contender{Subject: results.FloorThin, Probe: b.floor(l, preview, delay)}
	}
	return runner.Contender{Subject: results.Floor, Probe: b.floor(l, preview, delay)}
}

// empty is a process that does nothing, as the contender with which commands without resources are compared.
func (b *workbench) empty() runner.Contender {
	return runner.Contender{Subject: results.Empty, Probe: b.timing(load{shape: shape.Wide, client: shape.ClientThin}, b.tool("program"))}
}

// sluice returns a probe of a command of the command line on a stack.
func (b *workbench) sluice(stack string, l load, args ...string) probe {
	return b.timing(l, b.tool("sluice"), append(args, "--non-interactive", "--stack", stack)...)
}

// stack makes a missing stack.
func (b *workbench) stack(ctx context.Context, name string) error {
	return b.timing(load{}, b.tool("sluice"), "stack", "select", "--create", name, "--non-interactive").run(ctx)
}

// megabytes is the file that [workbench.fill] imports.
func (b *workbench) megabytes() string { return filepath.Join(b.directory, "megabytes.json") }

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
	if err := os.WriteFile(b.megabytes(), text, 0o644); err != nil {
		return 0, err
	}
	return len(resources), b.sluice(stack, load{}, "stack", "import", "--file", b.megabytes()).run(ctx)
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
	return f.link(ctx, b, directory)
}

// pulumi returns a probe of Pulumi's command line on a stack of its own.
func (b *workbench) pulumi(p peer, stack string, l load, s setting, args ...string) probe {
	return b.in(l, b.project(l.client), append(b.pulumiEnvironment(l), s.environment...), p.tool(), append(args, "--non-interactive", "--stack", stack)...)
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
	return b.in(load{}, b.project(shape.ClientThin), b.pulumiEnvironment(load{}), p.tool(), "stack", "select", "--create", stack, "--non-interactive").run(ctx)
}

// terraform returns a probe of Terraform or OpenTofu in a directory with a configuration. It uses no settings of the
// user.
func (b *workbench) terraform(p peer, directory string, args ...string) probe {
	environment := append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(b.directory, "terraform.rc"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=.terraform")
	return b.in(load{}, directory, environment, p.tool(), args...)
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
	return directory, b.timing(load{}, b.tool("sluice"), "stack", "init", yamlStack, "--non-interactive", "--cwd", directory).run(ctx)
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
	return directory, b.terraform(p, directory, "init", "-input=false", "-no-color").run(ctx)
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
