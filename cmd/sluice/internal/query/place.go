package query

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/common"
	"github.com/rivo/uniseg"

	"github.com/sluice-iac/sluice/internal/text/printable"
)

// place returns the line of a text and below it a caret at a location, as the rest of a message.
func place(text string, at common.Location) string {
	lines := strings.Split(text, "\n")
	if at == nil || at.Line() < 1 || at.Line() > len(lines) || at.Column() < 0 {
		return ""
	}
	line := []rune(lines[at.Line()-1])
	before := printable.Line(string(line[:min(at.Column(), len(line))]))
	return fmt.Sprintf(", at line %d, character %d\n    %s\n    %s^", at.Line(), at.Column()+1, printable.Line(string(line)),
		strings.Repeat(" ", uniseg.StringWidth(before)))
}
