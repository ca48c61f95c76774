package rules

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sluice-iac/sluice/testing/simulate"
	"github.com/sluice-iac/sluice/testing/tier"
)

// The main property of the engine: for one program, one state and one table of provider replies, the plan, the final
// state and the errors do not depend on the duration of anything or on the number of workers.
//
// Package simulate draws the cases, which are whole histories, and checks many other properties; here each operation
// runs under more timings than there.
func TestOutcomeDoesNotDependOnTiming(t *testing.T) {
	cases := 150
	if !tier.More(t, "150 seeds") {
		cases = 40
	}
	for seed := range uint64(cases) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := simulate.Generate(rand.New(rand.NewPCG(seed, 7)))
			c.Schedules = []simulate.Schedule{
				{Seed: 1, Workers: 1, Milliseconds: 1000}, {Seed: 2, Workers: 2, Milliseconds: 1000}, {Seed: 3, Workers: 64, Milliseconds: 1000},
				{Seed: 4, Workers: 64, Milliseconds: 1000}, {Workers: 64}, {Seed: 5, Workers: 2, Milliseconds: 50},
			}
			simulate.Check(t, c)
		})
	}
}
