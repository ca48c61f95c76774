package decisions

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestWhatWasPossibleAndDidNotHappenIsRemembered(t *testing.T) {
	step := func(op stages.Op, name string) stages.StepInfo { return stages.StepInfo{Op: op, URN: urn.URN(name)} }
	possibly := func(op stages.Op, name string) stages.StepInfo {
		s := step(op, name)
		s.Reason.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		return s
	}
	type steps = []stages.StepInfo
	for name, c := range map[string]struct {
		before          Unrealized
		preview, update steps
		want            Unrealized
	}{
		"nothing": {nil, nil, nil, Unrealized{}},
		"an update that did not happen": {
			nil, steps{possibly(stages.OpUpdate, "a")}, steps{step(stages.OpSame, "a")}, Unrealized{"a": stages.OpUpdate},
		},
		"an update that did happen": {
			Unrealized{"a": stages.OpUpdate}, steps{possibly(stages.OpUpdate, "a")}, steps{step(stages.OpUpdate, "a")}, Unrealized{},
		},
		"a replacement that did not happen": {
			nil, steps{possibly(stages.OpCreateReplacement, "a"), possibly(stages.OpReplace, "a"), possibly(stages.OpDeleteReplaced, "a")},
			steps{step(stages.OpSame, "a")}, Unrealized{"a": stages.OpReplace},
		},
		"a replacement that was an update": {
			nil, steps{possibly(stages.OpReplace, "a")}, steps{step(stages.OpUpdate, "a")}, Unrealized{"a": stages.OpReplace},
		},
		"a replacement that did happen": {
			Unrealized{"a": stages.OpReplace}, steps{possibly(stages.OpReplace, "a")},
			steps{step(stages.OpCreateReplacement, "a"), step(stages.OpReplace, "a")}, Unrealized{},
		},
		"an update that became a replacement": {
			Unrealized{"a": stages.OpUpdate}, steps{possibly(stages.OpUpdate, "a")}, steps{step(stages.OpReplace, "a")}, Unrealized{},
		},
		"what the update has not come to": {
			Unrealized{"a": stages.OpUpdate}, steps{possibly(stages.OpUpdate, "a"), possibly(stages.OpUpdate, "b")}, nil,
			Unrealized{"a": stages.OpUpdate},
		},
		"what was certain": {nil, steps{step(stages.OpUpdate, "a")}, steps{step(stages.OpSame, "a")}, Unrealized{}},
		"what was not possible this time": {
			Unrealized{"a": stages.OpUpdate}, nil, steps{step(stages.OpSame, "a")}, Unrealized{"a": stages.OpUpdate},
		},
		"what has changed for certain": {Unrealized{"a": stages.OpReplace}, nil, steps{step(stages.OpUpdate, "a")}, Unrealized{}},
		"what was deleted":             {Unrealized{"a": stages.OpUpdate}, nil, steps{step(stages.OpDelete, "a")}, Unrealized{}},
		"what was read and then not replaced": {
			nil, steps{possibly(stages.OpReplace, "a")}, steps{step(stages.OpRefresh, "a"), step(stages.OpSame, "a")}, Unrealized{"a": stages.OpReplace},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.before.after(c.preview, c.update)) })
	}
}

func TestTheMemoryOfWhatDidNotHappenIsBounded(t *testing.T) {
	var preview, update []stages.StepInfo
	for i := range maxUnrealized + 500 {
		s := stages.StepInfo{Op: stages.OpUpdate, URN: urn.URN(fmt.Sprintf("r%04d", i))}
		s.Reason.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		preview = append(preview, s)
		update = append(update, stages.StepInfo{Op: stages.OpSame, URN: s.URN})
	}
	got := Unrealized(nil).after(preview, update)
	require.Len(t, got, maxUnrealized)
	require.Contains(t, got, urn.URN("r0000"))
	require.NotContains(t, got, urn.URN("r1400"))
}
