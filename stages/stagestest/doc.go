// Package stagestest is for tests of stages that callers put into the slots of an engine. [Resource] makes the items of each slot, [Run] gives
// them to one stage alone and collects what it does, and [Check] holds the stage to the rules of its slot:
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
// Invariant: a stage is held to the same rules as in an engine, by the same code.
package stagestest
