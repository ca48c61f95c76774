package modelcheck

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

var deep = flag.Int("deep", 0, "let processes be interrupted this many times more")

// TestMain runs one goroutine at a time, as the scheduler does anyway: it is three times as fast.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// pauses are long enough for the timers of a process: the renewal of its lease and a checkpoint, and the end of its lease.
var pauses = []time.Duration{31 * time.Second, 70 * time.Second}

// scenarios are the explored scenarios, by name. Together they take minutes on one core, and seconds within smaller bounds.
var scenarios = map[string]scenario{
	"two engines, one is killed": {
		setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 1, preemptions: 2},
	},
	"two engines with two creates, one is killed": {
		setting: setting{conditional: true, creates: []string{"a", "b"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 1, preemptions: 0},
	},
	"two engines are killed": {
		setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 2, preemptions: 1},
	},
	"what a killed engine has sent arrives late": {
		setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 2, late: 1},
	},
	"a reply is lost": {
		setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 1, replies: 1},
	},
	"an update is killed, and undone": {
		setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){setTo(1), setTo(0), readPending},
		budget: budget{crashes: 1},
	},
	"two updates to different values are killed": {
		setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){setTo(1), setTo(2)},
		budget: budget{crashes: 2, preemptions: 1},
	},
	"a delete is killed, and another engine needs nothing": {
		setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){removeAll, setTo(0)},
		budget: budget{crashes: 1, preemptions: 2},
	},
	"a delete and a recovery are killed": {
		setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){removeAll, readPending},
		budget: budget{crashes: 2, preemptions: 1},
	},
	"an update on another machine is killed, and its lock removed": {
		setting: setting{conditional: true, elsewhere: true, exist: []string{"a"}}, processes: []func(*process){setTo(1), cancel(false), setTo(0)},
		budget: budget{crashes: 1, preemptions: 1},
	},
	"a database, an update and a delete are killed": {
		setting: setting{onServer: true, exist: []string{"a"}}, processes: []func(*process){setTo(1), removeAll},
		budget: budget{crashes: 2, preemptions: 1},
	},
	"time passes": {
		setting: setting{conditional: true, creates: []string{"a"}, pauses: pauses}, processes: []func(*process){update, update},
		budget: budget{preemptions: 1, pauses: 1},
	},
	"an engine on another machine is killed, and its lock removed": {
		setting: setting{conditional: true, elsewhere: true, creates: []string{"a"}}, processes: []func(*process){update, cancel(false), update},
		budget: budget{crashes: 1, preemptions: 1},
	},
	"the lock of an engine that works is removed": {
		setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update, cancel(true), update},
		budget: budget{preemptions: 2},
	},
	"a database, one engine is killed": {
		setting: setting{onServer: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		budget: budget{crashes: 1, preemptions: 2},
	},
	"a database, and leases that are over": {
		setting: setting{onServer: true, elsewhere: true, creates: []string{"a"}, pauses: pauses[1:]}, processes: []func(*process){update, update},
		budget: budget{crashes: 1, pauses: 1},
	},
	"a database, and a session that is lost": {
		setting: setting{onServer: true, elsewhere: true, creates: []string{"a"}, pauses: pauses[1:]}, processes: []func(*process){update, update},
		budget: budget{replies: 1, pauses: 1},
	},
	"a database whose clock jumps by hours": {
		setting: setting{onServer: true, elsewhere: true, creates: []string{"a"}, jump: 2 * time.Hour}, processes: []func(*process){update, update},
		budget: budget{preemptions: 1, replies: 1},
	},
	"a machine whose clock is ahead by hours": {
		setting: setting{onServer: true, elsewhere: true, creates: []string{"a"}}, processes: []func(*process){update, update},
		skew: []time.Duration{0, 2 * time.Hour}, budget: budget{preemptions: 1, replies: 1},
	},
	"a machine whose clock is behind by hours": {
		setting: setting{onServer: true, elsewhere: true, creates: []string{"a"}, pauses: pauses[1:]}, processes: []func(*process){update, update},
		skew: []time.Duration{0, -2 * time.Hour}, budget: budget{crashes: 1, pauses: 1},
	},
}

// Every schedule within smaller bounds: one preemption fewer than a scenario has, one crash, and no pause together with a lost reply.
func TestEverySmallScheduleKeepsTheRules(t *testing.T) {
	if tier.IsSlow() {
		t.Skip("TestEveryScheduleKeepsTheRules explores these, too")
	}
	explore(t, func(b budget) budget {
		b.preemptions, b.crashes = max(b.preemptions-1, 0), min(b.crashes, 1)
		if b.replies > 0 {
			b.pauses = 0
		}
		return b
	})
}

func TestEveryScheduleKeepsTheRules(t *testing.T) {
	tier.Slow(t, "tens of thousands of schedules")
	explore(t, func(b budget) budget {
		b.preemptions += *deep
		return b
	})
}

func explore(t *testing.T, within func(budget) budget) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			s.budget = within(s.budget)
			x := newExplorer(t, s)
			o := x.find(t)
			t.Logf("%d states, %d ends, %d schedules, %d steps", len(x.known), len(x.sound), x.schedules, x.steps)
			if o != nil {
				t.Fatal(shortest(t, s))
			}
		})
	}
}

// The checker finds known faults: each of these stores or engines has a fault that those of sluice must not have.
func TestFaultsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		scenario
		fault string
	}{
		"a store that loses what it has acknowledged": {scenario{
			setting: setting{conditional: true, creates: []string{"a"}}, processes: []func(*process){update}, budget: budget{crashes: 1},
			flaw: func(_ *disk, w *write) { w.discard = strings.HasSuffix(w.key, "000000000001.seg") },
		}, "object a-0 exists, and the state does not know of it"},
		"an update whose record is lost": {scenario{
			setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){setTo(1)}, budget: budget{crashes: 1},
			flaw: func(_ *disk, w *write) { w.discard = strings.HasSuffix(w.key, "000000000001.seg") },
		}, "object a-0 has the value 1, and the state says 0"},
		"a delete whose record is lost": {scenario{
			setting: setting{conditional: true, exist: []string{"a"}}, processes: []func(*process){removeAll}, budget: budget{crashes: 1},
			flaw: func(_ *disk, w *write) { w.discard = strings.HasSuffix(w.key, "000000000001.seg") },
		}, "object a-0 does not exist, and the state has it"},
		"a store that does not check conditions": {scenario{
			setting:   setting{conditional: true, creates: []string{"a"}},
			processes: []func(*process){update, cancel(true), update},
			flaw:      func(_ *disk, w *write) { w.revision = "" },
		}, "was told that object a-0 is recorded, and it is not"},
		"a lock that is released before the state is written": {scenario{
			setting: setting{conditional: true, creates: []string{"a"}, unlockEarly: true}, processes: []func(*process){update, update},
		}, "was not disturbed and failed"},
	} {
		t.Run(name, func(t *testing.T) {
			o := shortest(t, c.scenario)
			require.NotNil(t, o)
			t.Log(o)
			require.Contains(t, o.String(), c.fault)
		})
	}
}
