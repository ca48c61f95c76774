package worker

import (
	"encoding/json"
	"os"
	"strings"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
)

// LogPath returns the path of the log of a stack in a run.
func LogPath(h server.Home, runID, stack string) string {
	return h.Path("runs", plain(runID), plain(stack)+".log")
}

func plain(name string) string { return strings.NewReplacer("/", "--", ":", "-").Replace(name) }

const (
	mostPlanned = 32 << 10 // of the predicted outputs in an outcome
	unknown     = `"04da6b54-80e4-46f7-96ec-b56ff0331ba9"`
)

// readPlanned reads the outputs of a stack that a preview predicts. A value that is too large for an outcome becomes unknown.
func readPlanned(path string) (run.Planned, error) {
	var p run.Planned
	file, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = file.Close() }() // it is only read
	dec := json.NewDecoder(file)
	room := mostPlanned
	err = members(dec, func(name string) error {
		switch name {
		case "set":
			p.Set = map[string]json.RawMessage{}
			return members(dec, func(name string) error {
				var value json.RawMessage
				if err := dec.Decode(&value); err != nil {
					return err
				}
				if len(value) > room {
					value = json.RawMessage(unknown)
				}
				room -= len(value)
				p.Set[name] = value
				return nil
			})
		case "removed":
			return dec.Decode(&p.Removed)
		}
		return skip(dec)
	})
	return p, err
}
