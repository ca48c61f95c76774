package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

type whyFlags struct {
	stack           string
	preview, update bool
	json, urns      bool
}

func newWhyCommand(c *cli) *cobra.Command {
	f := &whyFlags{}
	cmd := &cobra.Command{
		Use:   "why URN|NAME",
		Short: "Explain what the last preview or update decided about a resource",
		Long: "Explain what the last preview, update, destroy or refresh of a stack decided about a resource: the chain of\n" +
			"reasons from the decision back to the edit of the program, the option or the change outside that it comes from,\n" +
			"across resources. Also why something does not change, and why something was not done.\n\n" +
			"A resource is named by its URN, by one that it had before, by its name, or by its type and name as in\n" +
			"`aws:s3/bucket:Bucket::logs`. What was decided is kept in Pulumi's home directory, for you alone and without\n" +
			"secrets. --json writes the form that docs/why.md describes.",
		Example: "  sluice why web\n  sluice why web --preview --json",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.explain(cmd.Context(), args[0], f)
		},
	}
	p := cmd.Flags()
	p.StringVarP(&f.stack, "stack", "s", "", "the stack; the selected one if not given")
	p.BoolVar(&f.preview, "preview", false, "explain the last preview")
	p.BoolVar(&f.update, "update", false, "explain the last operation that was not a preview")
	p.BoolVarP(&f.json, "json", "j", false, "write JSON to the standard output")
	p.BoolVar(&f.urns, "urns", false, "show URNs instead of types and names")
	return cmd
}

// explain is the command.
func (c *cli) explain(ctx context.Context, name string, f *whyFlags) error {
	if f.preview && f.update {
		return exit.Usagef("--preview and --update exclude each other")
	}
	s, err := c.openStack(ctx, f.stack, "")
	if err != nil {
		return err
	}
	log, err := s.decisions(ctx, f)
	if err != nil {
		return err
	}
	u, err := s.pick(log, name)
	if err != nil {
		return err
	}
	changed := s.changedSince(ctx, log)
	e := log.Why(u)
	if f.json {
		return format.JSON(c.Out, explanationJSON{Version: 1, Operation: log.About, StateChanged: changed, Explanation: *e})
	}
	fmt.Fprintln(c.Out, s.headline(log))
	if changed != nil {
		fmt.Fprintln(c.Out, changed.text())
	}
	fmt.Fprintln(c.Out)
	width := 0
	if c.OutTerminal {
		width = c.Width()
	}
	return display.WriteExplanation(display.WhyOptions{
		Out: c.Out, Color: c.Colored(), Width: width, URNs: f.urns, Refresh: log.Operation == "refresh",
	}, e)
}

// explanationJSON is what --json writes (docs/why.md).
type explanationJSON struct {
	Version      int          `json:"version"`
	Operation    sluice.About `json:"operation"`
	StateChanged *stateChange `json:"stateChanged,omitempty"`
	sluice.Explanation
}

// decisions reads what the flags ask for.
func (s *session) decisions(ctx context.Context, f *whyFlags) (*kept, error) {
	var log *kept
	var err error
	missing := "nothing has been decided about %s yet on this machine; run `sluice preview` or `sluice up` first"
	switch {
	case f.preview:
		missing = "no preview of %s has been made on this machine; run `sluice preview` first"
		log, err = s.readDecisions(ctx, previewNote)
	case f.update:
		missing = "no operation on %s has been made on this machine; run `sluice up` first, or ask about a preview with --preview"
		log, err = s.readDecisions(ctx, operationNote)
	default:
		log, err = s.latestDecisions(ctx)
	}
	if err == nil && log == nil {
		err = fmt.Errorf(missing, s.name())
	}
	return log, err
}

// pick finds the one resource that a text names.
func (s *session) pick(log *kept, text string) (urn.URN, error) {
	found := log.Find(text)
	if len(found) == 1 {
		return found[0], nil
	}
	var b strings.Builder
	list := found
	if len(found) > 1 {
		fmt.Fprintf(&b, "%q names %d resources; give the URN of one:", text, len(found))
	} else {
		fmt.Fprintf(&b, "%s decided nothing about %q", s.operationText(log), text)
		if log.Result != sluice.Succeeded {
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

func (s *session) operationText(log *kept) string {
	if log.Preview {
		return fmt.Sprintf("the last preview of %s (%s)", s.name(), log.Operation)
	}
	return fmt.Sprintf("the last %s of %s", log.Operation, s.name())
}

func (s *session) headline(log *kept) string {
	text := s.operationText(log)
	text = strings.ToUpper(text[:1]) + text[1:]
	return fmt.Sprintf("%s, %s (%s), %s:", text, log.Ended.UTC().Format(time.DateTime+" UTC"), format.Ago(time.Since(log.Ended)), log.Result)
}

// stateChange says that the state is no longer what the explained operation left.
type stateChange struct {
	// Kind and Time are those of the last operation that the history knows of and that began after the explained one; nil
	// and empty when something else, such as a state command, has changed the state.
	Kind string     `json:"kind,omitempty"`
	Time *time.Time `json:"time,omitempty"`
}

func (s *stateChange) text() string {
	if s.Time == nil {
		return "The state has been changed since then."
	}
	return fmt.Sprintf("The state has been changed since then; the last operation was %s at %s.", s.Kind, s.Time.Format(time.DateTime+" UTC"))
}

// changedSince returns nil when the state is as the explained operation left it, as far as can be told.
func (s *session) changedSince(ctx context.Context, log *kept) *stateChange {
	if s.stamp(ctx) == log.stamp {
		return nil
	}
	out := &stateChange{}
	updates, _, err := s.stack.History(ctx) // without it the change is told all the same
	if err == nil && len(updates) > 0 && updates[0].StartTime >= log.Ended.Unix() {
		at := time.Unix(updates[0].StartTime, 0).UTC()
		out.Kind, out.Time = updates[0].Kind, &at
	}
	return out
}
