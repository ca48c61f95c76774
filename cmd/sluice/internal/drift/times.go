package drift

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// readNote is the name of the note that records when each resource was read.
const readNote = "read"

// readTime is when drift has read each resource.
type readTime map[urn.URN]time.Time

func readTimes(ctx context.Context, s *session.Stack) readTime {
	out := readTime{}
	text, err := s.Notes(ctx).Read(readNote)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return readTime{} // so that everything is read
	}
	return out
}

// since returns the resources read since a time, sorted; none for the zero time.
func (r readTime) since(t time.Time) []string {
	var out []string
	for u, at := range r {
		if !t.IsZero() && at.After(t) {
			out = append(out, string(u))
		}
	}
	slices.Sort(out)
	return out
}

// keep records when resources were read. It leaves out those that have drifted, so that they are read again the next
// time.
func (r readTime) keep(ctx context.Context, s *session.Stack, found *sluice.Result, at time.Time) {
	for _, step := range found.Steps() {
		switch {
		case !isRead(step):
		case step.Op == stages.OpSame || step.Op == stages.OpRefresh:
			r[step.URN] = at.UTC()
		default:
			delete(r, step.URN)
		}
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = s.Notes(ctx).Write(readNote, text)
	}
	if err != nil {
		s.Terminal.Warn("the next `sluice drift --since` will read everything: %v", err)
	}
}
