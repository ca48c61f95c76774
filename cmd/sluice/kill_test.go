//go:build !windows

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

// killRounds returns the number of killed runs: SLUICE_KILL_ROUNDS, or 12 if it is not set. `.ci/run chaos` plays more.
func killRounds(t *testing.T) int { return int(number(t, "SLUICE_KILL_ROUNDS", 12)) }

// number returns the value of a variable, or another one if it is not set.
func number(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	require.NoError(t, err, variable)
	return n
}

// bounds limit the rounds at one place: by number or, if there is one, by time.
type bounds struct {
	rounds int
	end    time.Time
}

func (b bounds) another(round int) bool {
	if b.end.IsZero() {
		return round < b.rounds
	}
	return time.Now().Before(b.end)
}

// chaosBounds returns the bounds for place number nth, counted from 0, of several that share a time: an equal part of the rest for
// each.
func chaosBounds(t *testing.T, end time.Time, nth, places int) bounds {
	if end.IsZero() {
		rounds := killRounds(t)
		if nth > 0 {
			rounds = (rounds + 5) / 6
		}
		return bounds{rounds: rounds}
	}
	return bounds{end: time.Now().Add(time.Until(end) / time.Duration(places-nth))}
}

// Whenever and however a run, its provider or the connection to its state is cut off, and wherever the state is: every existing
// object is recorded, or a pending operation says that it may exist; replies to the program and output of readers stay true; after
// `recover` the state matches the objects; an update then leads to the resources that the program declares, each object once; and
// no locks, journals and temporary files are left.
//
// SLUICE_CHAOS_FOR is the total time of the rounds of all places, and SLUICE_CHAOS_SEED the seed of the first round; each further
// round has the next seed. With 0, the seed is random. The seed determines what is cut off and when, but not the progress of the
// processes at that moment.
func TestKilledRunsLoseNothing(t *testing.T) {
	tier.Slow(t, "kills")
	tools := buildTools(t)
	seed := number(t, "SLUICE_CHAOS_SEED", 1)
	if seed == 0 {
		seed = rand.Uint64N(1_000_000_000)
	}
	var end time.Time
	if text := os.Getenv("SLUICE_CHAOS_FOR"); text != "" {
		d, err := time.ParseDuration(text)
		require.NoError(t, err)
		end = time.Now().Add(d)
	}
	places := []struct {
		name string
		open func(*testing.T) place
	}{{"files", inDirectory}, {"s3", inBucket}, {"postgres", inDatabase}, {"journals", inJournals}, {"checkpoints", inCheckpoints}}
	for nth, p := range places {
		t.Run(p.name, func(t *testing.T) {
			b := chaosBounds(t, end, nth, len(places))
			newChaos(t, tools, p.open(t), uint64(nth)).rounds(seed, b)
		})
	}
}

// chaos is an arena whose runs are cut off.
type chaos struct {
	*arena
	usual        time.Duration     // the duration of an update that creates everything, and
	working      time.Duration     // of its part from the first object on
	place        uint64            // the plans of places differ
	commands     []*command        // of the present round
	effects      int               // of calls that ended after their engine was dead
	round        int               // the present one
	acknowledged int               // the oldest round that a reader may show
	mayBeGone    bool              // a destroy has begun since, or
	isGone       bool              // has succeeded
	declared     program           // the program of the stack before the operation
	drifted      map[string]bool   // IDs of objects that another client has changed or deleted, without a refresh since
	spared       map[string]string // what a destroy with targets has to leave: ID by URN
}

const (
	// late is the maximal delay of the effect of a call whose engine has died.
	late = 1500 * time.Millisecond
	// settling limits how long processes may take to end that no engine needs any more.
	settling = 20 * time.Second
)

func newChaos(t *testing.T, tools string, states place, number uint64) *chaos {
	c := &chaos{arena: newArenaAt(t, tools, states), place: number, declared: program{first: 0, count: 50}, drifted: map[string]bool{}}
	c.env = append(c.env, "ACKNOWLEDGED="+c.dir+"/acknowledged")
	c.run(0, "config", "set-all",
		"--plaintext", "scenario=churn",
		"--plaintext", "simple:minDelayMs=5",
		"--plaintext", "simple:delayMs=100",
		"--plaintext", "simple:lateMs="+strconv.Itoa(int(late.Milliseconds())))
	c.declare(c.declared)
	require.NoError(t, os.Mkdir(c.dir+"/cloud", 0o755))
	began := time.Now()
	up := c.start(nil, "up", "--yes", "--skip-preview", "--parallel", "6")
	c.awaitFirstCall([]*command{up})
	first := time.Now()
	up.wait()
	require.Zero(t, up.status(), "%s", up.out)
	c.usual, c.working = time.Since(began), time.Since(first)
	return c
}

