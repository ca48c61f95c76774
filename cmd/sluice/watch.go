package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/watch"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

func newWatchCommand(open *session.Opener) *cobra.Command {
	f := &flags.Operation{}
	var paths []string
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Update the stack whenever files of the project change",
		Long: "Whenever files of the project change, do what `sluice up --yes --skip-preview` does, until Ctrl-C. If an update\n" +
			"fails, the command shows the error and waits for the next change.\n\n" +
			"Only changes of content count. Ignored are names that begin with a period, node_modules, virtual environments of\n" +
			"Python, and files of editors. What an update writes itself causes no other one: new files, files that a resource names,\n" +
			"and files that change in each update. --path watches other files.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.Yes, f.Confirmation.SkipPreview = true, true
			return watchProject(cmd.Context(), open, f, paths)
		},
	}
	f.AddUpdate(cmd.Flags())
	f.Run.AddChanges(cmd.Flags())
	addSecretsProvider(cmd, open)
	cmd.Flags().StringArrayVar(&paths, "path", nil, "watch this file or folder instead of that of the project; may be repeated")
	return cmd
}

// watchProject updates a stack whenever files change, until an interrupt.
func watchProject(ctx context.Context, open *session.Opener, f *flags.Operation, paths []string) error {
	t := open.Terminal
	s, err := operate.Open(ctx, open, f) // errors of the project appear before the first wait
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{s.Session.Project.Directory()}
	}
	w, err := watch.New(paths, ownOutput(t)...)
	if err != nil {
		return exit.Usagef("--path: %w", err)
	}
	defer func() { _ = w.Close() }() // its error changes nothing
	waiting, forget := signal.NotifyContext(ctx, os.Interrupt)
	defer forget()
	for {
		fmt.Fprintf(t.Err, "Waiting for changes; Ctrl-C ends this\n")
		changed, err := w.Next(waiting)
		if waiting.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, path := range changed {
			fmt.Fprintf(t.Err, "%s has changed\n", shortPath(path))
		}
		err = update(ctx, open, f)
		var failed *sluice.FailedError
		if errors.As(err, &failed) && failed.Canceled || waiting.Err() != nil {
			return err
		}
		if err != nil {
			report(open, err)
		}
		outputs, err := w.Settle(namedFiles(ctx, open, f, s.Session.Project.Directory()))
		if err != nil {
			return err
		}
		for _, path := range outputs {
			fmt.Fprintf(t.Err, "%s changes in each update, and so causes none\n", shortPath(path))
		}
	}
}

// namedFiles returns a function that reports whether a resource of the stack names a file in a property, as the resource for a local file does.
func namedFiles(ctx context.Context, open *session.Opener, f *flags.Operation, directory string) func(path string) bool {
	named := map[string]bool{}
	var walk func(v property.Value)
	walk = func(v property.Value) {
		v, _ = v.Unwrap()
		switch {
		case v.IsString():
			path := v.AsString()
			if !filepath.IsAbs(path) {
				path = filepath.Join(directory, path)
			}
			named[filepath.Clean(path)] = true
		case v.IsArray():
			for _, e := range v.AsArray().All() {
				walk(e)
			}
		case v.IsMap():
			for _, e := range v.AsMap().All() {
				walk(e)
			}
		}
	}
	var snapshot *state.Snapshot
	s, err := open.State(ctx, f.Stack.Name)
	if err == nil {
		snapshot, err = s.State.LoadSealed(ctx)
	}
	if err == nil && snapshot != nil { // otherwise, no file is named
		for _, r := range snapshot.Resources {
			walk(property.Of(r.Inputs))
			walk(property.Of(r.Outputs))
		}
	}
	return func(path string) bool { return named[path] }
}

// ownOutput returns the files that the command itself writes to.
func ownOutput(t *terminal.Terminal) []fs.FileInfo {
	var out []fs.FileInfo
	for _, file := range t.OutputFiles() {
		if info, err := file.Stat(); err == nil {
			out = append(out, info)
		}
	}
	return out
}

// shortPath returns a path relative to the working directory.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil {
		return short
	}
	return path
}
