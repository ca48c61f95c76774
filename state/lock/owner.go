package lock

import (
	"errors"
	"os"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-iac/sluice/internal/process"
)

// Owner describes the process that has a lock. The first four fields are Pulumi's; it ignores the others.
type Owner struct {
	PID       int       `json:"pid"`
	Username  string    `json:"username"`
	Hostname  string    `json:"hostname"`
	Timestamp time.Time `json:"timestamp"`

	Tool      string `json:"tool,omitempty"`      // "sluice"
	Boot      string `json:"boot,omitempty"`      // of the machine; "" where that cannot be found out
	Start     string `json:"start,omitempty"`     // of the process, in units of the system
	Namespace string `json:"namespace,omitempty"` // in which the PID has its meaning
	Lease     Lease  `json:"lease,omitzero"`
}

// Lease is what the holder of a lock writes of itself, again and again, while it holds it.
type Lease struct {
	Run       string    `json:"run"`                 // identifies one holding of the lock
	Operation string    `json:"operation,omitempty"` // what it is held for, in a word: "update"
	Renewed   time.Time `json:"renewed"`             // when the holder was last known to be alive, by its clock
	Seconds   int       `json:"seconds"`             // after which the holder treats a lock as lost that it cannot renew
}

// Tool is the name that sluice's locks carry.
const Tool = "sluice"

// Self describes this process. What cannot be found out is left empty.
func Self() Owner {
	o := Owner{PID: os.Getpid(), Timestamp: time.Now(), Tool: Tool}
	if u, err := user.Current(); err == nil {
		o.Username = u.Username
	}
	o.Hostname, _ = os.Hostname()
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	o.Boot = strings.TrimSpace(string(b))
	o.Start = process.StartOf(o.PID)
	o.Namespace, _ = os.Readlink("/proc/self/ns/pid")
	return o
}

// life reports whether the owner has certainly ended: it ran on this machine, since it was booted, and its PID is free or
// belongs to another process by now. It is alive when all of that is known and the process is there.
func (o Owner) life() Life {
	self := Self()
	if o.Hostname != self.Hostname || o.Boot == "" || o.Boot != self.Boot || o.Namespace != self.Namespace || o.PID <= 0 {
		return LifeUnknown
	}
	p, err := os.FindProcess(o.PID)
	if err != nil {
		return LifeUnknown
	}
	err = p.Signal(syscall.Signal(0))
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return Dead
	}
	now := process.StartOf(o.PID)
	switch {
	case o.Start == "" || now == "":
		return LifeUnknown
	case now != o.Start:
		return Dead
	}
	return Alive
}
