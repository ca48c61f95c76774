package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestDetailsThatManyErrorsShareAreToldOnce(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "Updating (dev):", Out: &out})
	for _, name := range []string{"one", "two"} {
		l.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{
			Severity: stages.Error, URN: thing(name), Message: "create of " + name + ": the plugin ended\nits last output was:\n  panic: no disk",
		}})
	}
	l.Close()
	require.Equal(t, 1, strings.Count(out.String(), "no disk"), out.String())
	require.Contains(t, out.String(), "error: create of two: the plugin ended (as above)\n")
}

func TestUnchangedIsWhatIsThereAndStays(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "Destroying (dev):", Out: &out})
	old := values{"size": property.Number(1)}
	kept, gone, never := step(stages.OpSame, "kept", old, old), step(stages.OpSame, "gone", old, old), step(stages.OpSame, "never", nil, old)
	for _, s := range []stages.StepInfo{kept, gone, never, step(stages.OpDelete, "gone", old, nil)} {
		l.Observe(stages.StepDone{Step: s})
	}
	l.Observe(stages.Summary{Changes: map[stages.Op]int{stages.OpSame: 3, stages.OpDelete: 1}})
	l.Close()
	require.Contains(t, out.String(), "Resources:\n    - 1 deleted\n    1 unchanged. 1 not part of the operation\n")
}

func TestRefreshOfAnUpdateIsToldWhereItFoundSomething(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*stages.StepInfo, *Options)
		want   string
	}{
		"nothing": {func(s *stages.StepInfo, _ *Options) { s.Reason.Kind = unchangedReason }, "T\n"},
		"internal": {func(s *stages.StepInfo, o *Options) {
			s.Reason.Kind, s.Internal, o.ShowSames = unchangedReason, true, true
		}, "T\n"},
		"sames": {func(s *stages.StepInfo, o *Options) { s.Reason.Kind, o.ShowSames = unchangedReason, true }, "T\n ~  pkg:mod:Thing a refreshed\n"},
		"drift": {func(s *stages.StepInfo, _ *Options) {
			s.Reason = stages.Reason{Kind: "drift", Properties: []string{"size"}}
		},
			"T\n ~  pkg:mod:Thing a refreshed because `size` changed outside\n"},
		"gone": {func(s *stages.StepInfo, _ *Options) { s.Reason.Kind, s.New = "vanished", nil },
			"T\n ~  pkg:mod:Thing a refreshed because its provider does not find it any more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out}
			s := step(stages.OpRefresh, "a", values{}, values{})
			test.change(&s, &o)
			l := NewLog(o)
			l.Observe(stages.StepDone{Step: s})
			l.Close()
			require.Equal(t, test.want, out.String())
		})
	}
}

func TestOutputsOfAStack(t *testing.T) {
	root := func(op stages.Op) stages.StepInfo {
		return stages.StepInfo{Op: op, URN: urn.RootStack("dev", "p"), Type: urn.RootStackType}
	}
	before := values{"kept": property.Number(1), "url": property.String("a"), "gone": property.Bool(true)}
	after := values{"kept": property.Number(1), "url": property.String("b"), "key": property.Bool(true)}
	for name, test := range map[string]struct {
		root          stages.Op
		before, after values
		change        func(*Options)
		want          string
	}{
		"update": {stages.OpSame, before, after, func(*Options) {}, "  - gone: true\n    kept: 1\n  + key : true\n  ~ url : \"a\" → \"b\"\n"},
		"preview shows only changes": {
			stages.OpSame, before, after, func(o *Options) { o.IsPreview = true }, "  - gone: true\n  + key : true\n  ~ url : \"a\" → \"b\"\n",
		},
		"preview without changes": {stages.OpSame, before, before, func(o *Options) { o.IsPreview = true }, ""},
		"preview with what stays the same": {
			stages.OpSame, before, before, func(o *Options) { o.IsPreview, o.ShowSames = true, true }, "    gone: true\n    kept: 1\n    url : \"a\"\n",
		},
		"first update":  {stages.OpCreate, nil, after, func(*Options) {}, "    kept: 1\n    key : true\n    url : \"b\"\n"},
		"first preview": {stages.OpCreate, nil, after, func(o *Options) { o.IsPreview = true }, "    kept: 1\n    key : true\n    url : \"b\"\n"},
		"first preview as a diff": {
			stages.OpCreate, nil, after, func(o *Options) { o.IsPreview, o.Diff = true, true }, "  + kept: 1\n  + key : true\n  + url : \"b\"\n",
		},
		"first outputs":  {stages.OpSame, nil, values{"a": property.Number(1)}, func(*Options) {}, "  + a: 1\n"},
		"end of a stack": {stages.OpDelete, values{"a": property.Number(1)}, nil, func(o *Options) { o.IsPreview = true }, "  - a: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out}
			test.change(&o)
			l := NewLog(o)
			l.Observe(stages.StepStarted{Step: root(test.root)})
			l.Observe(stages.Summary{OldOutputs: property.NewMap(test.before), Outputs: property.NewMap(test.after)})
			l.Close()
			_, shown, _ := strings.Cut(out.String(), "Outputs:\n")
			shown, _, _ = strings.Cut(shown, "\nResources:")
			require.Equal(t, test.want, shown)
		})
	}
}

func TestAnOperationSaysOnceThatItRefreshes(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"update":                  {func(*Options) {}, "T\n ~  refreshing what is recorded\n"},
		"refresh":                 {func(o *Options) { o.IsRefresh = true }, "T\n"},
		"quiet":                   {func(o *Options) { o.OnlyEnd = true }, "T\n"},
		"progress not wished for": {func(o *Options) { o.SuppressProgress = true }, "T\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out}
			test.change(&o)
			l := NewLog(o)
			hidden := step(stages.OpRefresh, "p", values{}, values{})
			hidden.Internal = true
			l.Observe(stages.StepStarted{Step: hidden})
			require.Equal(t, "T\n", out.String(), "what is not shown does not count")
			for _, name := range []string{"a", "b"} {
				l.Observe(stages.StepStarted{Step: step(stages.OpRefresh, name, values{}, values{})})
			}
			require.Equal(t, test.want, out.String())
		})
	}
}
