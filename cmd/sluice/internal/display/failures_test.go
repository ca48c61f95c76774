package display

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func problem(u urn.URN, text string) stages.Diagnostic {
	return stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, URN: u, Message: text + "\n"}}
}

// concluded returns the end of the report of an operation with these events.
func concluded(o Options, e Ending, events ...stages.Event) string {
	var out bytes.Buffer
	o.Title, o.Out = "T", &out
	r := NewReport(o)
	for _, e := range events {
		r.Observe(e)
	}
	r.Explain(e)
	r.Close()
	return strings.TrimPrefix(out.String(), "T\n")
}

func plan() *Forecast {
	db := step(stages.OpCreate, "db", nil, values{})
	steps := []stages.StepInfo{db, step(stages.OpCreate, "free", nil, values{}), step(stages.OpCreate, "done", nil, values{})}
	for i := range 10 {
		s := step(stages.OpUpdate, fmt.Sprintf("user%d", i), values{}, values{"x": property.Number(1)})
		s.New.Dependencies = []urn.URN{db.URN}
		steps = append(steps, s)
	}
	return NewForecast(steps)
}

func TestAFailureEndsWithItsCause(t *testing.T) {
	got := concluded(Options{Forecast: plan()}, Ending{Failed: "update", NextStep: func(f Failure) string { return "mend " + f.URN.Name() }},
		problem(thing("db"), "the name is taken\nchoose another"), problem("", "update failed"),
		stages.StepDone{Step: step(stages.OpCreate, "done", nil, values{})},
		stages.Summary{Result: stages.Failed})
	_, end, _ := strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, `
Update failed:
  pkg:mod:Thing (db):
    error: the name is taken
    choose another
    not reached because of it: 10 resources (user0, user1, user2, user3, user4, user5, user6, user7, 2 more)
  not reached because it stopped: 1 resource (free)
  Next: mend db
`, end)
	require.Equal(t, 1, strings.Count(got, "the name is taken"))
	require.NotContains(t, got, "Diagnostics:")
	require.NotContains(t, got, "error: update failed")
}

func TestWhatToDoNextDependsOnHowTheOperationEnded(t *testing.T) {
	about := func(s stages.Summary) (got Failure) {
		concluded(Options{}, Ending{Failed: "update", NextStep: func(f Failure) string { got = f; return "" }}, problem(thing("a"), "no luck"), s)
		return got
	}
	require.Equal(t, Failure{URN: thing("a")}, about(stages.Summary{Result: stages.Failed}))
	require.Equal(t, Failure{URN: thing("a"), Interrupted: true}, about(stages.Summary{Result: stages.Canceled}))
	require.Equal(t, Failure{URN: thing("a"), Unknown: true}, about(stages.Summary{Result: stages.Failed, Lost: []urn.URN{thing("a")}}))
}

func TestTheCauseOfAFailureFitsTheTerminal(t *testing.T) {
	got := concluded(Options{Forecast: plan(), Width: func() int { return 60 }}, Ending{Failed: "update", NextStep: func(Failure) string { return "mend it" }},
		problem(thing("db"), "the name is taken, as every name is that somebody else has chosen before\n   | an excerpt\n   |    ^^"), stages.Summary{Result: stages.Failed})
	require.Contains(t, got, "    error: the name is taken, as every name is that somebody\n        else has chosen before\n       | an excerpt\n       |    ^^\n")
	for _, line := range strings.Split(got, "\n") {
		require.LessOrEqual(t, len(line), 60, line)
	}
}

func TestSeveralCausesAreInTheOrderOfThePlan(t *testing.T) {
	long := strings.Repeat("a line\n", 30) + "the last line"
	got := concluded(Options{}, Ending{
		Failed: "update", Order: map[urn.URN]int{thing("a"): 9, thing("b"): 2}, Decided: []Unreached{{URN: thing("c"), Because: thing("b")}, {URN: thing("d")}},
		Advised: map[urn.URN]bool{thing("b"): true}, NextStep: func(Failure) string { return "not this" },
	}, problem(thing("a"), long), problem(thing("b"), "first"), problem("", "update failed"))
	above, end, _ := strings.Cut(got, "Update failed: 2 causes\n")
	require.Equal(t, "  pkg:mod:Thing (b):\n    error: first\n    not reached because of it: 1 resource (c)\n  pkg:mod:Thing (a):\n    error: a line\n"+
		strings.Repeat("    a line\n", maxCauseLines-1)+"    ... (the rest is above)\n  not reached because it stopped: 1 resource (d)\n", end)
	require.Contains(t, above, "the last line", "what is cut is told as a whole")
	require.NotContains(t, above, "first")
}

