package processes

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/sluice-iac/sluice/bench/shape"
)

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

// sdk is the version of Pulumi's SDK for Node.js and Python. Not every version is published for every language: it is the newest that both have and
// that is not newer than the SDK for Go of this module.
const sdk = "3.270.0"
