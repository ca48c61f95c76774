package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
)

func TestDetailsThatManyErrorsShareAreToldOnce(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "Updating (dev):", Out: &out})
	for _, name := range []string{"one", "two"} {
		l.Observe(sluice.Diagnostic{LogMessage: sluice.LogMessage{
			Severity: sluice.Error, URN: thing(name), Message: "create of " + name + ": the plugin ended\nits last output was:\n  panic: no disk",
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
	kept, gone, never := step(sluice.OpSame, "kept", old, old), step(sluice.OpSame, "gone", old, old), step(sluice.OpSame, "never", nil, old)
	for _, s := range []sluice.StepInfo{kept, gone, never, step(sluice.OpDelete, "gone", old, nil)} {
		l.Observe(sluice.StepDone{Step: s})
	}
	l.Observe(sluice.Summary{Changes: map[sluice.Op]int{sluice.OpSame: 3, sluice.OpDelete: 1}})
	l.Close()
	require.Contains(t, out.String(), "Resources:\n    - 1 deleted\n    1 unchanged. 1 not part of the operation\n")
}

func TestRefreshOfAnUpdateIsToldWhereItFoundSomething(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*sluice.StepInfo, *Options)
		want   string
	}{
		"nothing": {func(s *sluice.StepInfo, _ *Options) { s.Reason.Kind = unchangedReason }, "T\n"},
		"internal": {func(s *sluice.StepInfo, o *Options) {
			s.Reason.Kind, s.Internal, o.ShowSames = unchangedReason, true, true
		}, "T\n"},
		"sames": {func(s *sluice.StepInfo, o *Options) { s.Reason.Kind, o.ShowSames = unchangedReason, true }, "T\n ~  pkg:mod:Thing a refreshed\n"},
		"drift": {func(s *sluice.StepInfo, _ *Options) {
			s.Reason = sluice.Reason{Kind: "drift", Properties: []string{"size"}}
		},
			"T\n ~  pkg:mod:Thing a refreshed because `size` changed outside\n"},
		"gone": {func(s *sluice.StepInfo, _ *Options) { s.Reason.Kind, s.New = "vanished", nil },
			"T\n ~  pkg:mod:Thing a refreshed because it does not exist any more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := Options{Title: "T", Out: &out}
			s := step(sluice.OpRefresh, "a", values{}, values{})
			test.change(&s, &o)
			NewLog(o).Observe(sluice.StepDone{Step: s})
			require.Equal(t, test.want, out.String())
		})
	}
}
