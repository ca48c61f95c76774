package display

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// decided returns a log of decisions as it is after being written and read.
func decided(t *testing.T, about why.About, decisions ...why.Decision) *why.Log {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, (&why.Log{About: about, Decisions: decisions}).Write(&b))
	l, err := why.Read(&b)
	require.NoError(t, err)
	return l
}

// decision returns a decision of type kind, if that is not "".
func decision(name, kind string, op stages.Op, reason stages.ReasonKind, set func(*why.Decision)) why.Decision {
	d := why.Decision{URN: thing(name), Op: op, Reason: reason, Roots: []why.Root{why.RootProgram}}
	if kind != "" {
		d.URN = urn.URN("urn:pulumi:dev::p::" + kind + "::" + name)
	}
	if set != nil {
		set(&d)
	}
	return d
}

// edited is an edit of a property in the program.
func edited(path, old, new string) func(*why.Decision) {
	return func(d *why.Decision) {
		d.Properties = []why.Change{{Path: path, Old: text(old), New: text(new), Origin: why.FromProgram, Position: "index.ts:14"}}
	}
}

// following returns a change that follows from another resource through a property.
func following(cause, path string) func(*why.Decision) {
	return func(d *why.Decision) {
		d.Roots, d.Causes = nil, []urn.URN{thing(cause)}
		d.Properties = []why.Change{{Path: path, Origin: why.FromResource, From: d.Causes}}
	}
}

// A resource opened before the question, and during the update after it, has the whole chain.
func TestAnOpenedResourceHasTheChainOfItsReasons(t *testing.T) {
	log := decided(t, planned, decision("net", "", stages.OpReplace, stages.ReasonInputs, edited("cidr", "a", "b")),
		decision("web", "", stages.OpUpdate, stages.ReasonInputs, following("net", "subnet")))
	opened := func(o Options, e Ending) string {
		o.Title, o.Out, o.Now = "T", io.Discard, time.Now
		r := NewReport(o)
		r.Observe(stages.StepDone{Step: step(stages.OpUpdate, "web", values{}, values{"subnet": property.Computed()}), Planning: o.IsPreview})
		var lines []string
		look := func(s Sight) { lines = s.Details(thing("web"), 100) }
		r.Look(look)
		r.Explain(e)
		r.Look(look)
		return strings.Join(lines, "\n")
	}
	const chain = "\n\nReasons:\nweb (pkg:mod/thing:Thing) is updated\n  because its inputs changed\n    subnet: from net\n" +
		"← net (pkg:mod/thing:Thing) is replaced, created before the old one is deleted\n  because its inputs changed\n    cidr: \"a\" → \"b\", in the program (index.ts:14)"
	require.Contains(t, opened(Options{IsPreview: true}, Ending{Log: log}), chain)
	require.Contains(t, opened(Options{Planned: log}, Ending{}), chain)
	require.NotContains(t, opened(Options{}, Ending{}), "Reasons:")
}

var planned = why.About{Operation: "update", Preview: true, Result: stages.Succeeded}

