package processes

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sluice-iac/sluice/bench/shape"
)

// front defines how programs of a client run: the interpreter and the project.
type front struct {
	client      string
	interpreter string // a program on PATH; "" for none
	options     string // of the project: the rest of its runtime
	// install makes the folder dependencies, with those of the program, where in runs commands; nil does nothing.
	install      func(ctx context.Context, in func(name string, args ...string) error, sdk string) error
	dependencies string
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
			dependencies: "node_modules",
			install: func(_ context.Context, in func(name string, args ...string) error, sdk string) error {
				return in("npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--no-save", "@pulumi/pulumi@"+sdk)
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
			dependencies: "venv",
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

// link puts the dependencies of a program into its folder. They are installed once and kept in the user's cache, because that costs more than all runs of
// the program; where links need a permission, or there is no cache, they are installed in the folder itself.
func (f front) link(ctx context.Context, b *workbench, project string) error {
	cache, err := os.UserCacheDir()
	if runtime.GOOS == "windows" || err != nil {
		return f.installIn(ctx, b, project)
	}
	version, err := b.started(ctx, f.interpreter, "--version").Output()
	if err != nil {
		return fmt.Errorf("the version of %s, which runs a program for %s: %w", f.interpreter, f.client, err)
	}
	kept := filepath.Join(cache, "sluice-bench", fmt.Sprintf("%s-%s-%.8x", f.client, sdk, sha256.Sum256(version)))
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(kept + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	done := filepath.Join(kept, "installed")
	if _, err := os.Stat(done); err != nil {
		if err := os.RemoveAll(kept); err != nil { // an installation was interrupted
			return err
		}
		if err := os.Mkdir(kept, 0o700); err != nil {
			return err
		}
		if err := f.installIn(ctx, b, kept); err != nil {
			return err
		}
		if err := os.WriteFile(done, nil, 0o600); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join(kept, f.dependencies), filepath.Join(project, f.dependencies))
}

// installIn installs the dependencies of a program in a folder.
func (f front) installIn(ctx context.Context, b *workbench, directory string) error {
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
