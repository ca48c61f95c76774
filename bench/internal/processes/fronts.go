package processes

import (
	"context"
	"embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/bench/shape"
)

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
