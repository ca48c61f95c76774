package direct

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
)

// Debugger finds in the output of a process the place where it waits for a debugger. It is safe for concurrent use.
type Debugger struct {
	// Tool is the name of the waiting tool in messages: "Node.js".
	Tool string
	// Listens matches the line with the port, which is its first group. Noise matches the lines around that line; nil matches nothing.
	Listens, Noise *regexp.Regexp
	// Config returns the configuration with which an editor attaches. line is the line with the port.
	Config func(line string, port, pid int) map[string]any
	// Found is called when the port is known; nil does nothing.
	Found func(port int)
	// Log receives the message that the process waits.
	Log func(stages.LogMessage)

	mu    sync.Mutex // guards known
	known []int      // ports
}

// Interceptor returns the function that takes the lines about the debugger, for plugin.Command.Intercept. It is nil if there is no
// debugger.
func (d *Debugger) Interceptor() func(pid int, line string) bool {
	if d == nil {
		return nil
	}
	return d.intercept
}

func (d *Debugger) intercept(pid int, line string) bool {
	line = terminal.Plain(line)
	m := d.Listens.FindStringSubmatch(line)
	if m == nil {
		return d.Noise != nil && d.Noise.MatchString(line)
	}
	port, err := strconv.Atoi(m[1])
	if err != nil {
		return false
	}
	if !d.learn(port) { // a JVM listens again after a debugger has left, and continues
		return true
	}
	if d.Found != nil {
		d.Found(port)
	}
	d.Log(tooling.Waiting(fmt.Sprintf("%s at 127.0.0.1:%d, process id %d", d.Tool, port, pid), d.Config(line, port, pid)))
	return true
}

// learn adds a port, and reports whether it is new.
func (d *Debugger) learn(port int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.known, port) {
		return false
	}
	d.known = append(d.known, port)
	return true
}

// DebugAddress returns the address at which a process is to wait for a debugger. It has the usual port, to which editors connect by
// default, if that is free. Otherwise the port is 0, and the process chooses one. Only one process at a time may use DebugAddress.
func DebugAddress(usual int) string {
	address := fmt.Sprintf("127.0.0.1:%d", usual)
	l, err := net.Listen("tcp", address)
	if err != nil {
		return AnyDebugAddress
	}
	_ = l.Close()
	return address
}

// AnyDebugAddress is the address for processes that may not use the usual port.
const AnyDebugAddress = "127.0.0.1:0"
