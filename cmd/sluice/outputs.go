package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
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
