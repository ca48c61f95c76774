package direct

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Version returns the version of a tool on the PATH, which the arguments make it print.
func Version(ctx context.Context, directory, name string, args ...string) (tooling.Tool, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return tooling.Tool{}, fmt.Errorf("%s was not found on your $PATH", name)
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: name, Executable: path, Args: args, Directory: directory, Environment: os.Environ(),
	})
	if err != nil {
		return tooling.Tool{}, err
	}
	if exit.Code != 0 {
		return tooling.Tool{}, fmt.Errorf("%s ended with %s: %s", name, exit.Status, firstLine(stderr))
	}
	text := firstLine(stdout)
	if text == "" {
		text = firstLine(stderr) // old versions of Java and Python print it there
	}
	return tooling.Tool{Name: name, Version: text, Path: path}, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// HowToGet returns the instruction to install a tool, with its packages for the package managers of Debian and Homebrew.
func HowToGet(tool, debian, brew string) string {
	return fmt.Sprintf("install %s (on Debian and Ubuntu: `apt-get install %s`, on macOS: `brew install %s`)", tool, debian, brew)
}

// Install runs a package manager in a directory, with more variables in its environment. If the package manager is missing, the error
// contains the instruction install. said, which may be nil, receives the output without control sequences, and without lines that consist
// of nothing else.
func Install(ctx context.Context, directory string, more []string, said func(plugin.Line), install, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s was not found on your $PATH; %s", name, install)
	}
	exit, err := plugin.Run(ctx, plugin.Command{
		Name: name, Executable: path, Args: args, Directory: directory, Environment: append(os.Environ(), more...),
		Output: func(l plugin.Line) {
			text := terminal.Plain(l.Text)
			if said != nil && (text != "" || l.Text == "") {
				l.Text = text
				said(l)
			}
		},
	})
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return fmt.Errorf("`%s %s` in %s ended with %s", name, strings.Join(args, " "), directory, exit.Status)
	}
	return nil
}

// Script writes a script for an interpreter into a temporary file. pattern is that of [os.CreateTemp]. The caller removes the file.
func Script(interpreter, pattern string, content []byte) (path string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("prepare %s: %w", interpreter, err)
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("prepare %s: %w", interpreter, err)
	}
	return f.Name(), nil
}

// Below returns the output of a tool, to be appended to a sentence about its failure; "" if there is none.
func Below(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return ". It said:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
}