// mostRounds is the number of rounds after which something must have been cut off. On a busy machine, a kill may come too late several times.
const mostRounds = 20

// rounds runs rounds and then destroys the stack. If nothing was cut off in them, there are more.
func (c *chaos) rounds(seed uint64, b bounds) {
	began := time.Now()
	c.Cleanup(func() {
		for _, e := range c.commands {
			if c.Failed() {
				c.Logf("%v ended with status %d and said:\n%s", e.cmd.Args[1:], e.status(), e.out)
			}
		}
	})
	done, cut := map[fmt.Stringer]int{}, map[fmt.Stringer]int{}
	total := 0
	for ; b.another(c.round) || total == 0 && c.round < mostRounds; seed++ {
		c.round, c.commands = c.round+1, nil
		p := c.plan(seed)
		c.Logf("round %d, seed %d: %s", c.round, seed, p)
		done[p.who]++
		done[p.op]++
		if c.play(p) {
			cut[p.who]++
			cut[p.op]++
			total++
		}
	}
	var counts []string
	for who := range kinds {
		counts = append(counts, fmt.Sprintf("%s %d of %d", who, cut[who], done[who]))
	}
	for op := range operations {
		counts = append(counts, fmt.Sprintf("%s %d of %d", op, cut[op], done[op]))
	}
	c.Logf("%d rounds in %s; operations cut off, by what was cut off and by operation: %s; %d objects were changed after the death of the engine",
		c.round, time.Since(began).Round(time.Second), strings.Join(counts, ", "), c.effects)
	require.Positive(c, total, "nothing was cut off in time")
	c.run(0, "destroy", "--yes", "--skip-preview")
	require.Empty(c, c.cloud())
	c.requireTidy()
}

// play plays one round, and reports whether an operation was cut off.
func (c *chaos) play(p plan) bool {
	c.declare(p.program)
	c.spared = nil
	args := c.prepare(p)
	c.tellNothing()
	c.begin(p.op)
	isCut, completed := c.runAndCut(p, args)
	atDeath := c.things()
	if completed {
		c.completed(p)
	}
	if p.killRecovery {
		reader := c.start(nil, "stack", "export")
		time.Sleep(p.recoveryAfter)
		reader.kill()
		reader.wait()
	}
	c.requireRead()
	c.requireAcknowledged()
	c.requireKnown()
	c.requireSpared()
	if completed {
		c.requireDone(p)
	}
	if p.who == theGuards {
		c.requireNoPanic(c.any("recover")) // it takes the lock, which a reader need not
		c.requireStill()
	}
	overtaken := p.next && p.who == theSession
	if p.next {
		c.begin(anUpdate)
		c.requireNoPanic(c.any("up", "--yes", "--skip-preview", "--continue-on-error"))
		c.requireRecorded()
		if !overtaken {
			c.requireKnown()
		}
	}
	c.settle()
	if p.who == theSession && !p.next {
		c.effects += differences(atDeath, c.things())
	}
	c.resolve(overtaken)
	c.end(p)
	c.requireTidy()
	return isCut
}

// end ends a round with an update or a destroy.
func (c *chaos) end(p plan) {
	if p.ends {
		c.run(0, "destroy", "--yes", "--skip-preview")
		c.isGone = true
		c.requireDone(plan{op: aDestroy})
	} else {
		c.run(0, "up", "--yes", "--skip-preview")
		c.acknowledge(p.program)
		c.requireDeclared(p.program)
	}
	c.requireRead()
}

// declare sets the program of the next updates.
func (c *chaos) declare(p program) {
	c.run(0, "config", "set-all",
		"--plaintext", "count="+strconv.Itoa(p.count), "--plaintext", "first="+strconv.Itoa(p.first), "--plaintext", "more="+strconv.Itoa(p.more),
		"--plaintext", "zone="+strconv.Itoa(p.zone), "--plaintext", "site="+strconv.Itoa(p.site), "--plaintext", "round="+strconv.Itoa(c.round))
}