func TestAFailedDeleteKeepsWhatItUses(t *testing.T) {
	user, used := step(stages.OpDelete, "user", values{}, nil), step(stages.OpDelete, "used", values{}, nil)
	user.Old.Dependencies = []urn.URN{used.URN}
	got := concluded(Options{Forecast: NewForecast([]stages.StepInfo{user, used})}, Ending{Failed: "destroy"}, problem(user.URN, "no"))
	require.Contains(t, got, "not reached because of it: 1 resource (used)\n")
}

func TestTheTitleOfAFailureIsNotRepeated(t *testing.T) {
	got := concluded(Options{IsPreview: true}, Ending{Failed: "preview", Decided: []Unreached{{URN: urn.RootStack("dev", "p")}}},
		problem(thing("a"), "Preview failed: it is protected"))
	require.Equal(t, "\nPreview failed:\n  pkg:mod:Thing (a):\n    error: it is protected\n", got[strings.Index(got, "\nPreview"):])
}

func TestAFailureByPoliciesEndsWithTheNextStep(t *testing.T) {
	violation := func(name string, level stages.EnforcementLevel) stages.Event {
		return stages.PolicyViolation{URN: thing("a"), Policy: stages.PolicyName{Pack: "p", Name: name}, Level: level, Message: "no"}
	}
	ending := Ending{Failed: "update", NextStep: func(Failure) string { return "again" }}
	summary := stages.Summary{Result: stages.Failed, Policies: []stages.AnalyzerInfo{{Name: "p"}}}
	events := []stages.Event{violation("long", stages.Mandatory), violation("long", stages.Mandatory), violation("wide", stages.Mandatory), violation("soft", stages.Advisory), problem("", "update failed")}
	got := concluded(Options{}, ending, append(events, summary)...)
	require.NotContains(t, got, "error: update failed")
	_, end, _ := strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, "\nUpdate failed:\n  policies: 2 mandatory violations of long, 1 mandatory violation of wide\n  Next: again\n", end)

	got = concluded(Options{}, ending, append(events, problem(thing("b"), "no luck"), summary)...)
	require.Contains(t, got, "\nUpdate failed: 2 causes\n  pkg:mod:Thing (b):\n    error: no luck\n  policies: 2 mandatory")
	require.NotContains(t, concluded(Options{}, Ending{}, violation("soft", stages.Advisory), summary), "failed")
}

func TestAFailedPreviewCountsOnlyErrors(t *testing.T) {
	summary := stages.Summary{IsPreview: true, Result: stages.Failed, Changes: map[stages.Op]int{stages.OpCreate: 1, stages.OpSame: 2}}
	created := stages.StepDone{Step: step(stages.OpCreate, "a", nil, values{})}
	require.Equal(t, " +  pkg:mod:Thing a create\n\nResources:\n    1 errored\n\nPreview failed:\n  stack:\n    error: no such type\n",
		concluded(Options{IsPreview: true, Hidden: true}, Ending{Failed: "preview"}, created, problem("", "no such type"), summary))
	summary.Result = stages.Succeeded
	require.Contains(t, concluded(Options{IsPreview: true}, Ending{}, summary), "1 to create")
}

