package display

import "io"

// Line is the last line of a terminal, which is redrawn repeatedly. It is not safe for concurrent use.
type Line struct {
	out   io.Writer
	width func() int
	style style
	drawn string // what is on the screen
	turn  int
}

const eraseLine = "\r\x1b[2K"

// spinner shows that the process is alive.
var spinner = [...]string{"-", "\\", "|", "/"}

// NewLine returns the last line of a terminal; width returns its width in cells.
func NewLine(out io.Writer, width func() int, color bool) *Line {
	return &Line{out: out, width: width, style: style{color}}
}

// Draw replaces the line.
func (l *Line) Draw(text string) {
	width := 80
	if l.width != nil {
		width = l.width()
	}
	if width < 10 { // nothing readable fits
		l.Clear()
		return
	}
	l.turn++
	// One cell stays free, because a terminal wraps when its last cell is written.
	text = cutToWidth(spinner[l.turn%len(spinner)]+" "+text, width-1)
	if text == l.drawn {
		return
	}
	_, _ = io.WriteString(l.out, eraseLine+l.style.paint(grey, text))
	l.drawn = text
}

// Clear removes the line, so that something else can be written.
func (l *Line) Clear() {
	if l.drawn != "" {
		_, _ = io.WriteString(l.out, eraseLine)
		l.drawn = ""
	}
}
