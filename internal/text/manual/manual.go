package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Man writes man pages of the commands below root into a directory, which it creates if necessary, and prints their number to out.
// source is the program with its version. Man changes root.
func Man(out io.Writer, root *cobra.Command, source, directory string) error {
	header := doc.GenManHeader{Section: "1", Source: source, Manual: "sluice"}
	return write(out, root, directory, func(root *cobra.Command, directory string) error { return doc.GenManTree(root, &header, directory) })
}

// Markdown is like [Man], for files of Markdown.
func Markdown(out io.Writer, root *cobra.Command, directory string) error {
	return write(out, root, directory, doc.GenMarkdownTree)
}

func write(out io.Writer, root *cobra.Command, directory string, generate func(root *cobra.Command, directory string) error) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make the directory for the manual: %w", err)
	}
	root.InitDefaultCompletionCmd()
	forMarkdown(root)
	if err := generate(root, directory); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	written, err := filepath.Glob(filepath.Join(directory, root.Name()+"*"))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Wrote %d pages to %s\n", len(written), directory)
	return err
}

// forMarkdown converts the texts of a command and its subcommands from plain text to Markdown.
func forMarkdown(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	if !cmd.HasParent() || cmd.Parent().Name() != "completion" { // cobra writes those in Markdown
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