func TestWhatAnSDKSaysOfTheEndIsLeftOut(t *testing.T) {
	echo := func(about string) (out []stages.Event) {
		for _, text := range []string{"failed to deliver log message. ", "error: Error: Channel has been shut down ", "original message: Error: " + about,
			"    at callErrorFromStatus (call.ts:84:17)", "for call at", "    at resource.ts:1303:37", " message severity: error"} {
			out = append(out, stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.InfoErr, StreamID: 3, Message: text + "\n"}})
		}
		return out
	}
	events := append(echo("14 UNAVAILABLE: resource monitor shut down while waiting"), problem(thing("a"), "Duplicate resource URN"))
	events = append(events, printed(3, "hello\n"))
	ending := Ending{Failed: "preview"}
	got := concluded(Options{}, ending, events...)
	require.NotContains(t, got, "callErrorFromStatus")
	require.Contains(t, got, "hello")
	require.Contains(t, got, "left out; --show-full-output shows them")
	require.Contains(t, concluded(Options{Details: Details{ShowFullOutput: true}}, ending, events...), "callErrorFromStatus")
	require.Contains(t, concluded(Options{}, Ending{}, events...), "callErrorFromStatus", "it may be all that is known")
	other := append(echo("TypeError: x is undefined"), problem(thing("a"), "Duplicate resource URN"))
	require.Contains(t, concluded(Options{}, ending, other...), "TypeError: x is undefined")
}

func TestTheLegendHasTheSignsThatAppear(t *testing.T) {
	done := stages.StepDone{Step: step(stages.OpDelete, "a", values{}, nil)}
	same := stages.StepDone{Step: step(stages.OpSame, "b", values{}, values{})}
	summary := stages.Summary{Changes: map[stages.Op]int{stages.OpDelete: 1, stages.OpSame: 1}}
	got := concluded(Options{Legend: true, Hidden: true}, Ending{}, done, same, summary)
	require.Contains(t, got, " -  pkg:mod:Thing a deleted\n    1 unchanged hidden (--show-sames shows them)\n    signs: - delete\n")
	require.NotContains(t, concluded(Options{Legend: true, Hidden: true}, Ending{}, same, summary), "signs")
	require.NotContains(t, concluded(Options{Hidden: true}, Ending{}, done, same, summary), "signs")
}

func TestACancelledOperationSaysWhatItHasLeft(t *testing.T) {
	replaced := func(name string) (events []stages.Event) {
		for _, op := range []stages.Op{stages.OpCreateReplacement, stages.OpReplace} {
			events = append(events, stages.StepDone{Step: step(op, name, values{}, values{})})
		}
		return events
	}
	ending := Ending{Failed: "update", Canceled: true, NextStep: func(f Failure) string { return fmt.Sprint("again ", f.Interrupted) }}
	summary := stages.Summary{Result: stages.Canceled, Changes: map[stages.Op]int{stages.OpReplace: 2}}
	events := append(replaced("user0"), append(replaced("user1"), problem("", "update cancelled"))...)
	got := concluded(Options{Forecast: plan()}, ending, append(events, summary)...)
	require.Contains(t, got, "    ++2 new ones created; their old ones are still there\n")
	require.NotContains(t, got, "2 replaced")
	require.Contains(t, got, "Thing user0 replaced (the old one is still there)\n")
	_, end, _ := strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, `
Update cancelled:
  not reached: 11 resources (db, done, free, user2, user3, user4, user5, user6, 3 more)
  replaced, and the old ones are still there: 2 resources (user0, user1)
  Next: again true
`, end)

	gone := stages.StepDone{Step: step(stages.OpDeleteReplaced, "user0", values{}, nil)}
	got = concluded(Options{}, ending, append(events, gone, summary)...)
	require.Contains(t, got, "    ++1 new one created; its old one is still there\n    +-1 replaced\n    2 changes\n")
	require.Contains(t, got, "Thing user0 replaced\n")

	first := append([]stages.Event{gone}, append(replaced("user0"), summary)...)
	require.NotContains(t, concluded(Options{}, ending, first...), "still there", "the old one was deleted first")
	require.Contains(t, concluded(Options{}, ending, stages.Summary{Result: stages.Canceled}), "\nUpdate cancelled:\n  Next: again true\n", "nobody knows what is left")
	ending.Failed = "preview"
	require.NotContains(t, concluded(Options{IsPreview: true}, ending, stages.Summary{IsPreview: true, Result: stages.Canceled}), "cancelled:", "nothing is left to be said")
}

