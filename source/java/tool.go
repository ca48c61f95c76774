package java

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/source/internal/terminal"
)

// tool is a build tool.
type tool string

const (
	maven  tool = "mvn"
	gradle tool = "gradle"
	jar    tool = "jar"
)

// title returns the name of a tool for messages.
func (t tool) title() string {
	if t == gradle {
		return "Gradle"
	}
	return "Maven"
}

// begins reports whether a line is the first of a tool's messages about a failure.
func (t tool) begins(line string) bool {
	switch t {
	case maven:
		return mavenEnd().MatchString(line)
	case gradle:
		return strings.HasPrefix(line, "FAILURE: Build failed")
	}
	return false
}

var (
	mavenEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[ERROR\] (COMPILATION ERROR|Failed to execute goal |\[ERROR\] |No plugin found for prefix |` +
			`Plugin \S+ or one of its dependencies |Error resolving |Malformed POM |The build could not read )`)
	})
	mavenThrown = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`An exception occurr?ed while executing the Java class`)
	})
	gradleStatus = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`finished with non-zero exit value (\d+)`) })
)

// programStatus returns the program's exit status from a tool's last output, text. ok is false if the tool itself has failed, so that text
// has the reason. status is the exit status of the tool.
func (t tool) programStatus(text string, status int) (code int, ok bool) {
	if text == "" {
		return status, true
	}
	if t == maven {
		return status, mavenThrown().MatchString(text)
	}
	m := gradleStatus().FindStringSubmatch(text)
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
		lines[i] = strings.TrimRight(location().ReplaceAllString(strings.ReplaceAll(line, directory+string(filepath.Separator), ""), "$1:$2:$3:"), " \r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// location matches the place of an error in Maven's form: App.java:[12,5].
var location = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\.\w+):\[(\d+),(\d+)\]`) })

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
		case ofJVM().MatchString(line):
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

// version returns the version from a tool's output: "3.8.7" of "Apache Maven 3.8.7 (...)", "8.5" of "Gradle 8.5".
func (t tool) version(text string) string {
	for line := range strings.Lines(terminal.Plain(text)) {
		if _, after, ok := strings.Cut(line, t.title()+" "); ok && !strings.Contains(line, ":") {
			version, _, _ := strings.Cut(strings.TrimSpace(after), " ")
			return version
		}
	}
	return ""
}
