package picture

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
)

// The size of a cell, and the space around the screen, in pixels.
const (
	cellWidth, cellHeight = 8, 17
	margin                = 10
)

// bold is an attribute of cells that the terminal does not export.
const bold = 1 << 2

// Check compares the picture of a text with the file docs/screens/NAME.svg, or writes that file. root is the path to the root of the
// project.
func Check(t *testing.T, root, name string, columns, rows int, text string, update bool) {
	t.Helper()
	file := filepath.Join(root, "docs", "screens", name+".svg")
	svg := Draw(columns, rows, text)
	require.Less(t, len(svg), 60_000)
	if update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(svg), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), svg)
}

// Draw returns the picture of a screen with a text on it.
func Draw(columns, rows int, text string) string {
	term := vt10x.New(vt10x.WithSize(columns, rows))
	text = strings.NewReplacer("\n", "\r\n", "\x1b[2m", "\x1b[90m").Replace(text) // the terminal does not support faint text
	_, _ = term.Write([]byte(text))                                               // it is in memory
	width, height := columns*cellWidth+2*margin, rows*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	b.WriteString(`<style>text{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#d8dee9}.b{font-weight:bold}</style>` + "\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" fill="#1e222a"/>`+"\n", width, height)
	for y := range rows {
		for x := 0; x < columns; {
			first := term.Cell(x, y)
			from, run := x, ""
			for ; x < columns && sameLook(term.Cell(x, y), first); x++ {
				run += string(max(term.Cell(x, y).Char, ' '))
			}
			writeRun(&b, from, y, run, first)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func sameLook(a, b vt10x.Glyph) bool { return a.Mode == b.Mode && a.FG == b.FG && a.BG == b.BG }

func writeRun(b *strings.Builder, x, y int, run string, look vt10x.Glyph) {
	left, top := margin+x*cellWidth, margin+y*cellHeight
	// The terminal has already swapped the colours of reversed cells, as the background shows.
	if look.BG != vt10x.DefaultBG {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", left, top, len([]rune(run))*cellWidth, cellHeight, colour(look.BG))
	}
	text := strings.TrimRight(run, " ")
	if text == "" {
		return
	}
	indent := len([]rune(text)) - len([]rune(strings.TrimLeft(text, " ")))
	text = text[indent:]
	attributes := ""
	if look.Mode&bold != 0 {
		attributes += ` class="b"`
	}
	if look.FG != vt10x.DefaultFG {
		attributes += fmt.Sprintf(` style="fill:%s"`, colour(look.FG))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`+"\n",
		left+indent*cellWidth, top+cellHeight-4, len([]rune(text))*cellWidth, attributes, html.EscapeString(text))
}

// palette are the colours that sluice uses.
var palette = [...]string{
	"#3b4252", "#bf616a", "#a3be8c", "#ebcb8b", "#81a1c1", "#b48ead", "#88c0d0", "#d8dee9",
	"#7b8394", "#d06f79", "#b1d196", "#f0d399", "#8cafd2", "#c895bf", "#93ccdc", "#eceff4",
}

func colour(c vt10x.Color) string {
	switch {
	case c == vt10x.DefaultFG:
		return "#d8dee9"
	case c == vt10x.DefaultBG:
		return "#1e222a"
	case int(c) < len(palette):
		return palette[c]
	}
	return fmt.Sprintf("#%06x", uint32(c)&0xffffff)
}
