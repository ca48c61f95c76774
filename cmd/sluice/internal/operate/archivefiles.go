package operate

import (
	"context"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/archives"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/state/backend"
)

// keyArchives is the key of the history for the contents of archive files.
const keyArchives = "sluice.archives"

// archivesSetting is the setting that says how archive files are compared, with its values.
const (
	archivesSetting = "sluice:archives"
	byBytes         = "bytes"
	byContents      = "contents"
)

// checkArchives returns an error for a wrong value of the setting.
func checkArchives(j *Job) error {
	switch text := j.config[archivesSetting].Text; text {
	case "", byBytes, byContents:
		return nil
	default:
		return exit.Usagef("config %s must be %s or %s, not %q", archivesSetting, byContents, byBytes, text)
	}
}

// entriesForArchives is how many entries of the history are looked at. Those of other tools do not have the contents.
const entriesForArchives = 10

// readArchives reads what the history has of the contents of recorded archives, if they are asked for. Without it, archives are compared by their
// bytes once more.
func readArchives(ctx context.Context, j *Job) {
	if j.archives != nil || j.config[archivesSetting].Text != byContents {
		return
	}
	n, text := 0, ""
	last, err := j.Stack.State.LastUpdate(ctx, func(u backend.Update) bool {
		n++
		return u.Environment[keyArchives] != "" || n == entriesForArchives
	})
	if err == nil && last != nil {
		text = last.Environment[keyArchives]
	}
	j.archives = archives.Read(text)
}
