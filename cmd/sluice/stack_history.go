package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
)

func newStackHistoryCommand(open *session.Opener, stack *string) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:     "history",
		Aliases: []string{"hist"},
		Short:   "Print the history of a stack, the newest operation first",
		Args:    exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showHistory(cmd.Context(), open, *stack, f)
		},
	}
	flags.AddJSON(cmd.Flags(), &f.json, "write JSON")
	cmd.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "decrypt the secret settings")
	cmd.Flags().BoolVar(&f.fullDates, "full-dates", false, "print dates and times instead of how long ago")
	cmd.Flags().IntVar(&f.pageSize, "page-size", 10, "how many operations are a page; 0 is all")
	cmd.Flags().IntVar(&f.page, "page", 1, "which page to print")
	cmd.AddCommand(newStackHistoryEventsCommand(open, stack))
	return cmd
}

type historyFlags struct {
	json, showSecrets, fullDates bool
	page, pageSize               int
}

// historyEntry is an operation in JSON (state.md 7.9).
type historyEntry struct {
	Version         int                       `json:"version"`
	Kind            string                    `json:"kind"`
	StartTime       string                    `json:"startTime"`
	Message         string                    `json:"message"`
	Environment     map[string]string         `json:"environment"`
	Config          map[string]settings.Entry `json:"config"`
	Result          string                    `json:"result"`
	EndTime         string                    `json:"endTime"`
	ResourceChanges map[string]int            `json:"resourceChanges,omitempty"`
}

func showHistory(ctx context.Context, open *session.Opener, name string, f historyFlags) error {
	if f.page < 1 || f.pageSize < 0 {
		return exit.Usagef("--page must be at least 1, and --page-size must not be negative")
	}
	s, err := open.AnyStack(ctx, name, "")
	if err != nil {
		return err
	}
	updates, warnings, err := s.State.History(ctx)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		open.Terminal.Warn("%s", w)
	}
	numberAll(updates)
	if len(updates) == 0 && !f.json {
		_, err := fmt.Fprintln(open.Terminal.Out, "Stack has never been updated")
		return err
	}
	if f.pageSize > 0 {
		from := min((f.page-1)*f.pageSize, len(updates))
		updates = updates[from:min(from+f.pageSize, len(updates))]
	}
	if len(updates) == 0 && !f.json {
		_, err := fmt.Fprintf(open.Terminal.Out, "No stack updates found on page '%d'\n", f.page)
		return err
	}
	if !f.json {
		return writeHistoryText(open.Terminal.Out, updates, f.fullDates)
	}
	var dec workspace.Decrypter
	if f.showSecrets {
		if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
			return err
		}
		if err := workspace.OpenAhead(ctx, dec, recordedValues(s, updates)); err != nil {
			return err
		}
		session.NoteDecryption(ctx, s, "", "pulumi stack history")
	}
	entries := make([]historyEntry, 0, len(updates))
	for _, u := range updates {
		e := historyEntry{
			Version: u.Number, Kind: u.Kind, StartTime: format.Time(u.Started()), Message: u.Message, Environment: u.Environment,
			Config: recordedConfig(ctx, s, u, dec), Result: u.Result, EndTime: format.Time(u.Ended()), ResourceChanges: u.ResourceChanges,
		}
		entries = append(entries, e)
	}
	return format.JSON(open.Terminal.Data(), entries)
}

// recordedValues yields the settings of all operations.
func recordedValues(s *session.Stack, updates []backend.Update) iter.Seq[workspace.Value] {
	return func(yield func(workspace.Value) bool) {
		for _, u := range updates {
			values, _ := workspace.RecordedSettings(s.Session.Project.Name, u.Config) // recordedConfig reports the error
			for _, v := range values {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// recordedConfig returns the configuration of an operation. It marks secrets that can no longer be decrypted
// (state.md 5.7).
func recordedConfig(ctx context.Context, s *session.Stack, u backend.Update, dec workspace.Decrypter) map[string]settings.Entry {
	out := map[string]settings.Entry{}
	values, err := workspace.RecordedSettings(s.Session.Project.Name, u.Config)
	if err != nil {
		s.Session.Terminal.Warn("the configuration of the operation of %s cannot be read: %v", u.Started().Format(time.DateTime), err)
		return out
	}
	for k, v := range values {
		e := settings.Entry{Secret: workspace.HasSecrets(v)}
		if e.Secret && dec != nil {
			if v, err = workspace.Decrypted(ctx, v, dec); err != nil {
				v = "ERROR_UNABLE_TO_DECRYPT"
			}
		}
		if !e.Secret || dec != nil {
			text := workspace.Text(v)
			e.Value = &text
			if workspace.IsObject(v) {
				e.ObjectValue = v
			}
		}
		out[k.String()] = e
	}
	return out
}

// numberAll gives the operations of a whole history, the newest first, their numbers if the backend has given none.
func numberAll(updates []backend.Update) {
	for i := range updates {
		updates[i].Number = cmp.Or(updates[i].Number, len(updates)-i)
	}
}

// writeHistoryText prints operations for people.
func writeHistoryText(w io.Writer, updates []backend.Update, fullDates bool) error {
	var b strings.Builder
	for i, u := range updates {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Version: %d\nUpdateKind: %s\nStatus: %s", u.Number, u.Kind, u.Result)
		if u.Message != "" {
			fmt.Fprintf(&b, "\nMessage: %s", format.Printable(u.Message))
		}
		if len(u.ResourceChanges) > 0 {
			b.WriteString("\nResource changes:")
			for _, op := range slices.Sorted(maps.Keys(u.ResourceChanges)) {
				fmt.Fprintf(&b, " %s %d", op, u.ResourceChanges[op])
			}
		}
		when := format.Ago(time.Since(u.Started()))
		if fullDates {
			when = u.Started().Format(time.DateTime + " UTC")
		}
		fmt.Fprintf(&b, "\nUpdated %s took %s\n", when, u.Ended().Sub(u.Started()))
	}
	_, err := fmt.Fprint(w, b.String())
	return err
}
