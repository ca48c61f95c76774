package plugin

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Circumstances returns a digest of an environment, without the variables on which the answers of Check and Diff do not depend: those of terminals,
// shells and runs in a CI service, and credentials, which say who asks.
func Circumstances(environment []string) string {
	var kept []string
	for _, e := range environment {
		if name, _, _ := strings.Cut(e, "="); !isIncidental(name) {
			kept = append(kept, e)
		}
	}
	slices.Sort(kept)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(kept, "\x00"))))
}

// isIncidental reports whether a variable differs from one run to the next although nothing has changed.
func isIncidental(name string) bool {
	switch name {
	case "_", "PWD", "OLDPWD", "SHLVL", "TERM", "COLUMNS", "LINES", "WINDOWID", "TMUX", "TMUX_PANE", "STY", "TRACEPARENT", "TRACESTATE", "TMPDIR",
		"HOSTNAME", "INVOCATION_ID", "JOURNAL_STREAM":
		return true
	}
	for _, prefix := range []string{
		"SSH_", "XDG_SESSION_", "TERM_", "VTE_", "GITHUB_", "RUNNER_", "ACTIONS_", "CI_", "GITLAB_", "BUILD_", "BUILDKITE_", "CIRCLE_", "TRAVIS_",
		"JENKINS_", "BITBUCKET_", "AGENT_", "SYSTEM_", "CODEBUILD_", "SLUICE_CI_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	upper := strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "ACCESS_KEY"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}
