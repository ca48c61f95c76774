package display

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// If a call ends because the run has stopped, the Node.js SDK tries to report that, and fails. It then prints a text with two stack traces, which
// begins and ends with these lines. The error that it tried to report has one of these texts.
const (
	echoBegins = "failed to deliver log message."
	echoEnds   = "message severity:"
	// echoQuotes begins the error that the SDK tried to report.
	echoQuotes = "original message:"
)

var echoReports = [...]string{"UNAVAILABLE: resource monitor shut down", "UNAVAILABLE: Channel closed", "UNAVAILABLE: Channel has been shut down"}

// closedChannel is such an error too, if the SDK tried to report it. Else it is the reason why the SDK could not report something.
const closedChannel = "Error: Channel has been shut down"

// withoutEchoes leaves out the messages of SDKs about the end of a run that has failed for another reason, and notes that it did.
func withoutEchoes(list []message, notes []string) ([]message, []string) {
	var kept []message
	left := false
	for i := 0; i < len(list); {
		n := echo(list[i:])
		if left = left || n > 0; n > 0 {
			i += n
			continue
		}
		kept = append(kept, list[i])
		i++
	}
	if left {
		notes = append(slices.Clone(notes), "... (the SDK's messages about calls after the end of the run are left out; --show-full-output shows them)")
	}
	return kept, notes
}

// WithoutEchoes removes, from the output of a process, the messages of SDKs about the end of a run that has failed for another reason.
func WithoutEchoes(text string) string {
	lines := strings.Split(text, "\n")
	var kept []string
	for i := 0; i < len(lines); {
		n, _ := echoIn(lines[i:])
		i += n
		if n == 0 {
			kept = append(kept, lines[i])
			i++
		}
	}
	return strings.Join(kept, "\n")
}

// echo returns the number of messages at the beginning of a list that report only that the run has stopped.
func echo(list []message) int {
	var lines []string
	for _, d := range list[:min(len(list), maxEcho)] {
		if !isOutput(d) {
			break
		}
		lines = append(lines, d.Message)
	}
	if n, whole := echoIn(lines); whole {
		return n
	}
	return 0
}

// maxEcho is the maximal number of lines of an echo.
const maxEcho = 100

// echoIn returns the number of lines at the beginning that report only that the run has stopped. whole reports whether they are a complete echo: the
// output may have been cut.
func echoIn(lines []string) (n int, whole bool) {
	if len(lines) == 0 || !strings.HasPrefix(lines[0], echoBegins) {
		return 0, false
	}
	about, quotes := false, false
	for i, text := range lines[:min(len(lines), maxEcho)] {
		quotes = quotes || strings.HasPrefix(strings.TrimSpace(text), echoQuotes)
		about = about || quotes && strings.Contains(text, closedChannel) || slices.ContainsFunc(echoReports[:], func(report string) bool { return strings.Contains(text, report) })
		if strings.HasPrefix(strings.TrimSpace(text), echoEnds) {
			if !about {
				return 0, false
			}
			return i + 1, true
		}
	}
	if about && len(lines) < maxEcho {
		return len(lines), false
	}
	return 0, false
}

// isOutput reports whether a message is a line that a process has printed.
func isOutput(d message) bool { return d.Severity == stages.Info || d.Severity == stages.InfoErr }
