package processes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

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
