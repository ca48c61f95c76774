package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/stateedit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/state"
)

func newStateEditCommand(open *session.Opener) *cobra.Command {
	var f stateedit.Flags
	cmd := &cobra.Command{
		Use:     "edit",
		Aliases: []string{"update", "modify"},
		Short:   "Edit the whole state in a text editor",
		Long: "Open the state of a stack as JSON in the editor that the variable EDITOR, or else VISUAL, names. The command checks\n" +
			"the saved text and shows the changes before it writes them. If the text is not a valid state, you can edit it again.\n" +
			"Secrets stay encrypted. You can write a new secret in plain text: {\"4dabf18193072939515e22adb298388d\":\n" +
			"\"1b47061264138c4ac30d75fd1eb44270\", \"plaintext\": \"\\\"the text\\\"\"}. Pending operations are dropped.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.Yes && !open.Terminal.Interactive() {
				return exit.Usagef("--yes must be passed in to edit the state in non-interactive mode")
			}
			return stateedit.Run(cmd.Context(), open, &f, true, func(ctx context.Context, e *stateedit.Edit) error { return editText(ctx, e) })
		},
	}
	flags.AddStack(cmd.Flags(), &f.Stack)
	flags.AddYes(cmd.Flags(), &f.Yes, "do not ask for confirmation")
	return cmd
}

// editText lets the user edit the text until it is valid and confirmed.
func editText(ctx context.Context, e *stateedit.Edit) error {
	command := e.Terminal.Env("EDITOR")
	if command == "" {
		command = e.Terminal.Env("VISUAL")
	}
	if command == "" {
		return exit.Usagef("no editor is set: set the environment variable EDITOR")
	}
	was, err := state.EditText(ctx, e.Snapshot)
	if err != nil {
		return err
	}
	file, err := scratchFile(was)
	if err != nil {
		return err
	}
	for {
		text, err := inEditor(ctx, e, command, file)
		if err != nil {
			return notEdited(err, file, was)
		}
		now, shown, err := state.ParseEdit(ctx, e.Snapshot, e.Ref.Name, text)
		if err == nil && now == nil {
			fmt.Fprintf(e.Terminal.Out, "Nothing was edited: the state of %s is unchanged.\n", e.Name)
			return os.Remove(file)
		}
		var answer string
		if err != nil {
			answer, err = afterFault(ctx, e, err, file)
		} else {
			answer, err = afterEdit(ctx, e, was, shown, now)
		}
		if err != nil {
			return err
		}
		switch answer {
		case "accept":
			if err := saveEdited(ctx, e, now); err != nil {
				return fmt.Errorf("%w; the edited text is in %s", err, file)
			}
			fmt.Fprintf(e.Terminal.Out, "The state of %s was changed.\n", e.Name)
			return os.Remove(file)
		case "reset":
			if err := private.Write(file, was); err != nil {
				return err
			}
		case "cancel":
			return fmt.Errorf("the edit was cancelled; the state is unchanged, the edited text is in %s", file)
		}
	}
}

func saveEdited(ctx context.Context, e *stateedit.Edit, now *state.Snapshot) error {
	now.Pending = nil
	return e.Write(ctx, now)
}

// notEdited reports that the editor has failed. It keeps the file if the text has changed.
func notEdited(err error, file string, was []byte) error {
	if now, readErr := os.ReadFile(file); readErr == nil && bytes.Equal(now, was) && os.Remove(file) == nil {
		return fmt.Errorf("%w; the state is unchanged", err)
	}
	return fmt.Errorf("%w; the state is unchanged, the text is in %s", err, file)
}

// scratchFile writes a text to a file for an editor. Only the owner may read the file.
func scratchFile(text []byte) (string, error) {
	f, err := private.Temporary(filepath.Join(os.TempDir(), "sluice-state"), ".json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Close())
}

// inEditor runs the editor, which receives the signals of the terminal, and returns the content of the file afterwards.
func inEditor(ctx context.Context, e *stateedit.Edit, command, file string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, "sh", file)
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		cmd = exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	}
	run := func(p terminal.Process) error {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err
		return cmd.Run()
	}
	if err := e.Holder.Undisturbed(ctx, func() error { return e.Terminal.Lend(ctx, run) }); err != nil {
		return nil, fmt.Errorf("the editor %q: %w", command, err)
	}
	return os.ReadFile(file)
}

// afterFault reports a fault of the text and, on a terminal, asks how to continue.
func afterFault(ctx context.Context, e *stateedit.Edit, fault error, file string) (string, error) {
	if !e.Terminal.Interactive() {
		return "", fmt.Errorf("the edited state is not valid: %w\nthe state is unchanged, the edited text is in %s", fault, file)
	}
	fmt.Fprintf(e.Terminal.Err, "error: the edited state is not valid: %v\n", fault)
	return pick(ctx, e.Terminal, "What do you want to do? [edit/reset/cancel] (edit): ", "edit", "reset", "cancel")
}

// afterEdit shows the changes and requests a confirmation.
func afterEdit(ctx context.Context, e *stateedit.Edit, was, shown []byte, now *state.Snapshot) (string, error) {
	if _, err := e.Terminal.Out.Write(diff.Diff("before", was, "after", shown)); err != nil {
		return "", err
	}
	for _, p := range now.Pending {
		e.Terminal.Warn("the pending operation %q on %s is dropped; find out whether it took effect", p.Type, p.Resource.URN)
	}
	if e.Flags.Yes {
		return "accept", nil
	}
	return pick(ctx, e.Terminal, "Do you want to write this? [accept/edit/reset/cancel] (edit): ", "accept", "edit", "reset", "cancel")
}

// pick asks until the answer is one of the words or its first letter, or is empty, which means edit.
func pick(ctx context.Context, t *terminal.Terminal, question string, words ...string) (string, error) {
	for {
		answer, err := t.Ask(ctx, question)
		if err != nil {
			return "", err
		}
		answer = strings.ToLower(answer)
		if answer == "" {
			return "edit", nil
		}
		for _, w := range words {
			if answer == w || answer == w[:1] {
				return w, nil
			}
		}
		fmt.Fprintf(t.Out, "Please answer %s.\n", strings.Join(words, ", "))
	}
}
