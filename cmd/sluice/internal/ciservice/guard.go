package ciservice

import (
	"io"
	"slices"
	"strings"
	"sync"
)

// guard looks at each byte once, because a command may be split over several writes.
type guard struct {
	kind kind
	out  io.Writer

	mu     sync.Mutex // guards the fields below
	start  bool       // the line has only bytes so far that a service skips
	colour bool       // within an escape sequence at the start
	last   byte       // the last byte if it may begin a command, else 0
	run    int        // the number of times it has been repeated
	word   []byte     // the text since "##"; nil if there was no "##"
}

// Write implements [io.Writer].
func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	safe := make([]byte, 0, len(p)+8)
	for _, b := range p {
		switch g.kind {
		case gitHub:
			safe = g.gitHub(safe, b)
		case gitLab:
			if b != '\r' { // GitLab's commands contain one
				safe = append(safe, b)
			}
		case buildkite:
			safe = g.buildkite(safe, b)
		case azure, teamCity:
			safe = g.bracket(safe, b)
		}
	}
	if _, err := g.out.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}

// count returns how often a byte has come in a row.
func (g *guard) count(b byte) int {
	if b != g.last {
		g.last, g.run = b, 0
	}
	g.run++
	return g.run
}

// words are the possible texts between "##" and "[" in commands of services.
var words = []string{"", "vso", "teamcity"}

// bracket guards against "##[command]", "##vso[command]" and "##teamcity[command]" anywhere.
func (g *guard) bracket(safe []byte, b byte) []byte {
	n := g.count(b)
	switch {
	case b == '#':
		g.word = nil
		if n >= 2 {
			g.word = []byte{}
		}
	case g.word == nil:
	case b == '[':
		if slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, string(g.word)) }) {
			safe = append(safe, '\\')
		}
		g.word = nil
	case len(g.word) < len("teamcity"):
		g.word = append(g.word, b)
	default:
		g.word = nil
	}
	return append(safe, b)
}

// gitHub guards against "::command" at the start of a line, perhaps after space, and against "##[command]" anywhere.
func (g *guard) gitHub(safe []byte, b byte) []byte {
	before, run := g.last, g.run
	n := g.count(b)
	switch {
	case b == '\n' || b == '\r':
		g.start = true
		return append(safe, b)
	case b == '[' && before == '#' && run >= 2:
		safe = append(safe, '\\')
	case g.start && b == ':' && n >= 2:
		safe = append(safe, '\\')
		g.start = false
	case g.start && b != ':' && (before == ':' || !isSpace(b)):
		g.start = false
	}
	return append(safe, b)
}

// isSpace reports whether a byte may be white space, or part of a white space character.
func isSpace(b byte) bool { return b <= ' ' && b != 0x1b || b >= 0x80 }

// buildkite guards against lines that begin with "---", "+++", "~~~" or "^^^", perhaps in colour.
func (g *guard) buildkite(safe []byte, b byte) []byte {
	n := g.count(b)
	switch {
	case b == '\n' || b == '\r':
		g.start, g.colour = true, false
	case !g.start:
	case g.colour:
		g.colour = b < '@' || b == '['
		g.last, g.run = 0, 0
	case b == 0x1b:
		g.colour = true
	case b != '-' && b != '+' && b != '~' && b != '^' || n == 1 && len(safe) > 0 && isMark(safe[len(safe)-1]):
		g.start = false
	case n >= 3:
		safe = append(safe, '\\')
		g.start = false
	}
	return append(safe, b)
}

func isMark(b byte) bool { return b == '-' || b == '+' || b == '~' || b == '^' }
