// Package stagestest is for tests of stages that callers put into the slots of an engine. [Resource] makes the items of each slot,
// [Run] passes them to one stage alone and collects the results, and [Check] tests the stage against the rules of its slot:
//
//	func TestFreeze(t *testing.T) {
//		replaced := stagestest.Resource{Name: "web", Recorded: true, Replaces: true}
//		result := stagestest.Run(t.Context(), stages.RunInfo{}, freeze, replaced.Diffed())
//		require.ErrorContains(t, result.Refused[0], "frozen")
//
//		stagestest.Check(t, freeze, func() []stages.Diffed { return []stages.Diffed{replaced.Diffed()} })
//	}
//
// [RunReplacement] and [CheckReplacement] do the same for stages in the place of standard ones.
//
// It runs no engine: nothing is decided, recorded or deleted.
//
// Invariant: the same code as in an engine enforces the rules for a stage.
package stagestest
