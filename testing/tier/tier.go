// Package tier divides the tests into two tiers.
//
//	go test ./...               the first tier: it needs Go and nothing else, and takes minutes
//	go test -tags slow ./...    both tiers
//
// The slow tier has the tests that need other languages, servers, emulators or a browser, and those that take long because they kill, wait or
// explore.
//
// Invariant: each rule of the specification has a test in the first tier.
package tier

import (
	"os"
	"testing"
)

// Mark begins the line that a test of the slow tier prints in the first one.
const Mark = "a test of the slow tier"

// Variable is an environment variable that makes a test binary run the slow tier too, as the build tag does. It saves compiling and linking the
// same tests for each tier.
const Variable = "SLUICE_SLOW_TESTS"

// Slow skips a test of the slow tier unless that tier runs. needs gives the reason why the test is in it in a few words: "Node.js".
func Slow(t testing.TB, needs string) {
	t.Helper()
	if !IsSlow() {
		t.Skipf("%s (%s): go test -tags slow", Mark, needs)
	}
}

// More reports whether a test does more, because the slow tier runs. In the first one it prints that there is more, in a few words: "150 seeds".
func More(t testing.TB, what string) bool {
	t.Helper()
	if !IsSlow() {
		t.Logf("%s does more (%s): go test -tags slow", Mark, what)
	}
	return IsSlow()
}

// IsSlow reports whether the slow tier runs too. It is for what prepares tests. A test calls [Slow] or [More], which show that the slow tier has
// something of it.
func IsSlow() bool { return tagged || os.Getenv(Variable) != "" }
