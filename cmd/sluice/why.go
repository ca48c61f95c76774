package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

type whyFlags struct {
	stack           string
	preview, update bool
	json, urns      bool
}

func newWhyCommand(open *session.Opener) *cobra.Command {
	f := &whyFlags{}
	cmd := &cobra.Command{
		Use:   "why [URN|NAME]",
		Short: "Explain what the last preview or update decided about a resource",
		Long: "Explain what the last preview, update, destroy or refresh of a stack decided about a resource. The explanation is a\n" +
			"chain of reasons across resources, from the decision back to its cause: an edit of the program, an option, or a change\n" +
			"made outside of sluice. The command also explains why a resource does not change, or why something was not done.\n\n" +
			"Without a resource, `why` lists the root causes: the edits and other events that led to all decisions, with their\n" +
			"direct effects and what follows from these. The most dangerous are first.\n\n" +
			"Name a resource by its URN, by a former URN, by its name, or by its type and name as in `aws:s3/bucket:Bucket::logs`.\n" +
			"The decisions are stored in Pulumi's home directory, readable only by you and without secrets. docs/why.md describes\n" +
			"the output of --json.",
		Example: "  sluice why\n  sluice why web\n  sluice why web --preview --json",
		Args:    rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explain(cmd.Context(), open, args, f)
		},
	}
	p := cmd.Flags()
	flags.AddStack(p, &f.stack)
	p.BoolVar(&f.preview, "preview", false, "explain the last preview")
	p.BoolVar(&f.update, "update", false, "explain the last operation that was not a preview")
	flags.AddJSON(p, &f.json, "write JSON to the standard output")
	p.BoolVar(&f.urns, "urns", false, "show URNs instead of types and names")
	return cmd
}

// explain runs the command why. Without a name it explains the whole operation.
func explain(ctx context.Context, open *session.Opener, names []string, f *whyFlags) error {
	if f.preview && f.update {
		return exit.Usagef("--preview and --update cannot be used together")
	}
	s, err := open.AnyStack(ctx, f.stack, "")
	if err != nil {
		return err
	}
	log, err := readDecisions(ctx, s, f)
	if err != nil {
		return err
	}
	var e *why.Explanation
	for _, name := range names {
		u, err := pickDecision(s, log, name)
		if err != nil {
			return err
		}
		e = log.Why(u)
	}
	changed := changedSince(ctx, s.Stamp(ctx), s.State, log)
	switch {
	case f.json && e == nil:
		return format.JSON(open.Terminal.Data(), rootCausesJSON{Version: 1, Operation: log.About, StateChanged: changed, RootCauses: log.RootCauses()})
	case f.json:
		return format.JSON(open.Terminal.Data(), explanationJSON{Version: 1, Operation: log.About, StateChanged: changed, Explanation: *e})
	}
	fmt.Fprintln(open.Terminal.Out, headline(s, log))
	if changed != nil {
		fmt.Fprintln(open.Terminal.Out, changed.text())
	}
	fmt.Fprintln(open.Terminal.Out)
	options := display.WhyOptions{Out: open.Terminal.Styled(), Color: open.Terminal.Colored(), URNs: f.urns, Runtime: s.Session.Project.Runtime, Refresh: log.Operation == "refresh", Preview: log.Preview}
	if open.Terminal.OutTerminal {
		options.Width = open.Terminal.Width()
	}
	if e == nil {
		return display.WriteRootCauses(options, log.Log)
	}
	return display.WriteExplanation(options, e)
}

// rootCausesJSON is the output of --json without a resource (docs/why.md).
type rootCausesJSON struct {
	Version      int             `json:"version"`
	Operation    why.About       `json:"operation"`
	StateChanged *stateChange    `json:"stateChanged,omitempty"`
	RootCauses   []why.RootCause `json:"rootCauses"`
}

