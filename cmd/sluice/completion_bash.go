package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// writeBashCompletion writes the completion script for bash, with or without descriptions of the words.
//
// The script of cobra quotes a word for the shell when only one is left. Of several, bash inserts what they have in common as it
// is, so that the `$` in the URN of a child would begin a variable. This script quotes them as well: COMP_TYPE 9 is a Tab that
// inserts, and nothing is listed then. 33 and 64 also list (show-all-if-ambiguous, show-all-if-unmodified); there the
// descriptions are given up only for words that have to be quoted.
func writeBashCompletion(root *cobra.Command, w io.Writer, descriptions bool) error {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, descriptions); err != nil {
		return err
	}
	const before, after = "    case $COMP_TYPE in\n    37|42)\n", `    local comp_type=$COMP_TYPE
    if [[ $comp_type == 9 || ( $comp_type == 33 || $comp_type == 64 ) && "${completions[*]%%$'\t'*}" == *\$* ]]; then
        comp_type=37
    fi
    case $comp_type in
    37|42)
`
	_, err := io.WriteString(w, strings.Replace(b.String(), before, after, 1))
	return err
}
