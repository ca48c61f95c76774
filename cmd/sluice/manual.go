package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// writeManual calls write to describe all commands below root in the files of a directory. It changes root, and makes
// the directory if it does not exist.
func writeManual(out io.Writer, root *cobra.Command, directory string, write func(root *cobra.Command, directory string) error) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the directory for the manual: %w", err)
	}
	root.InitDefaultCompletionCmd()
	forMarkdown(root)
	if err := write(root, directory); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	written, err := filepath.Glob(filepath.Join(directory, "sluice*"))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Wrote %d pages to %s\n", len(written), directory)
	return err
}

// forMarkdown converts the texts of a command and its subcommands from plain text to Markdown.
func forMarkdown(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	if !cmd.HasParent() || cmd.Parent().Name() != "completion" { // cobra writes these in Markdown
		cmd.Long = markdown(cmd.Long)
	}
	for _, sub := range cmd.Commands() {
		forMarkdown(sub)
	}
}

// markdown converts lines that are indented by two spaces to examples, and escapes characters that have a meaning in
// Markdown. Text between backquotes stays unchanged.
func markdown(text string) string {
	escape := strings.NewReplacer("<", `\<`, "*", `\*`)
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			b.WriteString("  " + line)
			continue
		}
		for i, part := range strings.SplitAfter(line, "`") {
			if i%2 == 0 {
				part = escape.Replace(part)
			}
			b.WriteString(part)
		}
	}
	return b.String()
}
