package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackHistoryEventsCommand(open *session.Opener, stack *string) *cobra.Command {
	var f historyEventFlags
	cmd := &cobra.Command{
		Use:   "events [ID]",
		Short: "Print the recorded events of an operation",
		Long: "Print the events of an operation on a stack: the steps and messages. The events are those that Pulumi's service keeps, and ID\n" +
			"is the one that the service gave to the operation; without --all or --count, its first page is printed. Other backends keep\n" +
			"no events: --event-log LOG takes them from a file that an operation has written with --event-log, and needs no stack.\n\n" +
			"--summary prints what the operation did and its error messages instead. `sluice report` makes a report of an event log.",
		Example: "  sluice up --event-log up.jsonl\n  sluice stack history events --event-log up.jsonl --summary",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.operation = args[0]
			}
			return showEvents(cmd.Context(), open, *stack, f)
		},
	}
	p := cmd.Flags()
	p.StringVar(&f.log, "event-log", "", "print the events of this event `log`; - is the standard input")
	p.StringArrayVar(&f.filter.Types, "event-type", nil, "only events of the type with this number at the service; may be repeated")
	p.StringVar(&f.filter.URN, "urn", "", "only events about the resource with this URN")
	p.BoolVar(&f.filter.Undecided, "include-non-activated", false, "also events that the service has not activated yet")
	p.IntVar(&f.count, "count", 0, "print at least this many events, if there are so many")
	p.BoolVar(&f.all, "all", false, "print all events")
	p.BoolVar(&f.summary, "summary", false, "print a summary of all events")
	flags.AddJSON(p, &f.json, "write JSON")
	for _, two := range [][2]string{{"count", "all"}, {"summary", "count"}, {"summary", "event-type"}, {"summary", "urn"}, {"event-log", "event-type"}} {
		excludes(cmd, two[0], two[1])
	}
	return cmd
}

type historyEventFlags struct {
	operation, log     string
	filter             backend.EventFilter
	count              int // 0 is a page
	all, summary, json bool
}

// nextEvent returns one event after the other, each a JSON object, and false after the last one.
type nextEvent func() (event []byte, more bool, err error)

func showEvents(ctx context.Context, open *session.Opener, stack string, f historyEventFlags) error {
	switch {
	case f.log == "" && f.operation == "":
		return exit.Usagef("name an operation of the service by its ID, or an event log with --event-log")
	case f.log != "" && f.operation != "":
		return exit.Usagef("an ID and --event-log cannot be used together")
	case f.count < 0:
		return exit.Usagef("--count must not be negative")
	}
	if f.log == "" {
		next, err := keptEvents(ctx, open, stack, f)
		if err != nil {
			return err
		}
		return writeEvents(ctx, open, f, next)
	}
	read := open.Terminal.Input
	if f.log != "-" {
		file, err := os.Open(f.log)
		if err != nil {
			return exit.AsUsage(err)
		}
		defer func() { _ = file.Close() }() // it is only read
		read = func(_ context.Context, f func(io.Reader) error) error { return f(file) }
	}
	return read(ctx, func(in io.Reader) error {
		if err := writeEvents(ctx, open, f, loggedEvents(in, f)); err != nil {
			return fmt.Errorf("%s: %w", format.Printable(f.log), err)
		}
		return nil
	})
}

// keptEvents returns the events that the backend has kept of an operation.
func keptEvents(ctx context.Context, open *session.Opener, stack string, f historyEventFlags) (nextEvent, error) {
	s, err := open.AnyStack(ctx, stack, "")
	if err != nil {
		return nil, err
	}
	keeper, keeps := s.State.(backend.EventKeeper)
	if !keeps {
		return nil, exit.Usagef("%s keeps no events, which Pulumi's service does. --event-log FILE of an operation writes its events to a file, "+
			"and the flag --event-log of this command prints them", backend.MaskURL(s.Session.BackendURL))
	}
	return eventsOf(ctx, keeper, f), nil
}

// eventsOf returns the events that a backend has kept of an operation, one part after the other.
func eventsOf(ctx context.Context, keeper backend.EventKeeper, f historyEventFlags) nextEvent {
	var page []json.RawMessage
	token, printed, begun := "", 0, false
	seen := map[string]bool{} // the tokens of parts
	return func() ([]byte, bool, error) {
		for len(page) == 0 {
			if begun && (token == "" || !f.all && !f.summary && printed >= f.count) {
				return nil, false, nil
			}
			begun = true
			var err error
			if page, token, err = keeper.KeptEvents(ctx, f.operation, f.filter, token); err != nil {
				return nil, false, err
			}
			if token != "" && seen[token] {
				return nil, false, fmt.Errorf("the events of operation %s have no end: the backend repeats a part of them", f.operation)
			}
			seen[token] = true
		}
		event := page[0]
		page, printed = page[1:], printed+1
		return event, true, nil
	}
}

// loggedEvents returns the events of an event log. It skips lines that are no JSON objects, as the log may be the standard output of a
// command, and an unfinished last line.
func loggedEvents(in io.Reader, f historyEventFlags) nextEvent {
	r := bufio.NewReader(in)
	number, printed := 0, 0
	return func() ([]byte, bool, error) {
		for f.count == 0 || printed < f.count {
			line, err := r.ReadBytes('\n')
			ended := errors.Is(err, io.EOF)
			if err != nil && !ended {
				return nil, false, fmt.Errorf("read the event log: %w", err)
			}
			number++
			switch valid := json.Valid(line); {
			case len(line) == 0 || line[0] != '{' || !valid && ended:
			case !valid:
				return nil, false, fmt.Errorf("line %d of the event log is not valid JSON", number)
			case f.filter.URN == "" || isAbout(line, f.filter.URN):
				printed++
				return line, true, nil
			}
			if ended {
				break
			}
		}
		return nil, false, nil
	}
}

// isAbout reports whether an event is about the resource with a URN.
func isAbout(event []byte, urn string) bool {
	var kinds map[string]json.RawMessage
	if json.Unmarshal(event, &kinds) != nil {
		return false
	}
	for _, text := range kinds {
		var of struct {
			URN      string `json:"urn"`
			Resource string `json:"resourceUrn"`
			Metadata struct {
				URN string `json:"urn"`
			} `json:"metadata"`
		}
		if json.Unmarshal(text, &of) == nil && (of.URN == urn || of.Resource == urn || of.Metadata.URN == urn) {
			return true
		}
	}
	return false
}

// writeEvents prints events, or their summary.
func writeEvents(ctx context.Context, open *session.Opener, f historyEventFlags, next nextEvent) error {
	t := open.Terminal
	switch {
	case f.summary:
		var s display.EventSummary
		if err := display.ReadEvents(ctx, next, s.Observe); err != nil {
			return err
		}
		if f.json {
			return s.WriteJSON(t.Data())
		}
		return s.WriteText(t.Out)
	case f.json:
		return writeEventList(t.Data(), next)
	}
	return display.WriteEvents(t.Out, next)
}

// writeEventList writes events as a list in JSON, as they come.
func writeEventList(out io.Writer, next nextEvent) error {
	out = printable.JSONWriter{Out: out}
	lead, end := "[", "[]\n"
	for {
		event, more, err := next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		var b bytes.Buffer
		b.WriteString(lead + "\n  ")
		if err := json.Indent(&b, bytes.TrimSpace(event), "  ", "  "); err != nil {
			return fmt.Errorf("an event cannot be read: %w", err)
		}
		if _, err := out.Write(b.Bytes()); err != nil {
			return err
		}
		lead, end = ",", "\n]\n"
	}
	_, err := io.WriteString(out, end)
	return err
}
