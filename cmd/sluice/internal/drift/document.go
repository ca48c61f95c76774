package drift

import (
	"encoding/json"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Document is what is not as it is recorded, and what an update would do about that.
type Document struct {
	Stack   string `json:"stack"`
	Project string `json:"project,omitempty"`
	// Read is how many resources were read, Moved how many of them are not as they are recorded, and Skipped how many were not
	// read because they had been read since.
	Read    int `json:"read"`
	Moved   int `json:"moved"`
	Skipped int `json:"skipped,omitempty"`
	// Unplanned is why it is not known what an update would do.
	Unplanned string  `json:"unplanned,omitempty"`
	Resources []Entry `json:"resources"`
}

// Entry is a resource that is not as it is recorded.
type Entry struct {
	URN     urn.URN  `json:"urn"`
	Type    urn.Type `json:"type"`
	Name    string   `json:"name"`
	Gone    bool     `json:"gone,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	// Update is what `up --refresh` would do: "same" leaves it as it is now.
	Update stages.Op `json:"update,omitempty"`
	Why    string    `json:"why,omitempty"`
}

// Change is a property that is not as it is recorded. Secrets are the text "[secret]".
type Change struct {
	Path     string          `json:"path"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Actual   json.RawMessage `json:"actual,omitempty"`
}
