package operation

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// lacking returns an error for each object that was made and is missing in the state. The error has the ID, which nothing
// else shows. It is called after closing the record, which may have written what could not be written when the object was
// made.
func (s *resolved) lacking(ctx context.Context) (errs []error) {
	made := s.run.Unwritten()
	if len(made) == 0 {
		return nil
	}
	final, err := s.opened.settings.State.Load(ctx)
	if err != nil || final == nil {
		final = &state.Snapshot{} // no object is certain to be recorded
	}
	for _, m := range made {
		if slices.ContainsFunc(final.Resources, func(r *state.Resource) bool { return r.URN == m.URN && r.ID == m.ID }) {
			continue
		}
		adopt := advice.Advice{Action: advice.Adopt, URNs: []urn.URN{m.URN}, ID: m.ID}
		errs = append(errs, advice.Errorf(adopt,
			"%s: the object with the ID %s was made. It has to be recorded when the state can be written again", m.URN, m.ID))
	}
	return errs
}
