package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/property"
)

// outputText returns a string unchanged, and every other value as JSON on one line.
func outputText(v property.Value, showSecrets bool) string {
	plain := display.PlainJSON(v, showSecrets)
	if text, ok := plain.(string); ok {
		return text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(plain); err != nil {
		return fmt.Sprint(plain)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeOutputsTable(w io.Writer, outputs property.Map, showSecrets bool) error {
	if outputs.Len() == 0 {
		_, err := fmt.Fprintln(w, "No output values currently in this stack")
		return err
	}
	fmt.Fprintf(w, "Current stack outputs (%d):\n", outputs.Len())
	rows := [][2]string{{"    OUTPUT", "VALUE"}}
	for name, v := range outputs.All() {
		rows = append(rows, [2]string{"    " + name, outputText(v, showSecrets)})
	}
	return format.Table(w, rows)
}

// checkReadable returns an error for an output that cannot be decrypted.
func checkReadable(name string, v property.Value) error {
	why, ok := v.WhyUnavailable()
	if !ok {
		return nil
	}
	return fmt.Errorf("the output %q cannot be decrypted: %s", name, why)
}

// knownOutputs returns the outputs that have a value, and warns about the others: those are recorded as unknown, by another tool.
func knownOutputs(t *terminal.Terminal, outputs property.Map) (property.Map, error) {
	var unknown []string
	for name, v := range outputs.All() {
		if err := checkReadable(name, v); err != nil {
			return outputs, err
		}
		if v.HasMark() {
			unknown = append(unknown, name)
		}
	}
	switch len(unknown) {
	case 0:
	case 1:
		t.Warn("the output %q is not known: the state has only the mark of an unknown value; the next update of the stack records it", unknown[0])
	default:
		t.Warn("the outputs \"%s\" are not known: the state has only marks of unknown values; the next update of the stack records them",
			strings.Join(unknown, `", "`))
	}
	return outputs.Without(unknown...), nil
}
