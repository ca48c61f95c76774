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

// unrealizedNote is the name of the note that lists the unrealized changes.
const unrealizedNote = "unrealized"

// maxUnrealized is the number of changes kept.
const maxUnrealized = 1000

// Unrealized are the unrealized changes of a stack: possible in a preview, and not made by the update after it.
type Unrealized map[urn.URN]stages.Op

// unrealizedFile is the form of the note.
type unrealizedFile struct {
	Version int        `json:"version"`
	Changes Unrealized `json:"changes"`
}

// ReadUnrealized returns the recorded unrealized changes of a stack. They serve only to sort, so it returns none if they cannot be read.
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

// KeepUnrealized records the possible changes of a preview that the update after it did not make. preview is nil if there was none.
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
		s.Session.Terminal.Warn("the next preview cannot show which possible changes did not happen: %v", err)
	}
}

// after returns the unrealized changes after an update. For the resources that the update has reached, these are the possible changes that
// it did not make. Records of other resources stay.
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
	if len(out) > maxUnrealized { // any will do, as long as the choice is deterministic
		for _, r := range slices.Sorted(maps.Keys(out))[maxUnrealized:] {
			delete(out, r)
		}
	}
	return out
}