func TestRootCausesInWords(t *testing.T) {
	with := func(set func(*why.Change)) func(*why.Decision) {
		return func(d *why.Decision) {
			edited("size", "1", "2")(d)
			set(&d.Properties[0])
			d.Roots = []why.Root{why.Root(d.Properties[0].Origin)}
		}
	}
	setting := &why.Setting{Key: "p:size", Old: text("[secret]"), New: text("[secret]"), Position: "Pulumi.dev.yaml:3"}
	for name, test := range map[string]struct {
		about     why.About
		decisions []why.Decision
		want      string
	}{
		"nothing": {planned, nil, "nothing changes\n"},
		"a chain": {planned, []why.Decision{
			decision("a", "", stages.OpReplace, "inputs", edited("region", "eu", "us")), decision("b", "", stages.OpReplace, "inputs", following("a", "up")),
		}, "`region` \"eu\" → \"us\" in the program (index.ts:14) replaces a; b follows through `up`\n"},
		"what follows is done in another way": {planned, []why.Decision{
			decision("a", "", stages.OpReplace, "inputs", edited("region", "eu", "us")), decision("b", "", stages.OpUpdate, "inputs", following("a", "up")),
			decision("c", "", stages.OpUpdate, "inputs", following("a", "zone")),
		}, "`region` \"eu\" → \"us\" in the program (index.ts:14) replaces a; 2 follow through `up`, `zone` (updated)\n"},
		"after an update": {why.About{Operation: "update", Result: stages.Succeeded}, []why.Decision{
			decision("a", "", stages.OpReplace, "inputs", edited("region", "eu", "us")), decision("b", "", stages.OpDelete, "inputs", following("a", "up")),
		}, "`region` \"eu\" → \"us\" in the program (index.ts:14) replaced a; b followed through `up` (deleted)\n"},
		"after an update that failed, not everything was done": {why.About{Operation: "update", Result: stages.Failed}, []why.Decision{
			decision("a", "", stages.OpReplace, "inputs", edited("region", "eu", "us"))},
			"`region` \"eu\" → \"us\" in the program (index.ts:14) replaces a\n"},
		"many, in the order of people": {planned, []why.Decision{
			decision("r10", "", stages.OpUpdate, "inputs", edited("x", "1", "2")), decision("r2", "", stages.OpUpdate, "inputs", edited("x", "1", "2")),
			decision("r3", "", stages.OpUpdate, "inputs", edited("x", "1", "2")), decision("r1", "", stages.OpUpdate, "inputs", edited("x", "1", "2")),
		}, "`x` \"1\" → \"2\" in the program (index.ts:14) updates 4 (r1, r2, r3, …)\n"},
		"a secret setting": {planned, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", with(func(c *why.Change) {
			c.Origin, c.Setting = why.FromConfiguration, setting
		}))}, "config p:size [secret] → [secret] (Pulumi.dev.yaml:3) updates a\n"},
		"edits of a setting and of the program": {planned, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", func(d *why.Decision) {
			with(func(c *why.Change) { c.Origin, c.Setting = why.FromConfiguration, setting })(d)
			for _, path := range []string{"x", "y", "z"} {
				d.Properties = append(d.Properties, why.Change{Path: path, Old: text("1"), New: text("2"), Origin: why.FromProgram, Position: "index.ts:14"})
			}
		})}, "config p:size [secret] → [secret] (Pulumi.dev.yaml:3), `x` \"1\" → \"2\", `y` \"1\" → \"2\" in the program (index.ts:14) and 1 other change update a\n"},
		"outside": {planned, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", with(func(c *why.Change) { c.Origin = why.FromOutside }))},
			"`size` \"1\" → \"2\" (changed outside) updates a\n"},
		"a policy": {planned, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", with(func(c *why.Change) { c.Origin = why.FromPolicy }))},
			"`size` \"1\" → \"2\" (changed by a policy) updates a\n"},
		"the provider names no property": {planned, []why.Decision{decision("a", "", stages.OpUpdate, stages.ReasonProviderSaysSo, nil)},
			"the provider reports a change without naming a property: updates a\n"},
		"a refresh": {why.About{Operation: "refresh", Preview: true, Result: stages.Succeeded}, []why.Decision{
			decision("a", "", stages.OpDelete, stages.ReasonVanished, nil)}, "gone outside: drops the record of a\n"},
		"names with control characters": {planned, []why.Decision{decision("a\x1b[31m\n", "", stages.OpUpdate, "inputs", edited("x\ny", "1", "2"))},
			"`x\\ny` \"1\" → \"2\" in the program (index.ts:14) updates a\\x1b[31m\\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			l := decided(t, test.about, test.decisions...)
			require.NoError(t, WriteRootCauses(WhyOptions{Out: &b, Refresh: l.Operation == "refresh"}, l))
			require.Equal(t, test.want, b.String())
		})
	}
}

// sectionsOf returns the sections of a preview about dangers and root causes.
func sectionsOf(l *why.Log) string {
	changes := map[stages.Op]int{}
	for _, d := range l.Decisions {
		changes[d.Op]++
	}
	var b strings.Builder
	f := newFacts(Options{IsPreview: true, Out: &b})
	f.ending.Log = l
	f.m.summary = &stages.Summary{IsPreview: true, Changes: changes, Result: l.Result}
	f.end()
	return strings.TrimSpace(b.String())
}

