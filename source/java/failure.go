package java

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/terminal"
)

// held holds back the last output of a build tool, from the first line about a failure. Only its end shows whether it is about the
// program's failure, which has been shown, or about a failure of the tool. held also drops the errors that the SDK writes twice.
type held struct {
	begins func(line string) bool
	show   func(plugin.Line)

	mu    sync.Mutex // guards the fields below
	begun bool       // the error stream has had a line other than the version of a JVM
	on    bool
	isErr bool // the stream of the lines
	lines []string
	again repeated
}

// noLogger matches the usual messages of a library in the SDK that finds no logger.
var noLogger = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^SLF4J(\(W\))?: (Failed to load class "org.slf4j.impl.StaticLoggerBinder"|No SLF4J providers were found|` +
		`Defaulting to no-operation|See https?://www.slf4j.org/codes.html)`)
})

// ofJVM matches the lines with the version of a JVM. Debian's script for Gradle prints it at each start.
var ofJVM = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(openjdk|java) version "|^(OpenJDK|Java\(TM\)|Java HotSpot\(TM\)) .*\(build `)
})

// line shows a line, or keeps it. It may be called from the goroutines of both streams.
func (h *held) line(l plugin.Line) {
	if !h.keep(l) && !noLogger().MatchString(terminal.Plain(l.Text)) {
		h.show(l)
	}
}

func (h *held) keep(l plugin.Line) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := terminal.Plain(l.Text)
	if l.Stderr && !h.begun {
		if ofJVM().MatchString(text) {
			return true
		}
		h.begun = true
	}
	if !h.on && !l.Rest && h.begins(text) {
		h.on, h.isErr = true, l.Stderr
	}
	if !h.on || h.isErr != l.Stderr {
		return l.Stderr && !l.Rest && h.again.is(text)
	}
	if n := len(h.lines); l.Rest && n > 0 {
		h.lines[n-1] += text
	} else {
		h.lines = append(h.lines, text)
	}
	return true
}

func (h *held) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}
