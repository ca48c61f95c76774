package process

import (
	"os"
	"os/exec"
	"sync"
)

// Group is a process that leads a process group: its descendants belong to the group unless they leave it. An interrupt at the
// terminal does not reach the group.
type Group struct {
	leader *os.Process

	mu       sync.Mutex // guards the rest
	guard    guard
	released bool
}

// Start starts a command as the leader of a group. The group is killed when this process dies. The caller waits for the
// command and then calls [Group.Release]. It sets c.Env and c.SysProcAttr.
//
// If a guard cannot be started, as on a system without a shell, that is not an error: [EndOrphans] remains.
func Start(c *exec.Cmd) (*Group, error) {
	c.Env = append(c.Environ(), mark())
	Lead(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &Group{leader: c.Process, guard: guardGroup(c.Process)}, nil
}

// Interrupt sends the group an interrupt.
func (g *Group) Interrupt() { InterruptGroup(g.leader) }

// Kill kills the group. It does nothing if the group has ended, or after Release, when the group's number may belong to
// another group.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		g.guard.kill(g.leader)
	}
}

// Release ends the guard. Call it once, when the leader has ended and been waited for. Background processes of the leader go
// on: see Kill.
func (g *Group) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
	g.guard.dismiss()
}
