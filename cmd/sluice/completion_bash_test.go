package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// TestBashInsertsQuotedWords runs the completion script in bash, with a fake sluice that lists two URNs with a `$` in
// them.
func TestBashInsertsQuotedWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	directory := t.TempDir()
	var script bytes.Buffer
	root := newRootCommand(session.NewOpener(terminal.New(terminal.ProcessStreams())))
	root.Use = "sluice"
	require.NoError(t, writeBashCompletion(root, &script, true))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "script"), script.Bytes(), 0o600))
	const answer = "#!/bin/sh\nprintf '%s\\n' 'a$b:c::one' 'a$b:c::two' :4\n"
	require.NoError(t, os.WriteFile(filepath.Join(directory, "sluice"), []byte(answer), 0o700)) //nolint:gosec // a program
	complete := func(kind, word string) []string {
		// _get_comp_words_by_ref is a part of bash-completion, which need not be installed.
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", `
			_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
			compopt() { :; }
			COMP_WORDBREAKS=' ' COMP_WORDS=(sluice up --target "$2") COMP_CWORD=3 COMP_TYPE=$1
			source ./script
			__start_sluice
			printf '%s\n' "${COMPREPLY[@]}"`, "bash", kind, word)
		cmd.Dir = directory
		cmd.Env = append(os.Environ(), "PATH="+directory+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.Fields(string(out))
	}
	const inserts, lists, both = "9", "63", "33"
	require.Equal(t, []string{`a\$b:c::one`, `a\$b:c::two`}, complete(inserts, "a"), "bash inserts what they have in common")
	require.Equal(t, []string{`a\$b:c::one`, `a\$b:c::two`}, complete(both, "a"))
	require.Equal(t, []string{`a$b:c::one`, `a$b:c::two`}, complete(lists, `a\$b:`), "nothing is inserted")
	require.Equal(t, []string{`a\$b:c::two`}, complete(inserts, `a\$b:c::tw`))
}
