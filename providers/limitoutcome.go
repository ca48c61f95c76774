package providers

import (
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
var throttling = regexp.MustCompile(`(?i)throttl(ed|ing)|too ?many ?requests|rate ?(limit ?)?exceeded|request ?limit ?exceeded|` +
	`\bslow ?down\b|(status|code|error|http|api)\W{0,3}(code)?\W{0,3}429\b|\b429 too\b`)

// isThrottling reports whether a provider has answered that it, or the API behind it, gets too many calls. A message that is too
// large for gRPC has the same code as exhausted resources.
func isThrottling(err error) bool {
	if throttling.MatchString(err.Error()) {
		return true
	}
	st, ok := status.FromError(err)
	return ok && st.Code() == codes.ResourceExhausted && !strings.Contains(st.Message(), "larger than max")
}
