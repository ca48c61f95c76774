package operate

import (
	"cmp"
	"errors"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// ending describes the end of a phase for displays: the decisions and, if it has failed, the causes. named replaces the command
// name in a text by the name of this program. next is the next step, whatever has failed; "" if it depends on that.
func ending(log *why.Log, err error, advised map[urn.URN]bool, named func(text string) string, next string) display.Ending {
	var failed *sluice.FailedError
	if !errors.As(err, &failed) {
		return display.Ending{Log: log}
	}
	e := display.Ending{Log: log, Failed: failed.Operation, Canceled: failed.Canceled, Order: map[urn.URN]int{}, Advised: advised}
	e.NextStep = func(f display.Failure) string { return named(cmp.Or(next, nextStep(f))) }
	for _, err := range failed.Err.WrappedErrors() {
		var f stages.Failure
		if errors.As(err, &f) {
			if n, known := e.Order[f.URN]; !known || f.Seq < n {
				e.Order[f.URN] = f.Seq
			}
		}
	}
	if log == nil {
		return e
	}
	for _, d := range log.Decisions {
		// What a failure has skipped counts whatever was planned. What was not reached and does not change is not worth a word.
		if !d.Internal && (d.Fate == stages.FateSkipped || d.Fate == stages.FateNotReached && d.Op != stages.OpSame) {
			e.Decided = append(e.Decided, display.Unreached{URN: d.URN, Because: d.FailedDependency, Removes: stages.Removes(d.Op)})
		}
	}
	return e
}

// nextStep returns advice about a failure whose message contains none.
func nextStep(f display.Failure) string {
	action := advice.Repeat
	switch {
	case f.Unknown:
		action = advice.Recover
	case f.Preview:
		action = advice.PreviewAgain
	case f.Interrupted:
		action = advice.GoOn
	}
	return strings.TrimLeft(advise.With("", advice.On(action)), " :;,\n")
}
