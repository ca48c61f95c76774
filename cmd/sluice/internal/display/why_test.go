package display

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// link makes a link of an explanation.
func link(name string, op stages.Op, kind stages.ReasonKind, set func(*why.Link)) why.Link {
	u := thing(name)
	l := why.Link{Type: u.Type(), Name: name, Decision: why.Decision{URN: u, Op: op, Reason: kind}}
	if set != nil {
		set(&l)
	}
	l.Because = stages.Reason{Kind: l.Reason, Properties: l.Names, Cause: l.Cause, By: l.DecidedBy}.Clause()
	return l
}

func text(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }

// subnet returns the link of a resource that is replaced because of a change to the program.
func subnet() why.Link {
	return link("subnet", stages.OpReplace, "inputs", func(l *why.Link) {
		l.Names, l.DecidedBy, l.Position, l.Roots = []string{"cidrBlock"}, "Diff", "index.ts:14", []why.Root{why.RootProgram}
		l.Properties = []why.Change{{Path: "cidrBlock", Kind: "update-replace", Old: text("10.0.0.0/24"), New: text("10.0.1.0/24"), Origin: why.FromProgram}}
	})
}

func explanations() map[string]*why.Explanation {
	type links = []why.Link
	one := func(l why.Link) *why.Explanation {
		return &why.Explanation{URN: l.URN, Links: links{l}, Start: 1}
	}
	web := func(name string, next ...int) why.Link {
		return link(name, stages.OpReplace, "inputs", func(l *why.Link) {
			l.Names, l.DecidedBy, l.Next = []string{"subnetId"}, "Diff", next
			l.Properties = []why.Change{{Path: "subnetId", Kind: "update-replace", Old: text("subnet-1"), New: text("[unknown]"),
				Origin: why.FromResource, From: []urn.URN{thing("subnet")}}}
		})
	}
	return map[string]*why.Explanation{
		"chain":    {Links: links{web("web", 1), subnet()}, Start: 1},
		"branches": {Links: links{web("web", 1, 2), subnet(), web("other", 1)}, Start: 1},
		"new": one(link("a", stages.OpCreate, "new", func(l *why.Link) {
			l.Position, l.Roots = "index.ts:3", []why.Root{why.RootProgram}
		})),
		"unchanged": one(link("a", stages.OpSame, "unchanged", func(l *why.Link) { l.DecidedBy, l.Ignored = "Diff", []string{"size"} })),
		"options": one(link("a", stages.OpSame, "options", func(l *why.Link) {
			l.Names = []string{"protect"}
			l.Options = []why.Change{{Path: "protect", Old: json.RawMessage("false"), New: json.RawMessage("true"), Origin: why.FromProgram}}
		})),
		"deleted first": {Links: links{
			link("b", stages.OpReplace, "dependency-replaced", func(l *why.Link) {
				l.Names, l.Cause, l.DeleteFirst, l.Next = []string{"of"}, thing("a"), true, []int{1}
				l.Properties = []why.Change{{Path: "of", Old: text("arn"), Origin: why.FromResource, From: []urn.URN{thing("a")}}}
			}),
			link("a", stages.OpReplace, "tainted", func(l *why.Link) { l.DeleteFirst, l.Order = true, "option" }),
		}, Start: 1},
		"failed": one(link("a", stages.OpUpdate, "inputs", func(l *why.Link) {
			l.Fate, l.Names = stages.FateFailed, []string{"password"}
			l.Properties = []why.Change{{Path: "password", Old: text("[secret]"), New: text("[secret]"), Origin: why.FromProgram, Was: []urn.URN{thing("x")}, Is: []urn.URN{thing("y")}}}
		})),
		"skipped": {Links: links{
			link("b", stages.OpDelete, "not-in-program", func(l *why.Link) { l.Fate, l.FailedDependency, l.Next = stages.FateSkipped, thing("a"), []int{1} }),
			link("a", stages.OpDelete, "destroy", func(l *why.Link) { l.Fate = stages.FateNotReached }),
		}, Start: 1},
		"outside": {Links: links{
			link("a", stages.OpUpdate, "inputs", func(l *why.Link) {
				l.Names, l.DecidedBy = []string{"size"}, "Diff"
				l.Properties = []why.Change{{Path: "size", Old: json.RawMessage("9"), New: json.RawMessage("1"), Recorded: json.RawMessage("1"), Origin: why.FromOutside}}
			}),
			link("a", stages.OpRefresh, "drift", func(l *why.Link) { l.Names, l.DecidedBy = []string{"size"}, "Read" }),
		}, Start: 2},
		"origins": one(link("a", stages.OpUpdate, "inputs", func(l *why.Link) {
			l.Names, l.More, l.OldURN = []string{"many"}, 3, thing("before")
			for _, o := range []why.Origin{why.FromConfiguration, why.FromCheck, why.FromPolicy, why.FromProvider} {
				l.Properties = append(l.Properties, why.Change{Path: string(o), New: json.RawMessage("[1,2]"), Origin: o})
			}
		})),
		"texts": one(link("a", stages.OpUpdate, "inputs", func(l *why.Link) {
			for _, c := range [][2]string{
				{`"eu-west-1 of old"`, `"us-west-1 of new"`}, {`"{\"a\": 1}"`, `"{\"a\":1}"`}, {`"a: 1\nb: …"`, `"a: 1\n\nb: …"`}, {`"\u202ea"`, `"[secret"`},
				{`"[secret]"`, `"[secret]"`}, {`1`, `"1"`},
			} {
				l.Properties = append(l.Properties, why.Change{Path: "p", Old: json.RawMessage(c[0]), New: json.RawMessage(c[1]), Origin: why.FromProgram})
			}
		})),
		"old copy":          one(link("a", stages.OpDeleteReplaced, "replaced", nil)),
		"hostile":           one(link("bro\nken\x1b[31m", stages.OpDelete, "not-in-program", nil)),
		"provider replaced": one(link("a", stages.OpReplace, "provider-changed", func(l *why.Link) { l.DecidedBy = "DiffConfig" })),
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

func TestExplanationsInColoursOnlyAddThem(t *testing.T) {
	for _, width := range []int{0, 40} {
		for name, e := range explanations() {
			var plain, coloured bytes.Buffer
			require.NoError(t, WriteExplanation(WhyOptions{Out: &plain, Width: width}, e))
			require.NoError(t, WriteExplanation(WhyOptions{Out: &coloured, Width: width, Color: true}, e))
			require.Equal(t, plain.String(), ansi.Strip(coloured.String()), name)
			if name == "texts" && width == 0 {
				require.Contains(t, marked(coloured.String()), `p: "«eu»-west-1 of «old»" → "«us»-west-1 of «new»", in the program`)
			}
		}
	}
}

func TestExplanationOfARefreshSpeaksOfTheRecord(t *testing.T) {
	var b bytes.Buffer
	e := &why.Explanation{Links: []why.Link{link("a", stages.OpUpdate, "drift", nil)}, Start: 1}
	require.NoError(t, WriteExplanation(WhyOptions{Out: &b, Refresh: true, URNs: true}, e))
	require.Equal(t, string(thing("a"))+" is recorded as it was found\n  because it changed outside\n", b.String())
}
