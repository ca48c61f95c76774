package java

import (
	"path/filepath"
	"regexp"
	"strconv"
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
var noLogger = regexp.MustCompile(`^SLF4J(\(W\))?: (Failed to load class "org.slf4j.impl.StaticLoggerBinder"|No SLF4J providers were found|` +
	`Defaulting to no-operation|See https?://www.slf4j.org/codes.html)`)

// ofJVM matches the lines with the version of a JVM. Debian's script for Gradle prints it at each start.
var ofJVM = regexp.MustCompile(`^(openjdk|java) version "|^(OpenJDK|Java\(TM\)|Java HotSpot\(TM\)) .*\(build `)

// line shows a line, or keeps it. It may be called from the goroutines of both streams.
func (h *held) line(l plugin.Line) {
	if !h.keep(l) && !noLogger.MatchString(terminal.Plain(l.Text)) {
		h.show(l)
	}
}

func (h *held) keep(l plugin.Line) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := terminal.Plain(l.Text)
	if l.Stderr && !h.begun {
		if ofJVM.MatchString(text) {
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

// begins reports whether a line is the first of a tool's messages about a failure.
func (t tool) begins(line string) bool {
	switch t {
	case maven:
		return mavenEnd.MatchString(line)
	case gradle:
		return strings.HasPrefix(line, "FAILURE: Build failed")
	}
	return false
}

var (
	mavenEnd = regexp.MustCompile(`^\[ERROR\] (COMPILATION ERROR|Failed to execute goal |\[ERROR\] |No plugin found for prefix |` +
		`Plugin \S+ or one of its dependencies |Error resolving |Malformed POM |The build could not read )`)
	mavenThrown  = regexp.MustCompile(`An exception occurr?ed while executing the Java class`)
	gradleStatus = regexp.MustCompile(`finished with non-zero exit value (\d+)`)
)

// programStatus returns the program's exit status from a tool's last output, text. ok is false if the tool itself has failed, so that text
// has the reason. status is the exit status of the tool.
func (t tool) programStatus(text string, status int) (code int, ok bool) {
	if text == "" {
		return status, true
	}
	if t == maven {
		return status, mavenThrown.MatchString(text)
	}
	m := gradleStatus.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	code, err := strconv.Atoi(m[1])
	return code, err == nil
}

// explain reduces a tool's messages about a failure to those about the program. directory is that of the program.
func (t tool) explain(text, directory string) string {
	lines := strings.Split(terminal.Plain(text), "\n")
	if t == gradle {
		lines = gradleReason(lines)
	} else {
		lines = mavenReason(lines)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(location.ReplaceAllString(strings.ReplaceAll(line, directory+string(filepath.Separator), ""), "$1:$2:$3:"), " \r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// location matches the place of an error in Maven's form: App.java:[12,5].
var location = regexp.MustCompile(`(\.\w+):\[(\d+),(\d+)\]`)

// mavenReason returns the compiler's lines, or else the reason why Maven did not call the compiler.
func mavenReason(lines []string) []string {
	var all, compiler []string
	inCompiler := false
	for _, line := range lines {
		text, isError := line, false
		for strings.HasPrefix(text, "[ERROR]") { // twice before mistakes in the pom.xml
			text, isError = strings.TrimPrefix(strings.TrimPrefix(text, "[ERROR]"), " "), true
		}
		switch {
		case !isError && strings.HasPrefix(line, "["):
			continue // of another level
		case strings.HasPrefix(text, "COMPILATION ERROR"):
			inCompiler = true
			continue
		case strings.HasPrefix(text, "Failed to execute goal ") && len(compiler) > 0:
			return compiler
		case strings.HasPrefix(text, "To see the full stack trace of the errors"):
			return all
		}
		text, _, _ = strings.Cut(text, " -> [Help ")
		if text = strings.TrimRight(text, " @"); text == "" {
			continue
		}
		all = append(all, text)
		if inCompiler {
			compiler = append(compiler, text)
		}
	}
	return all
}

// gradleReason returns the compiler's lines, which come first, or else Gradle's own reason.
func gradleReason(lines []string) []string {
	var before, wrong []string
	inWrong, failed := false, false
	for _, line := range lines {
		switch {
		case ofJVM.MatchString(line):
		case strings.HasPrefix(line, "FAILURE: Build failed"):
			failed = true
		case strings.HasPrefix(line, "* What went wrong:"):
			inWrong = true
		case strings.HasPrefix(line, "* "), strings.HasPrefix(line, "BUILD FAILED"):
			inWrong = false
		case inWrong:
			wrong = append(wrong, line)
		case !failed:
			before = append(before, line)
		}
	}
	if strings.TrimSpace(strings.Join(before, "")) != "" {
		return before
	}
	return wrong
}
