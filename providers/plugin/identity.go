package plugin

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers"
)

// Identify returns a text that is different whenever another executable would serve spec, or the same in another directory or environment. ok is
// false if that cannot be known without starting it: for a plugin that is missing, that is attached or that consists of source files, and for a
// script outside of the plugin cache, which may run anything.
func (h *Host) Identify(spec providers.Spec) (identity string, ok bool) {
	spec = h.finder.Complete(spec)
	name, version := PluginOf(spec)
	if _, attached, err := h.attachedPort(name); attached || err != nil || providers.IsDynamic(name) {
		return "", false
	}
	at, err := h.finder.Find(Resource, name, version)
	if err != nil || at.Executable == "" || at.Source != FromCache && isScript(at.Executable) {
		return "", false
	}
	executable, err1 := os.Stat(at.Executable)
	folder, err2 := os.Stat(at.Directory)
	if err1 != nil || err2 != nil {
		return "", false
	}
	installed := int64(0)
	if at.Source == FromCache {
		installed = folder.ModTime().UnixNano()
	}
	return fmt.Sprintf("%s %d %d %d %q %s", at.Executable, executable.Size(), executable.ModTime().UnixNano(), installed, h.options.Directory,
		Circumstances(h.environment(name, spec))), true
}

// isScript reports whether a file begins like a script, or cannot be read.
func isScript(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }() // it is only read
	begin := make([]byte, 2)
	_, err = io.ReadFull(f, begin)
	return err != nil || bytes.Equal(begin, []byte("#!"))
}

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
