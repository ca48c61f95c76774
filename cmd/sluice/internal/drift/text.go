package drift

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
)

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
	if doc.Skipped > 0 {
		text += "; skipped, because read recently: " + format.Resources(doc.Skipped)
	}
	return text
}

func (e *Entry) goneText() string {
	if e.Gone {
		return " does not exist any more"
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
