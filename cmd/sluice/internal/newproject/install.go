package newproject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// installer installs the packages of a program, with the usual tool of its language.
type installer struct {
	steps   [][]string // command lines
	install string     // what to install if the tool is missing
}

// installerOf returns the installer for the packages of the project's program, nil if it needs none.
func installerOf(n *creation) (*installer, error) {
	project, err := workspace.ReadProject(filepath.Join(n.directory, "Pulumi.yaml"))
	if err != nil {
		return nil, err
	}
	option := func(name, otherwise string) string {
		if text, ok := project.RuntimeOptions[name].(string); ok && text != "" {
			return text
		}
		return otherwise
	}
	switch project.Runtime {
	case "nodejs":
		if there(n.directory, "package.json") {
			manager := option("packagemanager", "npm")
			return &installer{steps: [][]string{{manager, "install"}}, install: "Node.js with " + manager}, nil
		}
	case "go":
		if there(n.directory, "go.mod") {
			return &installer{steps: [][]string{{"go", "mod", "tidy"}}, install: "Go"}, nil
		}
	case "python":
		if there(n.directory, "requirements.txt") && option("toolchain", "pip") == "pip" {
			venv := option("virtualenv", "venv")
			return &installer{
				steps: [][]string{
					{"python3", "-m", "venv", venv},
					{filepath.Join(venv, "bin", "python"), "-m", "pip", "install", "-r", "requirements.txt"},
				},
				install: "Python 3",
			}, nil
		}
	}
	return nil, nil
}

func there(directory, name string) bool {
	_, err := os.Stat(filepath.Join(directory, name))
	return err == nil
}

// install installs the packages of the program. The working directory is that of the project.
func install(ctx context.Context, n *creation) error {
	tool, err := installerOf(n)
	if err != nil {
		return err
	}
	if tool == nil {
		return nil
	}
	for _, step := range tool.steps {
		if err := runInstaller(ctx, n, tool, step); err != nil {
			return err
		}
	}
	return nil
}

func runInstaller(ctx context.Context, n *creation, tool *installer, step []string) error {
	line := strings.Join(step, " ")
	again := fmt.Sprintf("the project and the stack are made; run `%s` in %s before `sluice up`", line, n.directory)
	fmt.Fprintf(n.terminal.Out, "Installing what the program needs: %s\n", line)
	cmd := exec.CommandContext(ctx, step[0], step[1:]...)
	cmd.Stdout, cmd.Stderr = n.terminal.Out, n.terminal.Err
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s was not found on your $PATH: install %s\n%s", step[0], tool.install, again)
	case err != nil:
		return fmt.Errorf("`%s` failed: %w\n%s", line, err, again)
	}
	return nil
}
