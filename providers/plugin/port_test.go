package plugin

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestPortIsTheFirstLine(t *testing.T) {
	cases := map[string]struct {
		text string
		port int
	}{
		"plain":            {"12345\nmore", 12345},
		"carriage return":  {"12345\r\nmore", 12345},
		"spaces":           {"  80\t\nmore", 80},
		"colours' end":     {"\x1b[0m443\nmore", 443},
		"progress escapes": {"\x1b]9;4;3;\x1b\\\x1b]9;4;0;\x1b\\443\nmore", 443},
		"largest":          {"65535\n", 65535},
		"zero":             {"0\n", 0},
		"too large":        {"65536\n", 0},
		"negative":         {"-1\n", 0},
		"sign":             {"+1\n", 0},
		"words":            {"listening on 1\n", 0},
		"empty line":       {"\n123\n", 0},
		"no line break":    {"123", 0},
		"nothing":          {"", 0},
		"endless":          {strings.Repeat("1", 1<<16), 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := strings.NewReader(c.text)
			port, err := readPort(iotest.OneByteReader(r), func(string) bool { return false })
			require.Equal(t, c.port, port)
			if c.port == 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			rest, err := io.ReadAll(r)
			require.NoError(t, err)
			_, after, _ := strings.Cut(c.text, "\n")
			require.Equal(t, after, string(rest), "nothing after the line is consumed")
		})
	}
}

func FuzzPort(f *testing.F) {
	for _, seed := range []string{"1\n", "65535\r\nx", "\x1b]9;4;3;\x1b\\9\n", "99999\n", "\x00\n", "12"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := strings.NewReader(text)
		port, err := readPort(r, func(string) bool { return false })
		require.Equal(t, err == nil, port != 0)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.LessOrEqual(t, port, 65535)
		line, _ := bufio.NewReader(strings.NewReader(text)).ReadString('\n')
		require.Equal(t, len(text)-len(line), r.Len())
	})
}

func TestOutputIsCutIntoLines(t *testing.T) {
	require.Equal(t, []Piece{{Text: "a"}, {Text: "b"}, {Text: "last"}}, piecesOf("a\n\n  \nb\r\nlast"))
	long := strings.Repeat("x", maxLine)
	require.Equal(t, []Piece{{Text: long}}, piecesOf(long+"\n"))
	require.Equal(t, []Piece{{Text: long, Cut: true}, {Text: long, Cut: true, Rest: true}, {Text: "y", Rest: true}, {Text: "z"}},
		piecesOf(long+long+"y\r\nz\n"))
	require.Equal(t, []Piece{{Text: long, Cut: true}, {Rest: true}}, piecesOf(long), "a line that is not over must be ended")
}

// piecesOf returns the forwarded pieces of an output.
func piecesOf(output string) []Piece {
	var got []Piece
	forward(strings.NewReader(output), func(p Piece) { got = append(got, p) })
	return got
}

// Whatever is at the cut: the pieces together are the line, and none of them ends within a character or an escape
// sequence.
func TestNothingIsLostWhereALineIsCut(t *testing.T) {
	for _, inside := range []string{"wörd", "\U0001f600", "\x1b[1;31mred\x1b[0m", "\xff\xfe\xff\xfe", "\r\r", "\r\n", "\x1b\x1b"} {
		for before := maxLine - 40; before <= maxLine; before++ {
			line := strings.Repeat("x", before) + inside
			pieces := piecesOf(line + "\n")
			var joined strings.Builder
			for i, p := range pieces {
				joined.WriteString(p.Text)
				require.LessOrEqual(t, len(p.Text), maxLine)
				require.Equal(t, i > 0, p.Rest)
				require.Equal(t, i < len(pieces)-1, p.Cut)
				require.True(t, utf8.ValidString(p.Text) || !utf8.ValidString(inside), "%q", p.Text[max(0, len(p.Text)-50):])
				if p.Cut && strings.Contains(inside, "m") {
					require.Equal(t, terminated(p.Text), p.Text)
				}
			}
			require.Equal(t, strings.TrimRight(line, "\r\n"), joined.String())
		}
	}
}

// terminated returns a text without its unterminated escape sequence, if it has one.
func terminated(text string) string {
	at := strings.LastIndex(text, "\x1b")
	if at < 0 || strings.Contains(text[at:], "m") {
		return text
	}
	return text[:at]
}

func TestOnlyTheLastLinesAreKept(t *testing.T) {
	var last Tail
	require.Empty(t, last.Text("it wrote:"))
	for range tailSize {
		last.Add(Line{Piece: Piece{Text: "old"}})
	}
	for range tailSize {
		last.Add(Line{Piece: Piece{Text: "new"}})
	}
	require.NotContains(t, last.Text("it wrote:"), "old")
	require.Equal(t, tailSize, strings.Count(last.Text("it wrote:"), "new"))
}

func TestOfALongLineTheBeginningIsKept(t *testing.T) {
	var last Tail
	long := strings.Repeat("x", maxLine)
	last.Add(Line{Piece: Piece{Text: long, Cut: true}, Stream: 1})
	last.Add(Line{Piece: Piece{Text: "short"}, Stream: 2})
	for range 1000 {
		last.Add(Line{Piece: Piece{Text: long, Cut: true, Rest: true}, Stream: 1})
	}
	last.Add(Line{Piece: Piece{Text: "end", Rest: true}, Stream: 1})
	last.Add(Line{Piece: Piece{Text: "of a line that is gone", Rest: true}, Stream: 3})
	require.Equal(t, "it wrote:\n  "+long[:tailLine]+" ... (cut after 8192 of 65601539 bytes)\n  short", last.Text("it wrote:"))
}
