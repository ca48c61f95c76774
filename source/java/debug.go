package java

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/stages"
)

// usualPort is the port to which editors connect by default.
const usualPort = 5005

// agent is the option that makes a JVM wait for a debugger at an address.
func agent(address string) string {
	return "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=" + address
}

// jdwp finds the place where a JVM waits. name is the name of the process in editors.
func jdwp(name string, log func(stages.LogMessage)) *direct.Debugger {
	return &direct.Debugger{
		Tool:    "Java",
		Listens: regexp.MustCompile(`^Listening for transport dt_socket at address: (\d+)$`),
		Config: func(_ string, port, _ int) map[string]any {
			return map[string]any{"name": name, "type": "java", "request": "attach", "hostName": "127.0.0.1", "port": port}
		},
		Log: log,
	}
}

// initScript makes Gradle start the program with an option, and changes nothing else.
const initScript = "allprojects { tasks.withType(JavaExec) { jvmArgs %q } }\n"

// await makes a build start its program so that it waits for a debugger at an address. The caller calls done when the program has ended.
func (b build) await(c *plugin.Command, address string, d *direct.Debugger) (done func(), err error) {
	before, intercept := c.Intercept, d.Interceptor()
	c.Intercept = func(pid int, line string) bool { return intercept(pid, line) || before != nil && before(pid, line) }
	done = func() {}
	switch b.tool {
	case maven: // runs the program in its own process
		options := strings.TrimSpace(os.Getenv("MAVEN_OPTS") + " " + agent(address))
		c.Environment = append(slices.Clip(c.Environment), "MAVEN_OPTS="+options)
	case gradle:
		script, err := direct.Script("Gradle", "sluice-debug-*.gradle", fmt.Appendf(nil, initScript, agent(address)))
		if err != nil {
			return nil, err
		}
		done = func() { _ = os.Remove(script) }
		c.Args = append([]string{"--init-script", script}, c.Args...)
	default:
		c.Args = append([]string{agent(address)}, c.Args...)
	}
	return done, nil
}