func TestACancelledDestroySaysThatTheStackIsLeft(t *testing.T) {
	stack := step(stages.OpDelete, "dev", values{}, nil)
	stack.URN, stack.Old.Custom = urn.RootStack("dev", "p"), false
	a := step(stages.OpDelete, "a", values{}, nil)
	ending := Ending{Failed: "destroy", Canceled: true, NextStep: func(Failure) string { return "again" }}
	const want = "\nDestroy cancelled:\n  not reached: 1 resource (p-dev)\n  Next: again\n"
	events := []stages.Event{stages.StepStarted{Step: a}, stages.StepDone{Step: a}, problem("", "destroy cancelled"), stages.Summary{Result: stages.Canceled}}
	require.Contains(t, concluded(Options{Forecast: NewForecast([]stages.StepInfo{a, stack})}, ending, events...), want, "it was previewed")
	ending.Decided = []Unreached{{URN: stack.URN, Removes: true}}
	require.Contains(t, concluded(Options{}, ending, events...), want, "it was decided")
	ending.Decided = []Unreached{{URN: stack.URN}}
	require.NotContains(t, concluded(Options{}, ending, events...), "not reached", "an update makes the stack first")
}

func TestEqualCausesAreSaidOnce(t *testing.T) {
	var events []stages.Event
	names := make([]string, 12)
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i)
		s := step(stages.OpCreate, names[i], nil, values{})
		events = append(events, stages.StepStarted{Step: s}, problem(s.URN, "the provider was cancelled"),
			stages.StepFailed{Step: s, Err: errors.New("the provider was cancelled")})
	}
	canceled := append(slices.Clone(events), problem("", "update cancelled"), stages.Summary{Result: stages.Canceled})
	next := func(Failure) string { return "again" }
	got := concluded(Options{}, Ending{Failed: "update", Canceled: true, NextStep: next}, canceled...)
	require.Contains(t, got, " +  pkg:mod:Thing r* (12) **creating aborted**\n")
	require.Contains(t, got, "    12 aborted\n")
	require.NotContains(t, got, "Diagnostics:")
	_, end, _ := strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, `
Update cancelled:
  12 operations were aborted: r0, r1, r2, r3, r4, r5, r6, r7, 4 more:
    error: the provider was cancelled
  Next: again
`, end)
	require.Equal(t, 1, strings.Count(got, "the provider was cancelled"))

	failed := append(events, problem(thing("other"), "no quota"), stages.Summary{Result: stages.Failed})
	got = concluded(Options{}, Ending{Failed: "update", NextStep: next}, failed...)
	_, end, _ = strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, `
Update failed: 2 causes
  pkg:mod:Thing (other):
    error: no quota
  12 resources (r0, r1, r2, r3, r4, r5, r6, r7, 4 more):
    error: the provider was cancelled
  Next: again
`, end)
	require.Equal(t, 13, strings.Count(got, "the provider was cancelled"), "each row has it: the names of the last four are nowhere else")
}

func TestWhatWasAbortedIsListedOnceInTheOrderOfThePlan(t *testing.T) {
	var steps []stages.StepInfo
	var events []stages.Event
	for i := range 12 {
		s := step(stages.OpCreate, fmt.Sprintf("r%d", i), nil, values{})
		if i > 0 { // the first one comes last
			steps[0].New.Dependencies = append(steps[0].New.Dependencies, s.URN)
		}
		steps = append(steps, s)
	}
	for i := len(steps) - 1; i >= 0; i-- {
		err := fmt.Errorf("signal: killed: running sleep %d", i)
		events = append(events, stages.StepStarted{Step: steps[i]}, problem(steps[i].URN, err.Error()), stages.StepFailed{Step: steps[i], Err: err})
	}
	got := concluded(Options{Forecast: NewForecast(steps)}, Ending{Failed: "update", Canceled: true, NextStep: func(Failure) string { return "again" }},
		append(events, problem("", "update cancelled"), stages.Summary{Result: stages.Canceled})...)
	_, end, _ := strings.Cut(got, "Duration: 0s\n")
	require.Equal(t, "\nUpdate cancelled:\n  12 operations were aborted: r1, r2, r3, r4, r5, r6, r7, r8, 4 more\n  Next: again\n", end)
	for i := range steps {
		require.Equal(t, 1, strings.Count(got, fmt.Sprintf("running sleep %d\n", i)), "among the diagnostics")
	}
}

