package diagram

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

// The maximal length of a name and of a URN in characters.
const (
	longest    = 60
	longestTip = 500
)

// shown returns the form of a name for pictures: on one line, with invisible characters escaped that would change how
// the rest reads, and cut in the middle if it is long.
func shown(name string) string {
	return cut(format.Printable(name), longest)
}

// tip returns the form of a URN for the text shown when the pointer is over a box.
func tip(u urn.URN) string { return cut(format.Printable(string(u)), longestTip) }

func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most/2]) + "…" + string(runes[len(runes)-most/2+1:])
}

// style is how a box is painted.
type style struct{ fill, border, text string }

const (
	textColor = "#1f2328"
	greyColor = "#57606a"
	lineColor = "#8c959f"
)

// styles are the colours of changes. They add no information to the marks.
var styles = map[Change]style{
	"":      {"#ffffff", greyColor, textColor},
	Create:  {"#dafbe1", "#1a7f37", textColor},
	Import:  {"#ddf4ff", "#0969da", textColor},
	Update:  {"#fff8c5", "#9a6700", textColor},
	Replace: {"#fbefff", "#8250df", textColor},
	Delete:  {"#ffebe9", "#cf222e", textColor},
}

// The colours of failures, and of what did not happen because of one. They add no information to the words.
var (
	failedStyle  = style{"#ffcecb", "#a40e26", textColor}
	skippedStyle = style{"#eaeef2", lineColor, greyColor}
)

// dotEscapes escape what has a special meaning in a label for Graphviz: escape sequences such as \N, and HTML entities
// such as &#x202e;.
var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "&", "&amp;")

func dotLabel(s string) string { return `"` + dotEscapes.Replace(s) + `"` }

// dotLines is like dotText, for left-aligned lines.
func dotLines(s string) string {
	return `"` + strings.ReplaceAll(dotEscapes.Replace(s+"\n"), `\n`, `\l`) + `"`
}

// mermaidEscapes escape what has a special meaning in a quoted label for Mermaid: HTML, Markdown and its own entities.
var mermaidEscapes = strings.NewReplacer("#", "#35;", "&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;",
	"*", "#42;", "_", "#95;", "\n", "<br/>")

// listItem matches the beginning of a list item in Markdown, which Mermaid refuses to show.
var listItem = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(\d*)([-+.)])`) })

func mermaidLabel(s string) string {
	entity := func(item string) string {
		last := len(item) - 1
		return fmt.Sprintf("%s\x00%d;", item[:last], item[last])
	}
	s = mermaidEscapes.Replace(listItem().ReplaceAllStringFunc(s, entity))
	return `"` + strings.ReplaceAll(s, "\x00", "#") + `"`
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }
