package drift

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/internal/platform/private"
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
	// Sample is what was chosen from if only a sample was read.
	Sample *operate.Sampled `json:"sample,omitempty"`
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

// write writes a document for people, or as JSON.
func (doc *Document) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return format.JSON(out, doc)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Drift of %s: %s\n", doc.Stack, doc.summary())
	for _, e := range doc.Resources {
		fmt.Fprintf(&b, "\n  %s %s%s\n", e.Type, e.Name, e.goneText())
		for _, c := range e.Changes {
			fmt.Fprintf(&b, "    %s: %s → %s\n", c.Path, shown(c.Recorded), shown(c.Actual))
		}
		if text := e.updateText(); text != "" {
			fmt.Fprintf(&b, "    %s\n", text)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// summary counts the resources that were read, and those that have drifted.
func (doc *Document) summary() string {
	text := fmt.Sprintf("%d of %s", doc.Moved, format.Resources(doc.Read))
	if doc.Moved == 0 {
		text = "none in " + format.Resources(doc.Read)
	}
	if doc.Sample != nil {
		text += fmt.Sprintf(", a sample of %s with `--sample-seed %s`", format.Resources(doc.Sample.Of), format.ShellQuote(doc.Sample.Seed))
	}
	if doc.Skipped > 0 {
		text += "; skipped, because read recently: " + format.Resources(doc.Skipped)
	}
	return text
}

func (doc *Document) save(path string) error {
	text, err := json.Marshal(doc)
	if err == nil {
		err = private.Write(path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the drift: %w", err)
	}
	return nil
}

func (e *Entry) goneText() string {
	if e.Gone {
		return " is not found any more"
	}
	return ""
}

func shown(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	return string(v)
}

func (e *Entry) updateText() string {
	switch e.Update {
	case "":
		return ""
	case stages.OpSame:
		return "`up --refresh` would record it and leave it so"
	}
	return strings.TrimSpace(fmt.Sprintf("`up --refresh` would %s it %s", e.Update, e.Why))
}
