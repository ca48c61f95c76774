package process

import (
	"os"
	"os/exec"
	"sync"
)

// Group is a process that leads a group of its own: what it starts belongs to the group unless it leaves. An interrupt at
// the terminal does not reach the group.
type Group struct {
	leader *os.Process

	mu       sync.Mutex // guards what follows
	guard    guard
	released bool
}

// Start starts a command as the leader of a group. The group is killed when this process dies. The caller waits for the
// command and then calls [Group.Release]. It sets c.Env and c.SysProcAttr.
//
// A guard that cannot be started, as on a system without a shell, is no error: [EndOrphans] remains.
func Start(c *exec.Cmd) (*Group, error) {
	c.Env = append(c.Environ(), mark())
	own(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	return &Group{leader: c.Process, guard: guardGroup(c.Process)}, nil
}

// Interrupt asks the group to end.
func (g *Group) Interrupt() { InterruptGroup(g.leader) }

// Kill ends the group. One that has ended is no error. It does nothing after Release: the group's number may belong to another
// one then.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		g.guard.kill(g.leader)
	}
}

// Release ends the guard. It is called once, when the leader has ended and been waited for. What the leader has left in the
// background stays: see Kill.
func (g *Group) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
	g.guard.dismiss()
}
