package lock

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/state/store"
)

// Owner describes the process that has a lock. The first four fields are Pulumi's; it ignores the others.
type Owner struct {
	PID       int       `json:"pid"`
	Username  string    `json:"username"`
	Hostname  string    `json:"hostname"`
	Timestamp time.Time `json:"timestamp"`

	Tool      string `json:"tool,omitempty"`      // "sluice"
	Boot      string `json:"boot,omitempty"`      // of the machine; "" if it cannot be found out
	Start     string `json:"start,omitempty"`     // of the process, in units of the system
	Namespace string `json:"namespace,omitempty"` // in which the PID has its meaning
	Lease     Lease  `json:"lease,omitzero"`
}

// Lease is the information that the holder of a lock renews again and again while it holds it.
type Lease struct {
	Run       string    `json:"run"`                 // identifies one holding of the lock
	Operation string    `json:"operation,omitempty"` // a word for the purpose: "update"
	Renewed   time.Time `json:"renewed"`             // when the holder was last known to be alive, by its clock
	Seconds   int       `json:"seconds"`             // the time after which the holder treats a lock as lost that it cannot renew
	GivenUp   bool      `json:"givenUp,omitempty"`   // the holder has ended and has left something that the next holder completes: see [Lock.GiveUp]
}

// coversMoment reports whether a moment is within the duration of the lease after the last renewal. A moment that is earlier than the
// renewal by more than that comes from another clock.
func (l Lease) coversMoment(now time.Time) bool {
	return now.Sub(l.Renewed).Abs() <= time.Duration(l.Seconds)*time.Second
}

// Tool is the name of the tool in sluice's locks.
const Tool = "sluice"

// Self describes this process. Unknown fields are left empty.
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

// session is the text of the owner for a store that lists sessions: it is known before the lock file is. The number of the
// process comes first, because the text may be cut off.
func (o Owner) session() string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, fmt.Sprintf("pid %d %s@%s", o.PID, o.Username, o.Hostname))
	return text[:min(len(text), store.MaxHolder)]
}

// ofSession returns the owner with this session text. known is false for a text of another form.
func ofSession(s store.Session) (o Owner, known bool) {
	who, is := strings.CutPrefix(s.Holder, "pid ")
	number, who, _ := strings.Cut(who, " ")
	pid, err := strconv.Atoi(number)
	if !is || err != nil {
		return Owner{}, false
	}
	o = Owner{PID: pid, Username: who, Timestamp: s.Since, Tool: Tool}
	if at := strings.LastIndexByte(who, '@'); at >= 0 {
		o.Username, o.Hostname = who[:at], who[at+1:]
	}
	return o, true
}

// life returns whether the owner is alive. It is dead if it certainly has ended: it ran on this machine, since it was
// booted, and its PID is free or belongs to another process by now. It is alive if all of that is known and the process
// exists.
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
