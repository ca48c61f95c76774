package lock

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	o.Start = startOf(o.PID)
	o.Namespace, _ = os.Readlink("/proc/self/ns/pid")
	return o
}

// IsDead tells whether the owner has certainly ended: it ran on this machine, since it was booted, and its PID is free
// or belongs to another process by now. In doubt the owner is alive.
func (o Owner) IsDead(self Owner) bool {
	if o.Hostname != self.Hostname || o.Boot == "" || o.Boot != self.Boot || o.Namespace != self.Namespace || o.PID <= 0 {
		return false
	}
	process, err := os.FindProcess(o.PID)
	if err != nil {
		return false
	}
	err = process.Signal(syscall.Signal(0))
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	now := startOf(o.PID)
	return o.Start != "" && now != "" && now != o.Start
}

// startOf returns when a process started, as a text to compare; "" where that cannot be found out.
func startOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the command in parentheses and may contain anything; the start is the 20th after it.
	i := strings.LastIndexByte(string(b), ')')
	fields := strings.Fields(string(b[i+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
