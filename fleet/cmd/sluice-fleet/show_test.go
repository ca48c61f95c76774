package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/watch"
)

// There may have been no look while the stack ran in between.
func TestAnotherPlanThatWaitsForApprovalIsShown(t *testing.T) {
	var out bytes.Buffer
	s := newShow(false, false)
	s.out = &out
	for _, plan := range []string{"one", "one", "other"} {
		s.look(watch.State{View: run.View{Stacks: []run.StackView{{Name: "db", Outcome: run.Outcome{Status: run.Approving, Plan: plan}}}}})
	}
	require.Equal(t, 2, strings.Count(out.String(), "approval"), out.String())
	require.Contains(t, out.String(), "plan other")
}
