package lock

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/internal/platform/process"
)

// Machine describes the machine on which a lock's process runs.
type Machine interface {
	// Now is the time by the machine's clock, which may be wrong, and may be set.
	Now() time.Time
	// Self describes the process.
	Self() Owner
	// Life reports whether a process with a lock is alive, as far as this machine can find out.
	Life(o Owner) Life
	// EndOrphans ends the processes that a dead process has started there and that still run, and returns their names, for
	// people.
	EndOrphans(ctx context.Context, o Owner) (ended string, err error)
}

// thisMachine is the one that this process runs on.
type thisMachine struct{}

func (thisMachine) Now() time.Time { return time.Now() }

func (thisMachine) Self() Owner { return Self() }

func (thisMachine) Life(o Owner) Life { return o.life() }

func (thisMachine) EndOrphans(ctx context.Context, o Owner) (string, error) {
	ended, err := process.EndOrphans(ctx, o.PID, o.Start)
	return process.Names(ended), err
}

// moment is a point in time by two clocks. The clock of wall goes on while the machine is suspended, and may be set; for
// the clock of running the reverse holds.
type moment struct{ wall, running time.Time }

func momentOf(m Machine) moment { return moment{m.Now().Round(0), time.Now()} }

// age is the time since the moment: the longer one by the two clocks.
func (m moment) age(on Machine) time.Duration {
	now := momentOf(on)
	return max(now.wall.Sub(m.wall), now.running.Sub(m.running))
}
