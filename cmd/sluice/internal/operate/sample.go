package operate

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Sampled is a sample of the resources that an operation reads.
type Sampled struct {
	Seed string `json:"seed"` // chooses the same ones again
	Of   int    `json:"of"`   // the number of resources that the sample was chosen from
}

// TargetSample makes a sample the targets of a refresh, if its flags ask for one: a share of the recorded resources for which from is true and which a
// refresh reads. It returns nil if they do not, or if there is nothing to choose from.
func TargetSample(ctx context.Context, j *Job, from func(*state.Resource) bool) (*Sampled, error) {
	if !j.Flags.Sample.IsSet() {
		return nil, nil
	}
	snapshot, err := j.Stack.State.Load(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	var names []string
	seen := map[urn.URN]bool{}
	for _, r := range snapshot.Resources {
		if isRead(r) && !seen[r.URN] && from(r) {
			seen[r.URN] = true
			names = append(names, string(r.URN))
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	targets := &j.Flags.Targeting
	if targets.Targets, err = j.Flags.Sample.Choose(names); err != nil {
		return nil, err
	}
	targets.Excludes = nil
	return &Sampled{Seed: j.Flags.Sample.Seed(), Of: len(names)}, nil
}

// isRead reports whether a refresh asks a provider about a recorded resource.
func isRead(r *state.Resource) bool {
	return r.Custom && !r.Delete && !r.PendingReplacement && !r.Type.IsProvider() && r.Type.Package() != "pulumi"
}

// NoteSample shows which sample of the resources is read.
func NoteSample(j *Job, s *Sampled) {
	if s != nil {
		j.remarks.note(fmt.Sprintf("a sample is read, %d of %s; `--sample-seed %s` chooses the same ones again",
			len(j.Flags.Targeting.Targets), format.Resources(s.Of), format.ShellQuote(s.Seed)))
	}
}
