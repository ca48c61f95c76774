package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// reportFlags select the subject of a report, and its files.
type reportFlags struct {
	whyFlags
	flags.Reports
	log     string
	version int // of the history
}

func newReportCommand(open *session.Opener) *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report [FILE]...",
		Short: "Write a report of an operation",
		Long: "Write a report of the decisions and results of the last preview, update, destroy or refresh of a stack: a web page\n" +
			"(.html), a comment for a pull request (.md) or JSON (.json). Without a FILE, Markdown goes to the standard output.\n\n" +
			"With --event-log LOG, the report is made from a file that an operation has written with --event-log, and needs no\n" +
			"stack; - is the standard input. Such a report also contains times, messages and outputs. With --history N, the report\n" +
			"contains what the history of the stack records of operation N, which is counts.\n\n" +
			"`sluice up --report FILE` writes a complete report directly, as do the other operations.",
		Example: "  sluice report last.html\n  sluice report --event-log events.jsonl report.html comment.md",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Paths = args
			return writeReport(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	flags.AddStack(p, &f.stack)
	p.BoolVar(&f.preview, "preview", false, "report the last preview")
	p.BoolVar(&f.update, "update", false, "report the last operation that was not a preview")
	p.StringVar(&f.log, "event-log", "", "make the report of this event `log`")
	p.IntVar(&f.version, "history", 0, "report the operation with this `number` in the history of the stack")
	flags.AddJSON(p, &f.json, "write JSON to the standard output")
	f.AddLimit(p)
	cmd.MarkFlagsMutuallyExclusive("preview", "update", "event-log", "history")
	return cmd
}

// writeReport runs the command report.
func writeReport(ctx context.Context, open *session.Opener, f *reportFlags) error {
	if err := f.Reports.Check(); err != nil {
		return err
	}
	d, err := findReport(ctx, open, f)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		if err := reports.WriteJSON(open.Terminal.Data(), d); err != nil {
			return err
		}
	case len(f.Paths) == 0:
		return reports.WriteMarkdown(open.Terminal.Data(), d, f.Markdown)
	}
	return f.Write(ctx, d)
}

func findReport(ctx context.Context, open *session.Opener, f *reportFlags) (*reports.Document, error) {
	if f.log != "" {
		return reportOfLog(ctx, open.Terminal, f.log)
	}
	s, err := open.AnyStack(ctx, f.stack, "")
	if err != nil {
		return nil, err
	}
	if f.version != 0 {
		return reportOfHistory(ctx, s, f.version)
	}
	log, err := readDecisions(ctx, s, &f.whyFlags)
	if err != nil {
		return nil, err
	}
	return reports.OfDecisions(log.Log, s.Session.Project.Runtime), nil
}

func reportOfLog(ctx context.Context, t *terminal.Terminal, path string) (*reports.Document, error) {
	read := t.Input
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		defer func() { _ = file.Close() }() // it is only read
		read = func(_ context.Context, f func(io.Reader) error) error { return f(file) }
	}
	var d *reports.Document
	err := read(ctx, func(in io.Reader) (err error) {
		d, err = reports.ReadEventLog(ctx, in)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", format.Printable(path), err)
	}
	return d, nil
}

func reportOfHistory(ctx context.Context, s *session.Stack, version int) (*reports.Document, error) {
	updates, warnings, err := s.State.History(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		s.Session.Terminal.Warn("%s", w)
	}
	numberAll(updates)
	at := slices.IndexFunc(updates, func(u backend.Update) bool { return u.Number == version })
	if at < 0 {
		last := 0
		if len(updates) > 0 {
			last = updates[0].Number
		}
		return nil, exit.Usagef("the history of %s has the numbers 1 to %d, and no number %d; `sluice stack history` prints them", s.Name(), last, version)
	}
	return reports.OfHistory(s.Session.Project.Name, s.Name(), updates[at]), nil
}
