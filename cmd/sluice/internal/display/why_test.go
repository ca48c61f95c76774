package display

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/urn"
)

// link makes a link of an explanation.
func link(name string, op sluice.Op, why sluice.ReasonKind, set func(*sluice.ExplanationLink)) sluice.ExplanationLink {
	u := thing(name)
	l := sluice.ExplanationLink{Type: u.Type(), Name: name, Decision: sluice.Decision{URN: u, Op: op, Reason: why}}
	if set != nil {
		set(&l)
	}
	l.Because = sluice.Reason{Kind: l.Reason, Properties: l.Names, Cause: l.Cause, By: l.DecidedBy}.Clause()
	return l
}

func text(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }

// subnet is replaced because of an edit of the program.
func subnet() sluice.ExplanationLink {
	return link("subnet", sluice.OpReplace, "inputs", func(l *sluice.ExplanationLink) {
		l.Names, l.DecidedBy, l.Position, l.Roots = []string{"cidrBlock"}, "Diff", "index.ts:14", []sluice.RootCause{sluice.RootProgram}
		l.Properties = []sluice.DecisionChange{{Path: "cidrBlock", Kind: "update-replace", Old: text("10.0.0.0/24"), New: text("10.0.1.0/24"), Origin: sluice.FromProgram}}
	})
}

func explanations() map[string]*sluice.Explanation {
	type links = []sluice.ExplanationLink
	one := func(l sluice.ExplanationLink) *sluice.Explanation {
		return &sluice.Explanation{URN: l.URN, Links: links{l}, Start: 1}
	}
	web := func(name string, next ...int) sluice.ExplanationLink {
		return link(name, sluice.OpReplace, "inputs", func(l *sluice.ExplanationLink) {
			l.Names, l.DecidedBy, l.Next = []string{"subnetId"}, "Diff", next
			l.Properties = []sluice.DecisionChange{{Path: "subnetId", Kind: "update-replace", Old: text("subnet-1"), New: text("[unknown]"),
				Origin: sluice.FromResource, From: []urn.URN{thing("subnet")}}}
		})
	}
	return map[string]*sluice.Explanation{
		"chain":    {Links: links{web("web", 1), subnet()}, Start: 1},
		"branches": {Links: links{web("web", 1, 2), subnet(), web("other", 1)}, Start: 1},
		"new": one(link("a", sluice.OpCreate, "new", func(l *sluice.ExplanationLink) {
			l.Position, l.Roots = "index.ts:3", []sluice.RootCause{sluice.RootProgram}
		})),
		"unchanged": one(link("a", sluice.OpSame, "unchanged", func(l *sluice.ExplanationLink) { l.DecidedBy, l.Ignored = "Diff", []string{"size"} })),
		"options": one(link("a", sluice.OpSame, "options", func(l *sluice.ExplanationLink) {
			l.Names = []string{"protect"}
			l.Options = []sluice.DecisionChange{{Path: "protect", Old: json.RawMessage("false"), New: json.RawMessage("true"), Origin: sluice.FromProgram}}
		})),
		"deleted first": {Links: links{
			link("b", sluice.OpReplace, "dependency-replaced", func(l *sluice.ExplanationLink) {
				l.Names, l.Cause, l.DeleteFirst, l.Next = []string{"of"}, thing("a"), true, []int{1}
				l.Properties = []sluice.DecisionChange{{Path: "of", Old: text("arn"), Origin: sluice.FromResource, From: []urn.URN{thing("a")}}}
			}),
			link("a", sluice.OpReplace, "tainted", func(l *sluice.ExplanationLink) { l.DeleteFirst, l.Order = true, "option" }),
		}, Start: 1},
		"failed": one(link("a", sluice.OpUpdate, "inputs", func(l *sluice.ExplanationLink) {
			l.Fate, l.Names = sluice.FateFailed, []string{"password"}
			l.Properties = []sluice.DecisionChange{{Path: "password", Old: text("[secret]"), New: text("[secret]"), Origin: sluice.FromProgram, Was: []urn.URN{thing("x")}, Is: []urn.URN{thing("y")}}}
		})),
		"skipped": {Links: links{
			link("b", sluice.OpDelete, "not-in-program", func(l *sluice.ExplanationLink) { l.Fate, l.Blame, l.Next = sluice.FateSkipped, thing("a"), []int{1} }),
			link("a", sluice.OpDelete, "destroy", func(l *sluice.ExplanationLink) { l.Fate = sluice.FateNotReached }),
		}, Start: 1},
		"outside": {Links: links{
			link("a", sluice.OpUpdate, "inputs", func(l *sluice.ExplanationLink) {
				l.Names, l.DecidedBy = []string{"size"}, "Diff"
				l.Properties = []sluice.DecisionChange{{Path: "size", Old: json.RawMessage("9"), New: json.RawMessage("1"), Recorded: json.RawMessage("1"), Origin: sluice.FromOutside}}
			}),
			link("a", sluice.OpRefresh, "drift", func(l *sluice.ExplanationLink) { l.Names, l.DecidedBy = []string{"size"}, "Read" }),
		}, Start: 2},
		"origins": one(link("a", sluice.OpUpdate, "inputs", func(l *sluice.ExplanationLink) {
			l.Names, l.More, l.OldURN = []string{"many"}, 3, thing("before")
			for _, o := range []sluice.ValueOrigin{sluice.FromConfiguration, sluice.FromCheck, sluice.FromPolicy, sluice.FromProvider} {
				l.Properties = append(l.Properties, sluice.DecisionChange{Path: string(o), New: json.RawMessage("[1,2]"), Origin: o})
			}
		})),
		"old copy":          one(link("a", sluice.OpDeleteReplaced, "replaced", nil)),
		"hostile":           one(link("bro\nken\x1b[31m", sluice.OpDelete, "not-in-program", nil)),
		"provider replaced": one(link("a", sluice.OpReplace, "provider-changed", func(l *sluice.ExplanationLink) { l.DecidedBy = "DiffConfig" })),
	}
}

func TestExplanationsReadAsTheyShould(t *testing.T) {
	for width, file := range map[int]string{0: "why", 40: "why_narrow"} {
		var b bytes.Buffer
		all := explanations()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			b.WriteString("== " + name + "\n")
			require.NoError(t, WriteExplanation(WhyOptions{Out: &b, Width: width}, all[name]))
		}
		golden(t, file, b.String())
	}
}

func TestExplanationOfARefreshSpeaksOfTheRecord(t *testing.T) {
	var b bytes.Buffer
	e := &sluice.Explanation{Links: []sluice.ExplanationLink{link("a", sluice.OpUpdate, "drift", nil)}, Start: 1}
	require.NoError(t, WriteExplanation(WhyOptions{Out: &b, Refresh: true, URNs: true}, e))
	require.Equal(t, string(thing("a"))+" is recorded as it was found\n  because it changed outside\n", b.String())
}
