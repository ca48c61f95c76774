package nodejs

import (
	"regexp"

	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// usualPort is where editors and browsers look for programs that wait for a debugger.
const usualPort = 9229

// inspector recognizes where node waits. name is what editors call the process.
func inspector(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "Node.js",
		Listens: regexp.MustCompile(`^Debugger listening on ws://127\.0\.0\.1:(\d+)/`),
		Noise:   regexp.MustCompile(`^(For help, see: https://nodejs\.org/|Debugger attached\.$|Debugger ending on )`),
		Config: func(port, pid int) map[string]any {
			return map[string]any{
				"name": name, "type": "node", "request": "attach", "address": "127.0.0.1", "port": port, "processId": pid,
				"continueOnAttach": true, "skipFiles": []any{"<node_internals>/**"},
			}
		},
		Log: log,
	}
}
