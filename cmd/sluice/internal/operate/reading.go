package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/readtimes"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// reading decides which recorded resources an operation with --refresh=changed reads (decision 0265). It starts with nothing and only grows.
type reading struct {
	only   map[urn.URN]bool // nil: every resource
	times  readtimes.Times
	oldest time.Time // what was not read since is read, too; zero: whatever its age
}

// newReading returns what an operation reads first, nil if that is not to be found out.
func newReading(ctx context.Context, o *operation) *reading {
	if !o.job.Flags.Program.RefreshesChanged() {
		return nil
	}
	r := &reading{only: map[urn.URN]bool{}}
	if age := o.job.Flags.Incremental.MaxAge; age > 0 {
		r.times, r.oldest = readtimes.Of(ctx, o.job.Stack), time.Now().Add(-age)
	}
	return r
}

// preview runs the preview of an operation. With --refresh=changed it first finds out what to read.
func preview(ctx context.Context, o *operation) (*sluice.Result, error) {
	if o.reading == nil {
		return runPhase(ctx, o, true, 0)
	}
	// There is only one document, so that nothing may follow from what its preview reads.
	if err := o.reading.explore(ctx, o, o.job.Flags.Display.JSON()); err != nil {
		return nil, err
	}
	for {
		result, err := runPhase(ctx, o, true, 0)
		if err != nil || o.job.Flags.Display.JSON() {
			return result, err
		}
		grown := o.reading.add(result.Steps())
		if grown == 0 {
			return result, nil
		}
		fmt.Fprintf(o.job.Terminal.Err, "\n%s would also change because of what was read. Another preview reads everything that would change:\n\n", format.Resources(grown))
	}
}

// explore finds out what to read by previews that are not shown. If all is true, it goes on until a preview with all reads finds nothing more to read.
// If a preview fails, everything is read: the next preview shows why it fails, or that the reads mend it.
func (r *reading) explore(ctx context.Context, o *operation, all bool) error {
	if r.only == nil {
		return nil
	}
	if o.screens() {
		fmt.Fprintln(o.job.Terminal.Err, "Looking for what to read...")
	}
	for again := true; again; {
		result, err := survey(ctx, o)
		var failed *sluice.FailedError
		switch {
		case errors.As(err, &failed) && !failed.Canceled:
			r.only = nil
			o.job.remarks.note("what would change is not known, because a preview without reading failed. So every resource is read")
			return nil
		case err != nil:
			return err
		}
		again = r.add(result.Steps()) > 0 && all
		if !again {
			o.job.remarks.note(r.describe(result.Steps()))
		}
	}
	return nil
}

// survey runs a preview without showing it.
func survey(ctx context.Context, o *operation) (*sluice.Result, error) {
	started := time.Now()
	run, err := begin(ctx, o, true)
	if err != nil {
		return nil, err
	}
	result, err := runEngine(ctx, o, run, true, func(stages.Event) {})
	if endErr := end(ctx, o.job, run, true, started, result, err); endErr != nil {
		err = errors.Join(err, endErr)
	}
	return result, err
}

// add adds what is to be read after a preview: what would change, all that it depends on, and what was not read for too long. It returns the number of
// objects that it adds.
func (r *reading) add(steps []stages.StepInfo) (added int) {
	if r.only == nil {
		return 0
	}
	recorded, former := map[urn.URN]*state.Resource{}, map[urn.URN]urn.URN{}
	for i := range steps {
		if s := &steps[i]; s.Old != nil {
			recorded[s.Old.URN] = s.Old
			former[s.URN] = s.Old.URN
		}
	}
	var todo []*state.Resource
	reach := func(u urn.URN) {
		if was, renamed := former[u]; renamed {
			u = was
		}
		if s := recorded[u]; s != nil && !r.only[u] {
			r.only[u] = true
			todo = append(todo, s)
			if isRead(s) {
				added++
			}
		}
	}
	for i := range steps {
		s := &steps[i]
		if s.Op == stages.OpSame || s.Op == stages.OpRefresh {
			continue
		}
		reach(s.URN)
		for _, is := range []*state.Resource{s.Old, s.New} {
			if is != nil {
				for ref := range is.References() {
					reach(ref.URN)
				}
			}
		}
	}
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		for ref := range s.References() {
			reach(ref.URN)
		}
	}
	if !r.oldest.IsZero() {
		for u, s := range recorded {
			if !r.only[u] && isRead(s) && !r.times.IsKnownSince(s, r.oldest) {
				r.only[u] = true
				added++
			}
		}
	}
	return added
}

// describe says how much is read, after a preview.
func (r *reading) describe(steps []stages.StepInfo) string {
	seen := map[urn.URN]bool{}
	read := 0
	for i := range steps {
		s := steps[i].Old
		if s == nil || seen[s.URN] || !isRead(s) {
			continue
		}
		seen[s.URN] = true
		if r.only[s.URN] {
			read++
		}
	}
	what := "what would change and what it depends on"
	if !r.oldest.IsZero() {
		what = "what would change, what it depends on, and what was not read since " + r.oldest.Local().Format(time.DateTime)
	}
	if read == 0 {
		return "no resource has to be read: " + what + " would be"
	}
	return fmt.Sprintf("%d of %s are read: %s", read, format.Resources(len(seen)), what)
}

// options returns the resources to read, for the engine; nil for all.
func (r *reading) options() map[urn.URN]bool {
	if r == nil {
		return nil
	}
	return r.only
}

// reads are the reads of an operation, as its events show them.
type reads struct {
	began time.Time // the first one
	steps []stages.StepInfo
}

// observe looks at an event of the operation.
func (r *reads) observe(e stages.Event) {
	if s, is := e.(stages.StepStarted); is && s.Step.Op == stages.OpRefresh {
		if r.steps == nil {
			r.began = time.Now()
		}
		r.steps = append(r.steps, s.Step)
	}
}

// keep records when the operation has read resources. It has succeeded, so that what it found is recorded.
func (r *reads) keep(ctx context.Context, o *operation) {
	if len(r.steps) > 0 {
		readtimes.Of(ctx, o.job.Stack).Keep(ctx, o.job.Stack, r.steps, r.began, true)
	}
}
