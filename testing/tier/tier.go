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

import "testing"

// Mark begins the line that a test of the slow tier prints in the first one.
const Mark = "a test of the slow tier"

// Slow skips a test of the slow tier unless that tier runs. needs gives the reason why the test is in it in a few words: "Node.js".
func Slow(t testing.TB, needs string) {
	t.Helper()
	if !IsSlow {
		t.Skipf("%s (%s): go test -tags slow", Mark, needs)
	}
}
