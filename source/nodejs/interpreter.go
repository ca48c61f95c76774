package nodejs

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// The interpreters.
const (
	node = "node"
	bun  = "bun" // which loads TypeScript itself, and has none of node's options
)

// interpreterOf returns the name of the interpreter of a project.
func interpreterOf(p source.Project) string {
	if p.Runtime == bun {
		return bun
	}
	return node
}

// process is an interpreter with its arguments.
type process struct {
	executable string
	args, env  []string
	debugger   *direct.Debugger
	done       func() // for when it has ended
}

// executableOf finds the interpreter of a project. what names in messages what it is for.
func executableOf(p source.Project, what string) (string, error) {
	name := interpreterOf(p)
	executable, err := exec.LookPath(name)
	switch {
	case err != nil && name == bun:
		return "", fmt.Errorf("bun was not found on your $PATH, and %s needs it; install it with `npm install -g bun`", what)
	case err != nil:
		return "", fmt.Errorf("node was not found on your $PATH, and %s needs it; %s", what, direct.HowToGet("Node.js", "nodejs npm", "node"))
	}
	return executable, nil
}

// prepare returns how an interpreter runs something. what names it in messages. If debug is not nil, it waits for a debugger at an
// address.
func prepare(p source.Project, what, address string, debug func(stages.LogMessage), args ...string) (process, error) {
	executable, err := executableOf(p, what)
	if err != nil {
		return process{}, err
	}
	x := process{executable: executable, args: args, done: func() {}}
	if interpreterOf(p) == bun {
		x.args = append([]string{"run"}, args...)
		if debug != nil {
			x.args = append([]string{"--inspect-wait=" + address}, x.args...)
			x.debugger = bunInspector(what, debug)
		}
		return x, nil
	}
	first, err := writePreload()
	if err != nil {
		return process{}, err
	}
	x.done = func() { _ = os.Remove(first) }
	x.args = append(append([]string{"--require", first}, nodeArguments(p.Options["nodeargs"])...), args...)
	x.env = options(p)
	if debug != nil {
		x.args = append([]string{"--inspect-brk=" + address}, x.args...)
		x.debugger = inspector(what, debug)
	}
	return x, nil
}

// bunInspector recognizes where bun waits.
func bunInspector(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "bun",
		Listens: regexp.MustCompile(`^\s*ws://127\.0\.0\.1:(\d+)/`),
		Noise:   regexp.MustCompile(`^(-+ Bun Inspector -+|Listening:|Inspect in browser:|\s*https://debug\.bun\.sh/.*)$`),
		Config: func(port, _ int) map[string]any {
			return map[string]any{"name": name, "type": "bun", "request": "attach", "url": fmt.Sprintf("ws://127.0.0.1:%d", port)}
		},
		Log: log,
	}
}
