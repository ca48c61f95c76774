// Package terminal makes the output of programs fit to be shown: without control sequences, and with a number for each stream so that its
// lines stay together.
//
// It does not decide where text is shown.
//
// Invariant: nothing it returns contains an escape sequence.
package terminal

import (
	"hash/fnv"
	"regexp"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property/redact"
)

var (
	colourTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<\{%[^%]*%\}>`) })
	// CSI sequences, OSC sequences (ended by BEL or ST), and the remaining two-character escapes.
	escape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[@-Z\\\\^_]?")
	})
)

// Plain removes colour tags such as "<{%reset%}>" and ANSI escape sequences (protocol.md 5.1). It cuts off a very long text, with a note.
func Plain(s string) string {
	s = redact.Cut(s, redact.MaxMessage)
	if strings.Contains(s, "<{%") {
		s = colourTag().ReplaceAllString(s, "")
	}
	if strings.Contains(s, "\x1b") {
		s = escape().ReplaceAllString(s, "")
	}
	return s
}

// StreamID is a number for the messages of one stream, so that displays join them (protocol.md 9.3). It is never 0, and
// the same name always gives the same number, so that the logs of two runs can be compared.
func StreamID(name string) int32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return int32(h.Sum32()&0x7fffffff) | 1
}
