package display

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// The Node.js SDK reports each call that ends because the run has stopped, and cannot deliver the report: what it prints then, with two traces of the
// stack, begins and ends with these lines. Of what it wanted to report, these texts say that the run has stopped.
const (
	echoBegins = "failed to deliver log message."
	echoEnds   = "message severity:"
)

var echoReports = [...]string{"UNAVAILABLE: resource monitor shut down", "UNAVAILABLE: Channel closed", "UNAVAILABLE: Channel has been shut down"}

// withoutEchoes leaves out what SDKs say of the end of a run that has failed for another reason, with a note about that.
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
		notes = append(slices.Clone(notes), "... (what the SDK says of calls after the run had stopped is left out; --show-full-output shows it)")
	}
	return kept, notes
}

// echo returns the number of messages at the beginning of a list that say only that the run has stopped.
func echo(list []message) int {
	if !isOutput(list[0]) || !strings.HasPrefix(list[0].Message, echoBegins) {
		return 0
	}
	about := false
	for i, d := range list[:min(len(list), 100)] {
		if !isOutput(d) {
			return 0
		}
		about = about || slices.ContainsFunc(echoReports[:], func(text string) bool { return strings.Contains(d.Message, text) })
		if strings.HasPrefix(strings.TrimSpace(d.Message), echoEnds) {
			if !about {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// isOutput reports whether a message is a line that a process has printed.
func isOutput(d message) bool { return d.Severity == stages.Info || d.Severity == stages.InfoErr }
