package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/fleet/run"
)

// follower reads the event log of an operation while it grows.
type follower struct {
	path     string
	offset   int64
	line     []byte // an incomplete line
	skips    bool   // the line is too long, and is skipped
	progress run.Progress
	reads    []string
	changes  map[string]int
	errors   []string
	canceled bool
}

// event has the needed parts of a line of an event log.
type event struct {
	Pre        *step `json:"resourcePreEvent"`
	Outputs    *step `json:"resOutputsEvent"`
	Failed     *step `json:"resOpFailedEvent"`
	Diagnostic *struct {
		Message  string `json:"message"`
		Severity string `json:"severity"`
	} `json:"diagnosticEvent"`
	Summary *struct {
		Changes map[string]int `json:"resourceChanges"`
		Result  string         `json:"result"`
	} `json:"summaryEvent"`
}

type step struct {
	Metadata struct {
		Op   string `json:"op"`
		URN  string `json:"urn"`
		Type string `json:"type"`
		New  *struct {
			ID     string          `json:"id"`
			Inputs json.RawMessage `json:"inputs"`
		} `json:"new"`
	} `json:"metadata"`
}

// follow reads the lines written since the last call.
func (f *follower) follow() error {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it is only read
	part := make([]byte, 64<<10)
	for {
		n, err := file.ReadAt(part, f.offset)
		f.offset += int64(n)
		f.split(part[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// split processes the lines that end in a part of the file. It holds at most one line, and skips one that is too long, because
// it needs none of those.
func (f *follower) split(part []byte) {
	for {
		end := bytes.IndexByte(part, '\n')
		line := part
		if end >= 0 {
			line = part[:end]
		}
		if f.skips = f.skips || len(f.line)+len(line) > mostLine; f.skips {
			f.line = nil
		} else {
			f.line = append(f.line, line...)
		}
		if end < 0 {
			return
		}
		if !f.skips {
			f.take(f.line)
		}
		f.line, f.skips, part = f.line[:0], false, part[end+1:]
	}
}

// take processes one line. It ignores a line that it cannot parse.
func (f *follower) take(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Pre != nil:
		f.progress.Running++
		f.progress.Last = shortened(e.Pre.Metadata.Op+" "+nameOf(e.Pre.Metadata.URN), mostTitle)
		if m := e.Pre.Metadata; m.Type == referenceType && m.New != nil {
			f.read(m.New.ID, m.New.Inputs)
		}
	case e.Outputs != nil:
		f.progress.Done++
		f.progress.Running = max(0, f.progress.Running-1)
	case e.Failed != nil:
		f.progress.Failed++
		f.progress.Running = max(0, f.progress.Running-1)
	case e.Diagnostic != nil && e.Diagnostic.Severity == "error" && len(f.errors) < mostErrors:
		f.errors = append(f.errors, shortened(strings.TrimSpace(e.Diagnostic.Message), mostText))
	case e.Summary != nil:
		f.changes, f.canceled = e.Summary.Changes, e.Summary.Result == "canceled"
	}
}

func (f *follower) read(id string, inputs json.RawMessage) {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(inputs, &named) == nil && named.Name != "" {
		id = named.Name
	}
	if id != "" && len(id) <= mostText && len(f.reads) < mostReads && !slices.Contains(f.reads, id) {
		f.reads = append(f.reads, id)
	}
}

func nameOf(urn string) string { return urn[strings.LastIndex(urn, "::")+1:][min(1, len(urn)):] }
