package nodejs

import (
	"regexp"
	"strings"

	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// usualPort is the port to which editors and browsers connect by default.
const usualPort = 9229

// inspector finds the place where node waits. name is the name of the process in editors.
func inspector(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "Node.js",
		Listens: regexp.MustCompile(`^Debugger listening on ws://127\.0\.0\.1:(\d+)/`),
		Noise:   regexp.MustCompile(`^(For help, see: https://nodejs\.org/|Debugger attached\.$|Debugger ending on )`),
		Config: func(_ string, port, pid int) map[string]any {
			return map[string]any{
				"name": name, "type": "node", "request": "attach", "address": "127.0.0.1", "port": port, "processId": pid,
				"continueOnAttach": true, "skipFiles": []any{"<node_internals>/**"},
			}
		},
		Log: log,
	}
}

// bunInspector finds the place where bun waits: an address with an unpredictable path.
func bunInspector(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "bun",
		Listens: regexp.MustCompile(`^\s*ws://127\.0\.0\.1:(\d+)/`),
		Noise:   regexp.MustCompile(`^(-+ Bun Inspector -+|Listening:|Inspect in browser:|\s*https://debug\.bun\.sh/.*)$`),
		Config: func(line string, _, _ int) map[string]any {
			return map[string]any{"name": name, "type": "bun", "request": "attach", "url": strings.TrimSpace(line)}
		},
		Log: log,
	}
}
