package nodejs

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// The interpreters.
const (
	node = "node"
	bun  = "bun" // loads TypeScript itself, and has none of node's options
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
	done       func() // to be called after its end
}

// executableOf finds the interpreter of a project. what describes its purpose in messages.
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

// waiting defines where a process waits for a debugger.
type waiting struct {
	address string
	log     func(stages.LogMessage) // nil for a process that does not wait
}

// prepare returns the process in which the interpreter of a project runs with arguments. name is the name of the process in editors. compiled is
// the folder of the compile cache, "" for none.
func prepare(p source.Project, executable, name, compiled string, debug waiting, args ...string) (process, error) {
	x := process{executable: executable, args: args, done: func() {}}
	if interpreterOf(p) == bun {
		x.args = append([]string{"run"}, args...)
		if debug.log != nil {
			x.args = append([]string{"--inspect-wait=" + debug.address}, x.args...)
			x.debugger = bunInspector(name, debug.log)
		}
		return x, nil
	}
	first, err := writePreload(compiled)
	if err != nil {
		return process{}, err
	}
	x.done = func() { _ = os.Remove(first) }
	// One argument, not two: the SDK takes a lone --require for a loader of the program's own, and then loads no TypeScript as ES modules.
	x.args = append(append([]string{"--require=" + first}, nodeArguments(p.Options["nodeargs"])...), args...)
	x.env = options(p)
	if debug.log != nil {
		x.args = append([]string{"--inspect-brk=" + debug.address}, x.args...)
		x.debugger = inspector(name, debug.log)
	}
	return x, nil
}
