package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newGenManCommand(t *terminal.Terminal, newRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "gen-man DIRECTORY",
		Short:   "Write man pages, one for each command",
		Example: "  sluice gen-man ~/.local/share/man/man1\n  man sluice-up",
		Args:    exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return writeManual(t.Out, newRoot(), args[0], func(root *cobra.Command, directory string) error {
				header := doc.GenManHeader{Section: "1", Source: "sluice " + sluice.Version, Manual: "sluice"}
				return doc.GenManTree(root, &header, directory)
			})
		},
	}
}

func newGenMarkdownCommand(t *terminal.Terminal, newRoot func() *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "gen-markdown DIRECTORY",
		Short: "Write the reference of all commands as Markdown, one file for each",
		Args:  exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return writeManual(t.Out, newRoot(), args[0], doc.GenMarkdownTree)
		},
	}
}

// newGenCompletionCommand is Pulumi's way of writing `completion`.
func newGenCompletionCommand(t *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:       "gen-completion SHELL",
		Short:     "Write the completion script of a shell, as `completion` does",
		Hidden:    true,
		Args:      exactArgs(1),
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(t.Out, true)
			case "fish":
				return root.GenFishCompletion(t.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(t.Out)
			case "zsh":
				return root.GenZshCompletion(t.Out)
			}
			return exit.Usagef("there is no completion for the shell %q: write bash, fish, powershell or zsh", args[0])
		},
	}
}

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