// runAndCut runs one or two engines with a command and cuts them off. It reports whether that was in time, and whether one has
// succeeded all the same.
func (c *chaos) runAndCut(p plan, args []string) (isCut, completed bool) {
	var engines []*command
	for range p.engines {
		engines = append(engines, c.start(p.environment(), args...))
	}
	var reader *command
	if p.reader != nil {
		time.Sleep(p.readAfter)
		reader = c.start(nil, p.reader...)
	}
	if p.fromFirstCall {
		c.awaitFirstCall(engines)
	}
	time.Sleep(p.after)
	struck := c.strike(p, engines)
	for _, e := range engines {
		e.wait()
		completed = completed || e.status() == 0
		isCut = isCut || struck && e.status() != 0
		c.requireNoPanic(e.out.String())
		if !struck && e.status() != 0 {
			require.Greater(c, len(engines), 1, "%s", e.out)
			require.Contains(c, e.out.String(), "the stack is currently locked by", "another engine was faster")
		}
	}
	require.True(c, struck || completed, "no engine has had the lock")
	if reader != nil {
		reader.wait()
		if reader.status() == 0 || p.who != theConnection {
			c.requireShows(reader, c.acknowledged)
		}
	}
	return isCut, completed
}

// awaitFirstCall waits until an engine has changed an object, or until all have ended.
func (c *chaos) awaitFirstCall(engines []*command) {
	changed := func() time.Time {
		i, err := os.Stat(c.dir + "/cloud")
		require.NoError(c, err)
		return i.ModTime()
	}
	isOver := func(e *command) bool { return e.over.Load() }
	for before := changed(); changed().Equal(before) && !slices.ContainsFunc(engines, isOver); {
		time.Sleep(time.Millisecond)
	}
}

// requireRead checks that a reader shows what was acknowledged, and recovers interrupted operations.
func (c *chaos) requireRead() {
	e := c.start(nil, "stack", "output", "round")
	e.wait()
	c.requireShows(e, c.acknowledged)
}

// requireShows checks that a reader has shown a round, or a later one; or nothing, if everything may have been destroyed.
func (c *chaos) requireShows(reader *command, round int) {
	if (c.mayBeGone || c.isGone) && isWithoutStack(reader) {
		return
	}
	require.False(c, c.isGone, "a reader shows what was destroyed:\n%s", reader.out)
	require.Zero(c, reader.status(), "%s", reader.out)
	shown := c.shown(reader.out.String())
	if c.mayBeGone && shown == 0 {
		return // the stack exists again or is being created, and has no outputs yet
	}
	require.GreaterOrEqual(c, shown, round, "a reader shows something older than what was acknowledged:\n%s", reader.out)
	require.LessOrEqual(c, shown, c.round)
}

