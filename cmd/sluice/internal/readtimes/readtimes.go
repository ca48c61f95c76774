// Package readtimes remembers when each resource of a stack was last read.
package readtimes

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// Times is when resources were last read and were as they are recorded.
type Times struct {
	at       map[urn.URN]time.Time
	revision string
}

// Of returns the times of a stack. Times that cannot be read are lost, so that everything counts as never read.
func Of(ctx context.Context, s *session.Stack) Times {
	t := Times{at: map[urn.URN]time.Time{}}
	text, revision, err := session.Sides(ctx, s).ReadSide(ctx, backend.ReadTimes)
	if err != nil {
		s.Session.Terminal.Warn("when resources were last read is not known: %v", err)
		return t
	}
	t.revision = revision
	if json.Unmarshal(text, &t.at) != nil {
		t.at = map[urn.URN]time.Time{}
	}
	return t
}

// Since returns the resources that were read since a time, sorted; none for the zero time.
func (t Times) Since(when time.Time) []string {
	var out []string
	for u, at := range t.at {
		if !when.IsZero() && at.After(when) {
			out = append(out, string(u))
		}
	}
	slices.Sort(out)
	return out
}

// IsKnownSince reports whether a resource was read, created or updated since a time.
func (t Times) IsKnownSince(r *state.Resource, when time.Time) bool {
	return t.at[r.URN].After(when) || r.Modified.After(when) || r.Created.After(when)
}

// Keep records the reads of a refresh that began at a time. recorded reports whether its results are recorded: otherwise it leaves out resources
// that are not as they are recorded, so that they are read again the next time.
func (t Times) Keep(ctx context.Context, s *session.Stack, steps []stages.StepInfo, began time.Time, recorded bool) {
	for _, step := range steps {
		switch {
		case !IsRead(step):
		case step.Op == stages.OpSame || step.Op == stages.OpRefresh || recorded:
			t.at[step.URN] = began.UTC()
		default:
			delete(t.at, step.URN)
		}
	}
	text, err := json.Marshal(t.at)
	if err == nil {
		// If somebody else has recorded other reads meanwhile, these ones are lost, so that the resources are read again.
		_, err = session.Sides(ctx, s).WriteSide(ctx, backend.ReadTimes, text, t.revision)
	}
	if err != nil {
		s.Session.Terminal.Warn("when resources were read was not recorded, so they will be read again: %v", err)
	}
}

// IsRead reports whether a step of a refresh is for an object that was read.
func IsRead(step stages.StepInfo) bool {
	r := step.Old
	return r != nil && r.Custom && !r.External && !step.Internal && !step.Type.IsProvider()
}
