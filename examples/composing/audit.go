package composing

import (
	"encoding/json"
	"io"
	"time"

	"github.com/sluice-iac/sluice/stages"
)

// Entry is a line of an audit trail. It names the changed resource and has no values, so it contains no secrets.
type Entry struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Op     stages.Op `json:"op"`
	URN    string    `json:"urn"`
	Reason string    `json:"reason,omitempty"`
	Error  string    `json:"error,omitempty"`
}

// Audit returns an observer that writes each change, whether or not it succeeds, as a line of JSON. It uses events and not a slot, because a
// stopped operation ends its pipeline, while its events continue to the end. Writing may be slow: use a buffered writer.
func Audit(w io.Writer, by string, failed func(error)) func(stages.Event) {
	out := json.NewEncoder(w)
	write := func(s stages.StepInfo, at time.Time, err error) {
		if s.Internal || s.Op == stages.OpSame {
			return
		}
		e := Entry{At: at, By: by, Op: s.Op, URN: string(s.URN), Reason: s.Reason.String()}
		if err != nil {
			e.Error = err.Error()
		}
		if err := out.Encode(e); err != nil {
			failed(err)
		}
	}
	return func(e stages.Event) {
		switch e := e.(type) {
		case stages.StepDone:
			if !e.Planning && !e.Outputs {
				write(e.Step, e.At, nil)
			}
		case stages.StepFailed:
			write(e.Step, e.At, e.Err)
		}
	}
}
