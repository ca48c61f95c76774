package providers

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// outcome is the evidence of a finished call about the API behind a provider.
type outcome int

const (
	outcomeOther     outcome = iota // no evidence
	outcomeSuccess                  // it accepts the present rate of calls
	outcomeThrottled                // it gets too many calls
)

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return outcomeSuccess
	case isThrottling(err):
		return outcomeThrottled
	}
	return outcomeOther
}

// throttling matches the answers of APIs that get too many calls: the error names of the large clouds, and HTTP's 429 if the text
// calls it a status.
var throttling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)throttl(ed|ing)|too ?many ?requests|rate ?(limit ?)?exceeded|request ?limit ?exceeded|` +
		`\bslow ?down\b|(status|code|error|http|api)\W{0,3}(code)?\W{0,3}429\b|\b429 too\b`)
})

// exhausted is in the text of a gRPC status, and tooLarge in that of one about a message that is too large, which has the same code.
const exhausted, tooLarge = "rpc error: code = ResourceExhausted", "larger than max"

// isThrottling reports whether a provider has answered that it, or the API behind it, gets too many calls. An error can have a method Throttled,
// which reports that by the provider's own evidence: those of plugins do, because their texts have no codes.
func isThrottling(err error) bool {
	text := err.Error()
	if throttling().MatchString(text) || strings.Contains(text, exhausted) && !strings.Contains(text, tooLarge) {
		return true
	}
	var known interface{ Throttled() bool }
	return errors.As(err, &known) && known.Throttled()
}
