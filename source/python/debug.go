package python

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// usualPort is the port to which editors connect by default.
const usualPort = 5678

// debugged is a process that waits for a debugger.
type debugged struct {
	script    string // a file, which the caller removes
	arguments []string
	debugger  *direct.Debugger
}

// debug returns the process in which a file, or a module after "-m", waits for a debugger at an address. The package debugpy must be
// installed in the environment. name is the name of the process in editors.
func (e environment) debug(ctx context.Context, p source.Project, name, address string, log func(stages.LogMessage), arguments ...string) (debugged, error) {
	_, _, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "python", Executable: e.python, Args: []string{"-c", "import debugpy"}, Directory: p.Directory,
		Environment: append(os.Environ(), e.variables(nil)...),
	})
	if err != nil {
		return debugged{}, err
	}
	if exit.Code != 0 {
		return debugged{}, fmt.Errorf("the debugger debugpy is not installed for %s; install it with %s", e.python, e.adds("debugpy"))
	}
	script, err := direct.Script("python", "sluice-debug-*.py", debugScript)
	if err != nil {
		return debugged{}, err
	}
	return debugged{
		script: script,
		// Without the option, a debugger could not step into the modules that are part of the interpreter, and debugpy would complain.
		arguments: append([]string{"-Xfrozen_modules=off", "-u", script, address}, arguments...),
		debugger: &direct.Debugger{
			Tool:    "Python",
			Listens: regexp.MustCompile(`^debugpy listens on 127\.0\.0\.1:(\d+)$`),
			Config: func(_ string, port, _ int) map[string]any {
				return map[string]any{
					"name": name, "type": "python", "request": "attach", "justMyCode": true,
					"connect": map[string]any{"host": "127.0.0.1", "port": port},
				}
			},
			Log: log,
		},
	}, nil
}

// adds returns the command that adds a package to an environment.
func (e environment) adds(name string) string {
	switch e.toolchain {
	case uv:
		return "`uv add " + name + "`"
	case poetry:
		return "`poetry add " + name + "`"
	}
	return fmt.Sprintf("`%s -m pip install %s`", e.python, name)
}