func TestSummaryByDanger(t *testing.T) {
	var creates, mixed []why.Decision
	for _, name := range strings.Split("abcdefghijkl", "") {
		creates = append(creates, decision(name, "", stages.OpCreate, stages.ReasonNew, nil))
		kind := map[bool]string{true: "aws:s3/bucket:Bucket", false: "aws:rds/instance:Instance"}[name < "d"]
		mixed = append(mixed, decision(name, kind, stages.OpDelete, stages.ReasonNotInProgram, nil))
	}
	first := func(order stages.Order) func(*why.Decision) {
		return func(d *why.Decision) {
			edited("region", "eu", "us")(d)
			d.DeleteFirst, d.Order = true, order
		}
	}
	along := func(cause string) func(*why.Decision) {
		return func(d *why.Decision) {
			following(cause, "up")(d)
			d.DeleteFirst, d.Cause = true, thing(cause)
		}
	}
	protected := func(d *why.Decision) { edited("size", "1", "2")(d); d.Protected = true }
	for name, test := range map[string]struct {
		result    stages.RunResult
		decisions []why.Decision
		want      string
	}{
		"three creates": {stages.Succeeded, creates[:3], "Resources:\n    + 3 to create"},
		"an update": {stages.Succeeded, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", edited("x", "1", "2"))},
			"Resources:\n    ~ 1 to update"},
		"many of one type": {stages.Succeeded, creates, "Resources:\n    + 12 to create: pkg:mod:Thing"},
		"many of several":  {stages.Succeeded, mixed, "Resources:\n    - 12 to delete: 9 aws:rds:Instance, 3 aws:s3:Bucket"},
		"created first": {stages.Succeeded, []why.Decision{decision("a", "", stages.OpReplace, "inputs", edited("region", "eu", "us"))},
			"Resources:\n    +-1 to replace (create first, then delete)\n\nRoot causes:\n    `region` \"eu\" → \"us\" in the program (index.ts:14) replaces a"},
		"deleted first": {stages.Succeeded, []why.Decision{decision("a", "", stages.OpReplace, "inputs", first(stages.OrderOption))},
			"Resources:\n    +-1 to replace (delete first, then create: deleteBeforeReplace)\n\nRoot causes:\n    `region` \"eu\" → \"us\" in the program (index.ts:14) replaces a"},
		"what goes along, through others too": {stages.Succeeded, []why.Decision{
			decision("a", "", stages.OpReplace, "inputs", first(stages.OrderName)), decision("b", "", stages.OpReplace, stages.ReasonDependency, along("a")),
			decision("c", "", stages.OpReplace, stages.ReasonDependency, along("b")), decision("d", "", stages.OpReplace, "inputs", edited("region", "eu", "us")),
		}, "Resources:\n    +-4 to replace (1 create first, 3 delete first)\n        a is deleted first (there cannot be two of its name), and with it b, c\n\n" +
			"Root causes:\n    `region` \"eu\" → \"us\" in the program (index.ts:14) replaces 2 (a, d); 2 follow through `up`"},
		"protected": {stages.Succeeded, []why.Decision{decision("a", "", stages.OpUpdate, "inputs", protected)},
			"Resources:\n    ~ 1 to update\n    ! protected: 1 to update (a)"},
		"no longer protected": {stages.Succeeded, []why.Decision{decision("a", "", stages.OpSame, stages.ReasonOptions, func(d *why.Decision) {
			d.Protected, d.Names = true, []string{"protect"}
		})}, "Resources:\n    1 unchanged\n    ! no longer protected: a"},
		"what an earlier replacement has left": {stages.Succeeded, []why.Decision{
			decision("a", "", stages.OpUpdate, "inputs", edited("x", "1", "2")), decision("b", "", stages.OpDeleteReplaced, stages.ReasonReplaced, nil),
		}, "Resources:\n    --1 old to delete (replaced by an earlier operation)\n    ~ 1 to update"},
		"a preview that failed": {stages.Failed, []why.Decision{decision("a", "", stages.OpReplace, "inputs", first(stages.OrderOption))},
			""},
	} {
		t.Run(name, func(t *testing.T) {
			about := planned
			about.Result = test.result
			require.Equal(t, test.want, sectionsOf(decided(t, about, test.decisions...)))
		})
	}
}

// Chains of dependents may be long, and may contain cycles.
func TestWhatGoesAlongIsFollowedOnce(t *testing.T) {
	d := dangers{along: map[urn.URN][]urn.URN{}}
	d.gather(map[urn.URN]urn.URN{thing("a"): thing("b"), thing("b"): thing("a"), thing("d"): thing("c"), thing("e"): thing("d")})
	require.Equal(t, []urn.URN{thing("d"), thing("e")}, d.along[thing("c")])
}
