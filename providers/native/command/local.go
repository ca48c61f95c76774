package command

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gobwas/glob"

	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

// outputPatience is how long output is read after a command has ended: a process that has left its group may keep the pipes
// open.
const outputPatience = 5 * time.Second

// local runs commands on this machine.
type local struct{ options native.Options }

// commandInputs returns the inputs of a resource or function that runs a command here.
func commandInputs() []native.Field {
	return []native.Field{
		previousOutput(),
		texts("archivePaths", "Patterns of the files that become the archive: the last one that fits a path counts, and ! leaves out."),
		texts("assetPaths", "Patterns of the files that become assets."),
		optional("dir", native.KindString, "The directory to run in; that of the program by default."),
		environment(),
		texts("interpreter", "The program and its first arguments, which gets the command as its last. The default is the system's shell."),
		logging("local"),
		optional("stdin", native.KindString, "What the command reads from its standard input."),
	}
}

func commandOutputs() []native.Field {
	return []native.Field{
		{Name: "archive", Type: native.Of(native.KindArchive), Derived: true, Doc: "The files that archivePaths name."},
		{
			Name: "assets", Type: native.MapOf(native.Of(native.KindAsset)), Derived: true,
			Doc: "The files that assetPaths name, by their paths relative to the directory.",
		},
		output("stderr"), output("stdout"),
	}
}

func (l *local) command() native.Resource {
	return living(native.Resource{
		Type: "command:local:Command", Doc: "Commands that are run on this machine when the resource is made, changed and deleted.",
		Inputs: append(commandInputs(), lifecycle()...), Computed: commandOutputs(),
	}, l.perform)
}

func (l *local) run() native.Function {
	command := native.Field{
		Name: "command", Type: native.Of(native.KindString), Required: true, Doc: "The command to run, in previews too.",
	}
	inputs := append(commandInputs(), command)
	return native.Function{
		Token: "command:local:run", Doc: "Runs a command on this machine, every time.",
		Inputs: inputs, Outputs: append(inputs[:len(inputs):len(inputs)], commandOutputs()...),
		Call: func(ctx context.Context, c native.Call) (native.Outputs, error) {
			return l.perform(ctx, c, c.Inputs.Text("command"))
		},
	}
}

// shell returns the default interpreter of commands.
func shell() []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/C"}
	}
	return []string{"/bin/sh", "-c"}
}

// perform runs a command to its end and collects its output and the files that it left.
func (l *local) perform(ctx context.Context, c native.Call, command string) (native.Outputs, error) {
	args := c.Inputs.Texts("interpreter")
	if len(args) == 0 {
		args = shell()
	}
	args = append(args, command)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = l.options.Path(c.Inputs.Text("dir"))
	cmd.Env = l.environment(c)
	if in := c.Inputs.Text("stdin"); in != "" {
		cmd.Stdin = strings.NewReader(in)
	}
	// The end of the context kills the command and everything that it started, not only its shell.
	cmd.Cancel = func() error { process.KillGroup(cmd.Process); return nil }
	cmd.WaitDelay = outputPatience
	o := newRecorder(c)
	cmd.Stdout, cmd.Stderr = o.writer("stdout"), o.writer("stderr")
	group, err := process.Start(cmd)
	if err == nil {
		err = cmd.Wait()
		group.Release()
	}
	o.flush()
	if err != nil {
		return nil, o.failure(ctx, command, err)
	}
	outputs := native.Outputs{"stdout": native.Text(o.text("stdout")), "stderr": native.Text(o.text("stderr"))}
	if c.Inputs.Has("assetPaths") {
		outputs["assets"], err = l.assets(cmd.Dir, c.Inputs.Texts("assetPaths"))
		if err != nil {
			return nil, err
		}
	}
	if c.Inputs.Has("archivePaths") {
		outputs["archive"], err = l.archive(cmd.Dir, c.Inputs.Texts("archivePaths"))
	}
	return outputs, err
}

// environment returns the engine's environment, the additions of the inputs, and the output of the previous command.
func (l *local) environment(c native.Call) []string {
	env := l.options.Environ()
	for name, v := range c.Inputs.TextMap("environment") {
		env = append(env, name+"="+v)
	}
	return append(env, previousVariables(c)...)
}

func previousVariables(c native.Call) []string {
	var out []string
	if !wantsPreviousOutput(c.Inputs) {
		return nil
	}
	for variable, name := range map[string]string{"PULUMI_COMMAND_STDOUT": "stdout", "PULUMI_COMMAND_STDERR": "stderr"} {
		if text := c.State.Text(name); text != "" {
			out = append(out, variable+"="+text)
		}
	}
	return out
}

func (l *local) assets(dir string, patterns []string) (property.Value, error) {
	files, err := matching(dir, patterns)
	members := native.Outputs{}
	for _, name := range files {
		members[name] = property.PathAsset(filepath.ToSlash(filepath.Join(dir, name)))
	}
	return native.Object(members), err
}

func (l *local) archive(dir string, patterns []string) (property.Value, error) {
	members, err := l.assets(dir, patterns)
	return property.MemberArchive(members.AsMap()), err
}

// matching returns the files below a directory that match the patterns, as paths with slashes. * matches any text without
// a slash, and ** any text. The patterns apply in their order; those with ! exclude files that others included.
func matching(dir string, patterns []string) ([]string, error) {
	rules := make([]*glob.Pattern, len(patterns))
	for i, p := range patterns {
		var err error
		if rules[i], err = glob.Compile(strings.TrimPrefix(p, "!"), '/'); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	if dir == "" {
		dir = "."
	}
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		chosen := false
		for i, rule := range rules {
			if rule.Match(path) {
				chosen = !strings.HasPrefix(patterns[i], "!")
			}
		}
		if chosen {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}
