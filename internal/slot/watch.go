package slot

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Patience is the time after which a stage that has not returned is named.
const Patience = 5 * time.Second

// beat is how often a guard looks whether its stage has returned, while it works.
const beat = time.Second

// watch is the clock by which a guard finds a stage that does not return. It runs only while the stage works. The lock of the guard guards it.
type watch struct {
	tick  int // beats so far
	timer *time.Timer
	runs  bool
	over  bool   // the stage has been named, or has ended
	aside string // the function that is running instead of Run: Flush or Idle
	since int    // the tick at which it began
}

// start starts the clock unless it is running. look is called at each beat.
func (w *watch) start(look func()) {
	switch {
	case w.runs || w.over:
		return
	case w.timer == nil:
		w.timer = time.AfterFunc(beat, look)
	default:
		w.timer.Reset(beat)
	}
	w.runs = true
}

// stop ensures that nothing is named any more.
func (w *watch) stop() {
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// isLate reports whether something that began at a tick has lasted too long.
func (w *watch) isLate(since int) bool { return time.Duration(w.tick-since)*beat >= Patience }

// inOrder compares two items by the order in which they came.
func inOrder[T Item](a, b T) int {
	return cmp.Or(cmp.Compare(a.Identity().Seq(), b.Identity().Seq()), cmp.Compare(a.String(), b.String()))
}

// ends reports whether an error of a stage is known already, or only means that the run is over. The same error before the end is one of the stage:
// it may come from another pipeline or context.
func ends(ctx context.Context, err error) bool {
	if stages.IsReported(err) {
		return true
	}
	return ctx.Err() != nil && (errors.Is(err, pipeline.ErrStopped) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}
