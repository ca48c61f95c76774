package providers

import (
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// outcome is what the end of a call says about the API behind a provider.
type outcome int

const (
	outcomeOther     outcome = iota // nothing
	outcomeSuccess                  // it takes as many calls as it gets
	outcomeThrottled                // it is asked too often
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

// throttling matches what APIs answer when they are asked too often: the names of the errors of the large clouds, and HTTP's 429 where
// it is said to be a status.
var throttling = regexp.MustCompile(`(?i)throttl(ed|ing)|too ?many ?requests|rate ?(limit ?)?exceeded|request ?limit ?exceeded|` +
	`\bslow ?down\b|(status|code|error|http|api)\W{0,3}(code)?\W{0,3}429\b|\b429 too\b`)

// isThrottling reports whether a provider has answered that it, or the API behind it, is asked too often. A message that is too large
// for gRPC has the same code as exhausted resources.
func isThrottling(err error) bool {
	if throttling.MatchString(err.Error()) {
		return true
	}
	st, ok := status.FromError(err)
	return ok && st.Code() == codes.ResourceExhausted && !strings.Contains(st.Message(), "larger than max")
}