func TestALogSaysTheSameErrorOnce(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out})
	for name, err := range map[string]string{"a": "gone", "b": "full"} {
		l.Observe(stages.StepFailed{Step: step(stages.OpCreate, name, nil, values{}), Err: errors.New(err)})
	}
	l.Observe(stages.StepFailed{Step: step(stages.OpCreate, "c", nil, values{}), Err: errors.New("gone")})
	require.Equal(t, 1, strings.Count(out.String(), "error: gone"))
	require.Contains(t, out.String(), " c **creating failed** with the same error as a\n")
	require.Contains(t, out.String(), " b **creating failed** error: full\n")
}

func TestWhatWasAbortedIsInTheOrderOfNames(t *testing.T) {
	for _, names := range [][]string{{"r10", "r9"}, {"r9", "r10"}} {
		var events []stages.Event
		for _, name := range names {
			events = append(events, problem(thing(name), "the provider was cancelled"))
		}
		require.Contains(t, concluded(Options{}, Ending{Failed: "update", Canceled: true}, events...), "2 operations were aborted: r9, r10:")
	}
}

func TestWhatIsNotReachedIsInTheOrderOfNamesIfNobodyHasPlannedIt(t *testing.T) {
	got := concluded(Options{}, Ending{Failed: "destroy", Canceled: true, Decided: []Unreached{{URN: thing("r1")}, {URN: thing("r10")}, {URN: thing("r2")}}},
		problem("", "destroy cancelled"), stages.Summary{Result: stages.Canceled})
	require.Contains(t, got, "not reached: 3 resources (r1, r2, r10)")
}

// remark returns an error that the program has logged about a resource.
func remark(u urn.URN, text string) stages.Diagnostic {
	d := problem(u, text)
	d.Logged = true
	return d
}

func TestALoggedErrorIsAMessageUnlessTheProgramFails(t *testing.T) {
	for name, c := range map[string]struct {
		ending Ending
		more   []stages.Event
		want   string
	}{
		"the operation succeeds": {
			Ending{}, []stages.Event{stages.Summary{Result: stages.Succeeded, Changes: map[stages.Op]int{stages.OpCreate: 1}}},
			` +  pkg:mod:Thing a created

Diagnostics:
  pkg:mod:Thing (a):
    error: watch out

Resources:
    + 1 created

Duration: 0s
`,
		},
		"something else fails": {
			Ending{Failed: "update", Order: map[urn.URN]int{thing("b"): 1}}, []stages.Event{problem(thing("b"), "no luck"), problem("", "update failed")},
			` +  pkg:mod:Thing a created
    pkg:mod:Thing b **failed**

Diagnostics:
  pkg:mod:Thing (a):
    error: watch out

Update failed:
  pkg:mod:Thing (b):
    error: no luck
`,
		},
		"the program fails": {
			Ending{Failed: "update", Order: map[urn.URN]int{"": 0}}, []stages.Event{problem("", "update failed")},
			` +  pkg:mod:Thing a created

Update failed:
  pkg:mod:Thing (a):
    error: watch out
`,
		},
		"the program fails after another failure": {
			Ending{Failed: "preview", Order: map[urn.URN]int{"": 0, thing("b"): 1}},
			[]stages.Event{problem(thing("b"), "no luck"), remark("", "Error: x is undefined"), problem("", "preview failed")},
			` +  pkg:mod:Thing a created
    pkg:mod:Thing b **failed**

Preview failed: 3 causes
  stack:
    error: Error: x is undefined
  pkg:mod:Thing (b):
    error: no luck
  pkg:mod:Thing (a):
    error: watch out
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			events := []stages.Event{stages.StepDone{Step: step(stages.OpCreate, "a", nil, values{})}, remark(thing("a"), "watch out")}
			require.Equal(t, c.want, concluded(Options{}, c.ending, append(events, c.more...)...))
		})
	}
}
