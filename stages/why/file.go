package why

import (
	"encoding/json"
	"fmt"
	"io"
)

// version is that of the format of a written Log.
const version = 1

// document is a written Log.
type document struct {
	Version int `json:"version"`
	About
	Decisions []Decision `json:"decisions"`
}

// Read reads the output of [Log.Write].
func Read(r io.Reader) (*Log, error) {
	var d document
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return nil, err
	}
	if d.Version != version {
		return nil, fmt.Errorf("it has version %d, and this sluice reads version %d", d.Version, version)
	}
	return &Log{About: d.About, Decisions: d.Decisions, index: newIndex(d.Decisions)}, nil
}
