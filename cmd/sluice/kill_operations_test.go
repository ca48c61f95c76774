//go:build !windows

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// operation is the operation that is cut off in a round.
type operation int

const (
	anUpdate   operation = iota
	aDestroy             // of the whole stack
	aRefresh             // after another client has changed and deleted objects
	aTurnover            // an update that changes every resource, replaces some and deletes others
	aRemoval             // a destroy with targets and their dependents
	aRecovery            // of an update that was cut off before: `recover` gets the IDs that its creates have made
	operations           // the number of operations
)

func (o operation) String() string {
	return [...]string{"update", "destroy", "refresh", "turnover", "destroy with targets", "recover"}[o]
}

// changesObjects reports whether an operation calls for changes of objects.
func (o operation) changesObjects() bool { return o != aRefresh && o != aRecovery }

// isShort reports whether an operation has less to do than an update that creates everything.
func (o operation) isShort() bool { return o == aRefresh || o == aRemoval || o == aRecovery }

// canBeRepeated reports whether an operation also succeeds after another one has done the same: not if it names objects that are
// deleted by then, or creates that are resolved.
func (o operation) canBeRepeated() bool { return o != aRemoval && o != aRecovery }

// prepare makes sure that the operation of a plan has something to do, and returns its command.
func (c *chaos) prepare(p plan) []string {
	if p.op != anUpdate && p.op != aTurnover && len(c.state().live) == 0 {
		c.run(0, "up", "--yes", "--skip-preview")
		c.acknowledge(p.program)
	}
	random := rand.New(rand.NewPCG(p.choice, 0))
	run := func(args ...string) []string {
		return slices.Concat(args, []string{"--yes", "--skip-preview"}, p.flags)
	}
	switch p.op {
	case aDestroy:
		return run("destroy")
	case aRemoval:
		return run(slices.Concat([]string{"destroy", "--target-dependents"}, c.choose(random))...)
	case aRefresh:
		c.drift(random)
		return run("refresh")
	case aRecovery:
		return c.interrupt(p)
	}
	return run("up")
}

// choose returns the flags for a few targets, and records the objects that these and their dependents leave.
func (c *chaos) choose(random *rand.Rand) (flags []string) {
	for _, u := range slices.Sorted(maps.Keys(c.state().live)) {
		if random.IntN(8) == 0 {
			flags = append(flags, "--target", u)
		}
	}
	if len(flags) == 0 {
		flags = []string{"--target", slices.Min(slices.Collect(maps.Keys(c.state().live)))}
	}
	c.spared = c.state().live
	for i := c.declared.first; i < c.declared.first+c.declared.count; i++ {
		uses := i > c.declared.first && (i%6 == 3 || i%6 == 4)
		if slices.Contains(flags, thingURN(i)) || uses && c.spared[thingURN(i-1)] == "" {
			delete(c.spared, thingURN(i))
		}
	}
	return flags
}

// drift deletes and changes objects, like another client.
func (c *chaos) drift(random *rand.Rand) {
	table, err := providertest.OpenDirectory(c.dir + "/cloud")
	require.NoError(c, err)
	all, err := table.All()
	require.NoError(c, err)
	for _, r := range all {
		switch random.IntN(8) {
		case 0:
			require.NoError(c, table.Remove(r.ID))
		case 1, 2:
			r.Inputs = r.Inputs.With("value", property.Number(float64(-c.round)))
			require.NoError(c, table.Write(r))
		default:
			continue
		}
		c.drifted[r.ID] = true
	}
}

// interrupt kills an update, and returns the command that recovers it.
func (c *chaos) interrupt(p plan) []string {
	c.tellNothing()
	up := c.start(nil, "up", "--yes", "--skip-preview", "--parallel", "12")
	c.awaitFirstCall([]*command{up})
	time.Sleep(time.Duration(p.choice % uint64(c.working/2)))
	isCut := c.strike(plan{who: everybody}, []*command{up})
	up.wait()
	c.requireNoPanic(up.out.String())
	if up.status() == 0 {
		c.acknowledge(p.program)
	} else {
		require.True(c, isCut, "%s", up.out)
	}
	c.settle()
	c.requireRead()
	c.requireAcknowledged()
	return c.recovery()
}

// recovery returns the command that resolves uncertain creates, from the existing objects.
func (c *chaos) recovery() []string {
	recorded := c.requireKnown()
	adopt := []string{"recover", "--assume-not-created"}
	for id, u := range c.cloud() {
		if recorded.things[id] != u {
			adopt = append(adopt, "--adopt", u+"="+id)
		}
	}
	return adopt
}

// acknowledge records that readers have to show the present round, and the program of the stack.
func (c *chaos) acknowledge(p program) {
	c.acknowledged, c.declared, c.mayBeGone, c.isGone = c.round, p, false, false
}

// begin records what readers may show once an operation has begun.
func (c *chaos) begin(o operation) {
	c.mayBeGone = c.mayBeGone || c.isGone || o == aDestroy
	c.isGone = false
}

// completed records what users rely on after an operation has reported success.
func (c *chaos) completed(p plan) {
	switch p.op {
	case anUpdate, aTurnover:
		c.acknowledge(p.program)
	case aDestroy:
		c.isGone = true
	case aRefresh:
		clear(c.drifted)
	}
}

// requireSpared checks that a destroy with targets has left everything else.
func (c *chaos) requireSpared() {
	live := c.state().live
	for u, id := range c.spared {
		require.Equal(c, id, live[u], "%s is no target", u)
	}
}

// requireDone checks the promises of a destroy that succeeded.
func (c *chaos) requireDone(p plan) {
	recorded := c.state()
	switch p.op {
	case aDestroy:
		require.Empty(c, recorded.things)
		require.Empty(c, c.cloud())
	case aRemoval:
		require.Equal(c, c.spared, recorded.live)
	}
}

// thingURN returns the URN of a resource of the program.
func thingURN(i int) string {
	return fmt.Sprintf("urn:pulumi:dev::demo::simple:index:Thing::thing-%d", i)
}

// isWithoutStack reports whether a reader has printed that the state is empty.
func isWithoutStack(reader *command) bool {
	out := reader.out.String()
	return reader.status() != 0 && strings.Contains(out, "does not have output property 'round'") ||
		reader.status() == 0 && strings.Contains(out, "{\n") && !strings.Contains(out, `"pulumi:pulumi:Stack"`)
}
