package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// installer installs what a program needs, with the tool that people of its language use.
type installer struct {
	steps   [][]string // command lines
	install string     // what to install if the tool is missing
}

// installer returns how the packages of the project's program are installed, nil when nothing has to be.
func (n *creation) installer() (*installer, error) {
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

// install installs what the program needs. The working directory is that of the project.
func (n *creation) install(ctx context.Context) error {
	tool, err := n.installer()
	if err != nil {
		return err
	}
	if tool == nil {
		return nil
	}
	for _, step := range tool.steps {
		if err := n.runInstaller(ctx, tool, step); err != nil {
			return err
		}
	}
	return nil
}

func (n *creation) runInstaller(ctx context.Context, tool *installer, step []string) error {
	line := strings.Join(step, " ")
	again := fmt.Sprintf("the project and the stack are made; run `%s` in %s before `sluice up`", line, n.directory)
	fmt.Fprintf(n.Out, "Installing what the program needs: %s\n", line)
	cmd := exec.CommandContext(ctx, step[0], step[1:]...)
	cmd.Stdout, cmd.Stderr = n.Out, n.Err
	switch err := cmd.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s was not found on your $PATH: install %s\n%s", step[0], tool.install, again)
	case err != nil:
		return fmt.Errorf("`%s` failed: %w\n%s", line, err, again)
	}
	return nil
}

// checkRuntime warns if there is nothing that runs the program.
func (n *creation) checkRuntime() error {
	project, err := findProject()
	if err != nil {
		return err
	}
	home, err := sluice.Home(n.Lookup)
	if err != nil {
		return err
	}
	program, err := sluice.NewProgram(
		sluice.ProgramFiles{Runtime: project.Runtime, Options: project.RuntimeOptions, Root: n.directory, Directory: n.directory, Entry: "."},
		sluice.PluginOptions{Home: home, LookupEnv: n.Lookup, ProjectPlugins: projectPlugins(project)})
	if err != nil {
		n.Warn("%v", err)
		return nil
	}
	return program.Close()
}
