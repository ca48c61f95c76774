package plugin

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

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
			port, err := readPort(iotest.OneByteReader(r))
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
		port, err := readPort(r)
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
	var got []string
	forward(strings.NewReader("a\n\n  \nb\r\nlast"), func(s string) { got = append(got, s) })
	require.Equal(t, []string{"a", "b", "last"}, got)

	got = nil
	forward(strings.NewReader(strings.Repeat("x", 3*maxLine)+"\n"), func(s string) { got = append(got, s) })
	require.Len(t, got, 3)
}

func TestOnlyTheLastLinesAreKept(t *testing.T) {
	var r ring
	require.Empty(t, r.text("it wrote:"))
	for range ringSize {
		r.add("old")
	}
	for range ringSize {
		r.add("new")
	}
	require.NotContains(t, r.text("it wrote:"), "old")
	require.Equal(t, ringSize, strings.Count(r.text("it wrote:"), "new"))
}
