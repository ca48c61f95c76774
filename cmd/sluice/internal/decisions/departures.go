package decisions

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages/why"
)

// departuresNote is the name of the note that lists the resources that have left the state.
const departuresNote = "departures"

// maxDepartures is the number of resources kept.
const maxDepartures = 1000

// departuresFile is the form of the note.
type departuresFile struct {
	Version    int            `json:"version"`
	Departures why.Departures `json:"departures"`
}

// ReadDepartures returns the recorded departures of a stack. They only word reasons, so it returns none if they cannot be read.
func ReadDepartures(ctx context.Context, s *session.Stack) why.Departures {
	content, err := s.Notes(ctx).Read(departuresNote)
	if err != nil {
		return nil
	}
	var file departuresFile
	if json.Unmarshal(content, &file) != nil || file.Version != 1 || len(file.Departures) > maxDepartures {
		return nil
	}
	return file.Departures
}

// KeepDepartures records the departures after an operation, unless its decisions are unknown.
func KeepDepartures(ctx context.Context, s *session.Stack, log *why.Log) {
	if log == nil {
		return
	}
	before := ReadDepartures(ctx, s)
	writeDepartures(ctx, s, before, before.After(log))
}

// Depart adds departures by a state command.
func Depart(ctx context.Context, s *session.Stack, departed why.Departures) {
	before := ReadDepartures(ctx, s)
	after := why.Departures{}
	maps.Copy(after, before)
	for u, d := range departed {
		if was, known := before[d.From]; known && was.By == why.DepartedByRename && was.To == d.From { // renamed again, or back
			delete(after, was.To)
			if d.From = was.From; d.To == was.From {
				delete(after, was.From)
				continue
			}
			after[was.From] = d
			if u == was.To {
				continue
			}
		}
		after[u] = d
	}
	writeDepartures(ctx, s, before, after)
}

func writeDepartures(ctx context.Context, s *session.Stack, before, after why.Departures) {
	if len(after) > maxDepartures { // any will do, as long as the choice is deterministic
		for _, u := range slices.Sorted(maps.Keys(after))[maxDepartures:] {
			delete(after, u)
		}
	}
	var err error
	switch {
	case maps.Equal(before, after):
		return
	case len(after) == 0:
		err = s.Notes(ctx).Remove(departuresNote)
	default:
		var content []byte
		if content, err = json.Marshal(departuresFile{Version: 1, Departures: after}); err == nil {
			err = s.Notes(ctx).Write(departuresNote, content)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Session.Terminal.Warn("the next preview cannot show which resources have left the state: %v", err)
	}
}
