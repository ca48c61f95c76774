package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// writeBashCompletion writes the completion script for bash, with or without descriptions of the words.
//
// The script of cobra quotes a word for the shell only if it is the only one left. Of several words, bash inserts the common
// prefix unquoted, so that the `$` in the URN of a child would begin a variable. This script quotes them as well. If COMP_TYPE
// is 9, Tab inserts and lists nothing. If it is 33 or 64 (show-all-if-ambiguous, show-all-if-unmodified), Tab lists too; the
// script then drops the descriptions only for words that need quotes.
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
