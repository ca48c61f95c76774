package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
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
			"T\n ~  pkg:mod:Thing a refreshed because it does not exist any more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out}
			s := step(stages.OpRefresh, "a", values{}, values{})
			test.change(&s, &o)
			NewLog(o).Observe(stages.StepDone{Step: s})
			require.Equal(t, test.want, out.String())
		})
	}
}
