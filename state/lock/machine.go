package lock

import (
	"context"
	"time"

	"github.com/sluice-iac/sluice/internal/process"
)

// Machine is what a lock has to know of where its process runs.
type Machine interface {
	// Now is the time by the machine's clock, which may be wrong, and may be set.
	Now() time.Time
	// Self describes the process.
	Self() Owner
	// Life says what is known there of a process that has a lock.
	Life(o Owner) Life
	// EndOrphans ends what a dead process has started there and still works, and returns the names of that, for people.
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

// moment is a point in time by two clocks. One goes on while the machine is suspended, and may be set; of the other one the
// reverse holds.
type moment struct{ wall, running time.Time }

func momentOf(m Machine) moment { return moment{m.Now().Round(0), time.Now()} }

// age is how long ago the moment was: at least as long as either clock says.
func (m moment) age(on Machine) time.Duration {
	now := momentOf(on)
	return max(now.wall.Sub(m.wall), now.running.Sub(m.running))
}