// explanationJSON is the output of --json (docs/why.md).
type explanationJSON struct {
	Version      int          `json:"version"`
	Operation    why.About    `json:"operation"`
	StateChanged *stateChange `json:"stateChanged,omitempty"`
	why.Explanation
}

// readDecisions reads the decisions that the flags select.
func readDecisions(ctx context.Context, s *session.Stack, f *whyFlags) (*decisions.Kept, error) {
	var log *decisions.Kept
	var err error
	missing := "nothing has been decided about %s yet on this machine; run `sluice preview` or `sluice up` first"
	switch {
	case f.preview:
		missing = "no preview of %s has been made on this machine; run `sluice preview` first"
		log, err = decisions.Read(ctx, s, decisions.Preview)
	case f.update:
		missing = "no operation on %s has been made on this machine; run `sluice up` first, or ask about a preview with --preview"
		log, err = decisions.Read(ctx, s, decisions.Operation)
	default:
		log, err = decisions.Latest(ctx, s)
	}
	if err == nil && log == nil {
		err = fmt.Errorf(missing, s.Name())
	}
	return log, err
}

// pickDecision finds the one resource that a text names.
func pickDecision(s *session.Stack, log *decisions.Kept, text string) (urn.URN, error) {
	found := log.Find(text)
	if len(found) == 1 {
		return found[0], nil
	}
	var b strings.Builder
	list := found
	if len(found) > 1 {
		fmt.Fprintf(&b, "%q names %d resources; give the URN of one:", text, len(found))
	} else {
		fmt.Fprintf(&b, "%s has no decision about %q", operationText(s, log), text)
		if log.Result != stages.Succeeded {
			b.WriteString("; it did not come to its end")
		}
		if list = log.Nearest(text); len(list) > 0 {
			b.WriteString("; there are:")
		}
	}
	const most = 20
	for i, u := range list {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(list)-most)
			break
		}
		b.WriteString("\n  " + format.ShellQuote(format.Printable(string(u))))
	}
	return "", fmt.Errorf("%s", b.String())
}

func operationText(s *session.Stack, log *decisions.Kept) string {
	if log.Preview {
		return fmt.Sprintf("the last preview of %s (%s)", s.Name(), log.Operation)
	}
	return fmt.Sprintf("the last %s of %s", log.Operation, s.Name())
}

func headline(s *session.Stack, log *decisions.Kept) string {
	text := operationText(s, log)
	text = strings.ToUpper(text[:1]) + text[1:]
	return fmt.Sprintf("%s, %s (%s), %s:", text, log.Ended.UTC().Format(time.DateTime+" UTC"), format.Ago(time.Since(log.Ended)), resultText(log.Result))
}

// stateChange reports that the state has changed since the explained operation.
type stateChange struct {
	// Kind and Time describe the last operation in the history that began after the explained one. They are nil and
	// empty if something else, such as a state command, has changed the state.
	Kind string     `json:"kind,omitempty"`
	Time *time.Time `json:"time,omitempty"`
}

func (s *stateChange) text() string {
	if s.Time == nil {
		return "The state has been changed since then."
	}
	return fmt.Sprintf("The state has been changed since then; the last operation was %s at %s.", s.Kind, s.Time.Format(time.DateTime+" UTC"))
}

// changedSince returns nil if, as far as is known, the state has not changed since the explained operation. now is the
// stamp of the state.
func changedSince(ctx context.Context, now string, history backend.History, log *decisions.Kept) *stateChange {
	if now == log.Stamp {
		return nil
	}
	out := &stateChange{}
	updates, _, err := history.History(ctx) // the change is reported even without the history
	if err == nil && len(updates) > 0 && updates[0].StartTime >= log.Ended.Unix() {
		at := time.Unix(updates[0].StartTime, 0).UTC()
		out.Kind, out.Time = updates[0].Kind, &at
	}
	return out
}

// resultText returns the result of an operation for people.
func resultText(r stages.RunResult) string {
	if r == stages.Canceled {
		return "cancelled"
	}
	return string(r)
}
