package decisions

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// unrealizedNote is the name of the note about changes that did not happen.
const unrealizedNote = "unrealized"

// maxUnrealized is how many changes are remembered.
const maxUnrealized = 1000

// Unrealized are the changes that a preview found possible and the update after it did not make: what was to be done to each resource.
type Unrealized map[urn.URN]stages.Op

// unrealizedFile is the form of the note.
type unrealizedFile struct {
	Version int        `json:"version"`
	Changes Unrealized `json:"changes"`
}

// ReadUnrealized returns what is remembered of a stack. It only helps to sort, so nothing is remembered where it cannot be read.
func ReadUnrealized(ctx context.Context, s *session.Stack) Unrealized {
	content, err := s.Notes(ctx).Read(unrealizedNote)
	if err != nil {
		return nil
	}
	var file unrealizedFile
	if json.Unmarshal(content, &file) != nil || file.Version != 1 || len(file.Changes) > maxUnrealized {
		return nil
	}
	return file.Changes
}

// KeepUnrealized remembers which of the changes that a preview found possible the update after it has not made. preview is nil if there was
// none.
func KeepUnrealized(ctx context.Context, s *session.Stack, preview, update *sluice.Result) {
	if update == nil {
		return
	}
	before, planned := ReadUnrealized(ctx, s), preview.Steps()
	if len(before) == 0 && !slices.ContainsFunc(planned, stages.StepInfo.IsPossible) {
		return
	}
	after := before.after(planned, update.Steps())
	var err error
	switch {
	case maps.Equal(before, after):
		return
	case len(after) == 0:
		err = s.Notes(ctx).Remove(unrealizedNote)
	default:
		var content []byte
		if content, err = json.Marshal(unrealizedFile{Version: 1, Changes: after}); err == nil {
			err = s.Notes(ctx).Write(unrealizedNote, content)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Terminal.Warn("the next preview will not know which possible changes did not happen: %v", err)
	}
}

// after returns what is to be remembered when an update has been made: of the resources that the update has come to, those whose change was
// possible and did not happen. What is remembered of others stays as it is.
func (u Unrealized) after(preview, update []stages.StepInfo) Unrealized {
	possible := Unrealized{}
	for _, s := range preview {
		if op := s.Op.Whole(); s.IsPossible() && possible[s.URN] != stages.OpReplace {
			possible[s.URN] = op
		}
	}
	out := maps.Clone(u)
	if out == nil {
		out = Unrealized{}
	}
	did := Unrealized{}
	for _, s := range update {
		switch op := s.Op.Whole(); {
		case op == stages.OpRefresh || did[s.URN] == stages.OpReplace:
		case op != stages.OpSame || did[s.URN] == "":
			did[s.URN] = op
		}
	}
	for r, op := range did {
		switch planned := possible[r]; {
		case planned != "" && op != planned && (op == stages.OpSame || op == stages.OpUpdate):
			out[r] = planned
		case planned != "" || op != stages.OpSame:
			delete(out, r)
		}
	}
	if len(out) > maxUnrealized { // any will do, as long as it does not depend on chance
		for _, r := range slices.Sorted(maps.Keys(out))[maxUnrealized:] {
			delete(out, r)
		}
	}
	return out
}
