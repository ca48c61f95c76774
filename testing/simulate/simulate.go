package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/cputime"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Check runs a case and fails the test if a promise is broken. It reports the faults, and the smallest failing case that it found.
func Check(t *testing.T, c Case) Report {
	t.Helper()
	r := Run(t, c)
	if len(r.Faults) == 0 {
		return r
	}
	kind := kindOf(r.Faults[0])
	const patience = 20 * time.Second // of real time, for shrinking the case
	began := time.Now()
	small := Shrink(c, func(c Case) bool {
		if time.Since(began) > patience {
			return false
		}
		for range 2 { // repeat, because the order of calls that end at the same time is random
			if again := Run(t, c); len(again.Faults) > 0 && kindOf(again.Faults[0]) == kind {
				return true
			}
		}
		return false
	}, 2000)
	faults := Run(t, small).Faults
	if len(faults) == 0 {
		small, faults = c, append(r.Faults, "the smaller case does not always fail")
	}
	text, err := json.MarshalIndent(small, "", " ")
	if err != nil {
		text = []byte(err.Error())
	}
	t.Errorf("%s\n\nThe case, for testdata/cases:\n%s", strings.Join(faults, "\n"), text)
	return r
}

// kindOf returns the kind of a fault: its first words after the operation, without names.
func kindOf(fault string) string {
	_, what, ok := strings.Cut(fault, ": ")
	if !ok {
		what = fault
	}
	words := strings.Fields(what)
	return strings.Join(words[:min(3, len(words))], " ")
}

// Run runs a case.
func Run(t *testing.T, c Case) (r Report) {
	t.Helper()
	defer watch(c)()
	defer func() {
		if p := recover(); p != nil {
			r.Faults = append(r.Faults, fmt.Sprintf("the end: panic: %v", p)) // of synctest: a deadlock, or goroutines left behind
		}
	}()
	synctest.Test(t, func(t *testing.T) { r = play(t.Context(), c).Report })
	return r
}

// watch ends the process when a case uses a minute of processor time. Nothing is blocked then, or the bubble would report it. Real time would depend
// on the load of the machine.
func watch(c Case) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	began := cputime.SoFar()
	var watching conc.WaitGroup
	watching.Go(func() {
		for await.For(ctx, time.Second) == nil {
			if cputime.SoFar()-began > time.Minute {
				hung(c)
			}
		}
	})
	return func() {
		cancel()
		watching.Wait()
	}
}

// hung prints a case and the stacks of all goroutines, and ends the process.
func hung(c Case) {
	text, err := json.MarshalIndent(c, "", " ")
	stacks := make([]byte, 1<<20)
	fmt.Fprintf(os.Stderr, "the case does not come to an end: %s %v\n%s\n", text, err, stacks[:runtime.Stack(stacks, true)])
	os.Exit(2)
}
