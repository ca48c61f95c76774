package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// writeManual has write describe all commands below root, which it changes, in the files of a directory, which is made if need be.
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

// forMarkdown makes the texts of a command and of those below it mean in Markdown what they mean in a terminal.
func forMarkdown(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	if !cmd.HasParent() || cmd.Parent().Name() != "completion" { // cobra writes those in Markdown
		cmd.Long = markdown(cmd.Long)
	}
	for _, sub := range cmd.Commands() {
		forMarkdown(sub)
	}
}

// markdown makes what is indented by two spaces an example, and letters that mean something in Markdown themselves.
// What stands between backquotes stays.
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
