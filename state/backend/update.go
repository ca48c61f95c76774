package backend

import (
	"encoding/json"
	"time"
)

// Update is the record of one operation ([state.md 4.7]), with its fields in the order in which they are written.
//
// [state.md 4.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#47-history
type Update struct {
	Kind            string            `json:"kind"`      // "update", "refresh", "destroy", "resource-import"
	StartTime       int64             `json:"startTime"` // unix seconds
	Message         string            `json:"message"`
	Environment     map[string]string `json:"environment"`
	Config          json.RawMessage   `json:"config"`  // state.md 6.5, with ciphertexts
	Version         int               `json:"version"` // always 0
	Result          string            `json:"result"`  // "succeeded" or "failed"
	EndTime         int64             `json:"endTime"` // unix seconds
	ResourceChanges map[string]int    `json:"resourceChanges,omitempty"`
	// Number is the number of the operation in the history of a self-managed backend, 1 for the oldest one; [Stack.ExportVersion] takes it. 0 is
	// unknown. It is not recorded.
	Number int `json:"-"`
	// Keep is how many operations, this one included, the history and the backups of a self-managed backend keep from now on; 0 is all. It is not
	// recorded.
	Keep int `json:"-"`
}

// The results of an [Update].
const (
	ResultSucceeded = "succeeded"
	ResultFailed    = "failed"
)

// Started returns the start of the operation.
func (u Update) Started() time.Time { return time.Unix(u.StartTime, 0).UTC() }

// Ended returns the end of the operation.
func (u Update) Ended() time.Time { return time.Unix(u.EndTime, 0).UTC() }
