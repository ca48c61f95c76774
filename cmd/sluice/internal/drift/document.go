package drift

import (
	"encoding/json"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Document lists the drift of a stack, and what an update would do about it.
type Document struct {
	Stack   string `json:"stack"`
	Project string `json:"project,omitempty"`
	// Read is the number of resources that were read, Moved the number of those that have drifted, and Skipped the number of
	// resources not read because they have been read recently.
	Read    int `json:"read"`
	Moved   int `json:"moved"`
	Skipped int `json:"skipped,omitempty"`
	// Unplanned is the reason why it is not known what an update would do.
	Unplanned string  `json:"unplanned,omitempty"`
	Resources []Entry `json:"resources"`
}

// Entry is a resource that has drifted.
type Entry struct {
	URN     urn.URN  `json:"urn"`
	Type    urn.Type `json:"type"`
	Name    string   `json:"name"`
	Gone    bool     `json:"gone,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	// Update is the step of `up --refresh`: "same" leaves the object as it is now.
	Update stages.Op `json:"update,omitempty"`
	Why    string    `json:"why,omitempty"`
}

// Change is a property that has drifted. Secrets are the text "[secret]".
type Change struct {
	Path     string          `json:"path"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Actual   json.RawMessage `json:"actual,omitempty"`
}
