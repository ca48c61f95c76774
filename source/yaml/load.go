package yaml

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/stages"
)

// written is the text of a program.
type written struct {
	name    string // of the file, or "output of" the command that wrote the text
	content string
	remarks string // the error output of that command
}

// text returns the text of the program (protocol.md 11.1).
func (p *Program) text(ctx context.Context, info stages.RunInfo) (written, error) {
	if p.options.Text != "" {
		return written{name: "program", content: p.options.Text}, nil
	}
	if command := p.project.Option("compiler"); command != "" {
		return p.compile(ctx, command, info)
	}
	names := []string{"Main.json", "Main.yaml", "Pulumi.yaml", "Pulumi.yml", "Pulumi.json"}
	if entry := p.project.Entry; entry != "" && entry != "." {
		names = []string{entry, entry + ".yaml", entry + ".yml", entry + ".json"}
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(p.project.Directory, name))
		if err == nil {
			return written{name: name, content: string(b)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return written{}, fmt.Errorf("read the program: %w", err)
		}
	}
	return written{}, fmt.Errorf("%s: none of %s is in %s", p.project.Program(), strings.Join(names, ", "), p.project.Directory)
}

// compile runs the command that writes the program to its standard output.
func (p *Program) compile(ctx context.Context, command string, info stages.RunInfo) (written, error) {
	words, err := shellquote.Split(command)
	if err != nil || len(words) == 0 {
		return written{}, fmt.Errorf("the compiler %q is not a command line: %w", command, cmp.Or(err, errors.New("it is empty")))
	}
	config := info.Config
	if config == nil {
		config = map[string]string{}
	}
	values, err := json.Marshal(config)
	if err != nil {
		return written{}, fmt.Errorf("encode the configuration: %w", err)
	}
	stdout, stderr, exit, err := plugin.Output(ctx, plugin.Command{
		Name: words[0], Executable: words[0], Args: words[1:], Directory: p.project.Directory,
		Environment: append(os.Environ(), "PULUMI_STACK="+info.Stack, "PULUMI_ORGANIZATION="+info.Organization,
			"PULUMI_PROJECT="+info.Project, "PULUMI_CONFIG="+string(values), "PULUMI_ROOT_DIRECTORY="+p.project.Root),
	})
	if err != nil {
		return written{}, fmt.Errorf("run the compiler %q: %w", command, err)
	}
	if exit.Code != 0 {
		return written{}, fmt.Errorf("the compiler %q ended with %s:\n%s", command, exit.Status,
			cmp.Or(strings.TrimSpace(stderr), "it wrote nothing"))
	}
	return written{name: "output of " + words[0], content: stdout, remarks: strings.TrimSpace(stderr)}, nil
}