// shown returns the round in the output of a reader: a state, or the number alone, perhaps after warnings. A state without the stack's resource is of
// round 0, if everything may have been destroyed: the resource may be about to be created again.
func (c *chaos) shown(out string) int {
	if at := strings.Index(out, "{\n"); at >= 0 {
		var file struct{ Deployment deployment }
		require.NoError(c, json.Unmarshal([]byte(out[at:]), &file), "%s", out)
		for _, r := range file.Deployment.Resources {
			if r.Type == "pulumi:pulumi:Stack" {
				round, _ := r.Outputs["round"].(float64)
				return int(round)
			}
		}
		require.True(c, c.mayBeGone, "there is no stack in what was exported:\n%s", out)
		return 0
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	round, err := strconv.Atoi(lines[len(lines)-1])
	require.NoError(c, err, "%s", out)
	return round
}

// tellNothing clears the list of replies to the program.
func (c *chaos) tellNothing() {
	require.NoError(c, os.WriteFile(c.dir+"/acknowledged", nil, 0o600))
}

// requireAcknowledged checks that the state has what the replies to the program contained.
func (c *chaos) requireAcknowledged() {
	text, err := os.ReadFile(c.dir + "/acknowledged")
	require.NoError(c, err)
	live := c.state().live
	for line := range strings.Lines(string(text)) {
		u, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.Equal(c, id, live[u], "the program was told that %s is %s", u, id)
	}
}

// requireRecorded checks that every object is recorded, or that its create is pending.
func (c *chaos) requireRecorded() recordedState {
	exists := c.cloud() // first, because an operation is recorded before it begins
	recorded := c.state()
	for id, u := range exists {
		if recorded.things[id] != u {
			require.Contains(c, recorded.pending[u], "creating", "nobody knows of %s", id)
		}
	}
	return recorded
}

// requireKnown also checks that every recorded object exists as recorded, or that an operation on it is pending.
func (c *chaos) requireKnown() recordedState {
	exists := c.things()
	recorded := c.requireRecorded()
	for id, u := range recorded.things {
		t, there := exists[id]
		switch {
		case c.drifted[id]:
		case !there:
			require.Contains(c, recorded.pending[u], "deleting", "%s is recorded and does not exist", id)
		case len(recorded.pending[u]) == 0:
			require.Equal(c, t.Inputs, recorded.inputs[id], "%s has been changed, and the state does not know that", id)
		}
	}
	return recorded
}

// requireStill checks that processes of an engine do nothing more once another process has had its lock.
func (c *chaos) requireStill() {
	before := c.things()
	c.settle()
	require.Equal(c, before, c.things(), "somebody has gone on working")
}

// settle waits until the plugins have ended. Nothing records their effects until then.
func (c *chaos) settle() {
	require.Eventually(c, func() bool { return len(running(c.plugin)) == 0 }, settling, 50*time.Millisecond)
}

// differences counts the objects that differ.
func differences(a, b map[string]thing) int {
	n := 0
	for id, t := range b {
		if !reflect.DeepEqual(a[id], t) {
			n++
		}
	}
	for id := range a {
		if b[id].URN == "" {
			n++
		}
	}
	return n
}

// resolve answers for the creates with an uncertain outcome, and compares the state with the objects. An update that ran while an
// older operation was still running may have been overtaken by its deletes and updates: a refresh then finds them, like changes of
// other clients.
func (c *chaos) resolve(overtaken bool) {
	if overtaken {
		for id := range c.state().things {
			c.drifted[id] = true
		}
	}
	c.run(0, c.recovery()...)
	if len(c.drifted) > 0 {
		c.run(0, "refresh", "--yes", "--skip-preview")
		clear(c.drifted)
	}
	recorded := c.requireKnown()
	require.Empty(c, recorded.pending)
	require.Equal(c, c.cloud(), recorded.things)
}

// requireDeclared checks that the declared objects exist, each once, and that they are recorded.
func (c *chaos) requireDeclared(p program) {
	recorded, exists := c.state(), c.things()
	require.Empty(c, recorded.pending)
	require.Equal(c, c.cloud(), recorded.things)
	require.Len(c, exists, p.count)
	for i := p.first; i < p.first+p.count; i++ {
		u := thingURN(i)
		t := exists[recorded.live[u]]
		require.Equal(c, u, t.URN)
		require.EqualValues(c, i+p.more, t.Inputs["value"], u)
		if i%6 == 1 {
			require.Equal(c, strconv.Itoa(p.zone), t.Inputs["immutableZone"], u)
		}
		if i%6 == 2 {
			require.Equal(c, strconv.Itoa(p.site), t.Inputs["dbrSite"], u)
		}
		if i%6 == 3 && i > p.first {
			require.Equal(c, "arn:"+recorded.live[thingURN(i-1)], t.Inputs["immutableUses"], u)
		}
	}
}

// requireTidy checks that nothing is left that only a running operation needs, or that a conflict about the state has left. The end
// of a journal that was being written when its process was killed is kept, and so are the times at which resources were read.
func (c *chaos) requireTidy() {
	for _, key := range c.states.keys(c.T) {
		if strings.HasPrefix(key, ".pulumi/sluice/salvage/") && strings.HasSuffix(key, ".torn") || strings.HasPrefix(key, ".pulumi/sluice/reads/") {
			continue
		}
		for _, gone := range []string{".pulumi/locks/", ".pulumi/sluice/", ".tmp"} {
			require.NotContains(c, key, gone)
		}
		if c.states.service != nil {
			require.NotContains(c, key, ".pulumi/stacks/", "there is a working copy of what the service has")
		}
	}
}

func (c *chaos) requireNoPanic(out string) {
	require.NotContains(c, out, "panic:")
	require.NotContains(c, out, "goroutine ")
}

// any runs a command that may succeed or fail, and returns its output.
func (c *chaos) any(args ...string) string {
	e := c.start(nil, args...)
	e.wait()
	return e.out.String()
}
