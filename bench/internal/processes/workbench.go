package processes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/sluice-iac/sluice/bench/internal/meter"
	"github.com/sluice-iac/sluice/bench/shape"
)

// workbench is a temporary directory with the executables and the project that processes are measured with.
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
	packages := []string{"cmd/sluice", "providers/internal/pulumi-resource-simple", "bench/program", "bench/floor"}
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
		return nil, fmt.Errorf("building what is measured: %w\n%s", err, out)
	}
	if err := b.makeProject(); err != nil {
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

func (b *workbench) project() string { return filepath.Join(b.directory, "project") }

func (b *workbench) makeProject() error {
	for _, d := range []string{"project", "state", "home"} {
		if err := os.Mkdir(filepath.Join(b.directory, d), 0o755); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("name: bench\nruntime:\n  name: go\n  options:\n    binary: %q\n", b.executable("program"))
	return os.WriteFile(filepath.Join(b.project(), "Pulumi.yaml"), []byte(text), 0o644)
}

// load describes what a program process declares.
type load struct {
	shape, client string
	size          int
}

func (b *workbench) environment(l load) []string {
	return append(os.Environ(),
		"PATH="+filepath.Join(b.directory, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"PULUMI_HOME="+filepath.Join(b.directory, "home"),
		"PULUMI_BACKEND_URL=file://"+filepath.ToSlash(filepath.Join(b.directory, "state")),
		"PULUMI_CONFIG_PASSPHRASE=benchmark", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_STACK=",
		shape.EnvShape+"="+l.shape, shape.EnvClient+"="+l.client, fmt.Sprintf("%s=%d", shape.EnvSize, l.size))
}

// probe is one run of what is measured.
type probe func(ctx context.Context) (meter.Reading, error)

// timing returns a probe of one process in the project.
func (b *workbench) timing(l load, executable string, args ...string) probe {
	return b.in(b.project(), b.environment(l), executable, args...)
}

// in returns a probe of one process in a directory.
func (b *workbench) in(directory string, environment []string, executable string, args ...string) probe {
	return func(ctx context.Context) (meter.Reading, error) {
		cmd := exec.CommandContext(ctx, executable, args...)
		cmd.Dir, cmd.Env = directory, environment
		return meter.Process(cmd)
	}
}

// then returns a probe that measures the first one alone and runs the others after it.
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

// after returns a probe that measures it alone and runs the others before it.
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

// floor returns a probe of the floor.
func (b *workbench) floor(l load, flags ...string) probe {
	args := append(flags, b.executable("pulumi-resource-simple"), b.executable("program"))
	return b.timing(l, b.executable("floor"), args...)
}

// sluice returns a probe of a command of the command line on a stack.
func (b *workbench) sluice(stack string, l load, args ...string) probe {
	return b.timing(l, b.executable("sluice"), append(args, "--non-interactive", "--stack", stack)...)
}

// stack makes a stack, unless it is there.
func (b *workbench) stack(ctx context.Context, name string) error {
	_, err := b.timing(load{}, b.executable("sluice"), "stack", "select", "--create", name, "--non-interactive")(ctx)
	return err
}
