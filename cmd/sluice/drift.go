package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/private"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// driftFlags are the flags of drift besides those of operations.
type driftFlags struct {
	flags.Operation
	json      bool
	save      string
	since     time.Duration
	noProgram bool
}

func newDriftCommand(open *session.Opener) *cobra.Command {
	f := &driftFlags{}
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "Say what is not as it is recorded, and change nothing",
		Long: "Read the resources of the stack from their providers, and say which are not as they are recorded and what `up --refresh`\n" +
			"would do about them. Nothing is changed, and nothing is recorded but when each resource was read.\n\n" +
			"With --since 12h, resources that this command has read within the last twelve hours are not read again.\n\n" +
			"The exit status is 0 if everything is as it is recorded, and 10 if something is not.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.Confirmation.PreviewOnly = true
			return drift(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	f.Stack.Add(p)
	f.Settings.Add(p)
	f.Run.Add(p)
	f.History.Add(p)
	f.Targeting.Add(p)
	flags.AddJSON(p, &f.json, "write JSON")
	p.StringVar(&f.Display.EventLog, "event-log", "", "write the events of the reading to this file, one JSON object on each line")
	p.StringVar(&f.save, "save", "", "write what --json prints to this `file`, too")
	p.DurationVar(&f.since, "since", 0, "read only what was not read within this time: 12h")
	excludes(cmd, "since", "target")
	p.BoolVar(&f.noProgram, "no-program", false, "do not run the program, so that it is not said what `up --refresh` would do")
	return cmd
}

// driftDocument is what drift finds.
type driftDocument struct {
	Stack   string `json:"stack"`
	Project string `json:"project,omitempty"`
	// Read is how many resources were read, Moved how many of them are not as they are recorded, and Skipped how many were not
	// read because they had been read since.
	Read    int `json:"read"`
	Moved   int `json:"moved"`
	Skipped int `json:"skipped,omitempty"`
	// Unplanned is why it is not known what an update would do.
	Unplanned string       `json:"unplanned,omitempty"`
	Resources []driftEntry `json:"resources"`
}

// driftEntry is a resource that is not as it is recorded.
type driftEntry struct {
	URN     urn.URN       `json:"urn"`
	Type    urn.Type      `json:"type"`
	Name    string        `json:"name"`
	Gone    bool          `json:"gone,omitempty"`
	Changes []driftChange `json:"changes,omitempty"`
	// Update is what `up --refresh` would do: "same" leaves it as it is now.
	Update stages.Op `json:"update,omitempty"`
	Why    string    `json:"why,omitempty"`
}

// driftChange is a property that is not as it is recorded. Secrets are the text "[secret]".
type driftChange struct {
	Path     string          `json:"path"`
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Actual   json.RawMessage `json:"actual,omitempty"`
}

func drift(ctx context.Context, open *session.Opener, f *driftFlags) error {
	s, err := operate.OpenAny(ctx, open, &f.Operation)
	if err != nil {
		return err
	}
	reads := readTimes(ctx, s)
	skipped := reads.within(f.since, time.Now())
	f.Targeting.Excludes = append(f.Targeting.Excludes, skipped...)
	began := time.Now()
	found, err := readAll(ctx, s, f)
	if err != nil {
		return err
	}
	doc, err := moved(ctx, s, found)
	if err != nil {
		return err
	}
	doc.Skipped = len(skipped)
	reads.keep(ctx, s, found, began)
	if doc.Moved > 0 && !f.noProgram {
		if err := planned(ctx, open, f, doc); err != nil {
			doc.Unplanned = err.Error()
		}
	}
	if err := writeDrift(s, f, doc); err != nil {
		return err
	}
	if doc.Moved > 0 {
		return &exit.Error{Status: exit.Drifted, Err: errors.New("resources are not as they are recorded"), Quiet: true}
	}
	return nil
}

// readAll reads what is recorded, and returns what a refresh would record.
func readAll(ctx context.Context, s *session.Stack, f *driftFlags) (*sluice.Result, error) {
	job, err := operate.Prepare(ctx, s, operate.Refresh(), &f.Operation)
	if err != nil {
		return nil, err
	}
	if job.Creates, err = pending.ForRefresh(ctx, s, &f.Creates, false); err != nil {
		return nil, err
	}
	return resultOf(ctx, job)
}

// resultOf runs a preview that shows nothing but errors, and returns its result.
func resultOf(ctx context.Context, job *operate.Job) (*sluice.Result, error) {
	var result *sluice.Result
	job.Terminal = job.Terminal.Muted()
	job.AfterPreview = func(_ context.Context, r *sluice.Result) error {
		result = r
		return nil
	}
	err := operate.Run(ctx, job)
	return result, err
}

// isRead reports whether a step of a refresh stands for an object that was read.
func isRead(step stages.StepInfo) bool {
	r := step.Old
	return r != nil && r.Custom && !r.External && !step.Internal && !step.Type.IsProvider()
}

// moved returns what is not as it is recorded.
func moved(ctx context.Context, s *session.Stack, found *sluice.Result) (*driftDocument, error) {
	doc := &driftDocument{Stack: s.Ref.Name, Project: s.Ref.Project, Resources: []driftEntry{}}
	for _, step := range found.Steps {
		if !isRead(step) {
			continue
		}
		doc.Read++
		if step.Op == stages.OpSame || step.Op == stages.OpRefresh {
			continue
		}
		e := driftEntry{URN: step.URN, Type: step.URN.Type(), Name: step.URN.Name(), Gone: step.Op == stages.OpDelete}
		if !e.Gone {
			var err error
			if e.Changes, err = changesOf(ctx, step); err != nil {
				return nil, err
			}
		}
		doc.Resources = append(doc.Resources, e)
	}
	slices.SortFunc(doc.Resources, func(a, b driftEntry) int { return strings.Compare(string(a.URN), string(b.URN)) })
	doc.Moved = len(doc.Resources)
	return doc, nil
}

// changesOf returns the properties that are not as they are recorded.
func changesOf(ctx context.Context, step stages.StepInfo) ([]driftChange, error) {
	paths := slices.Sorted(maps.Keys(step.DetailedDiff))
	if len(paths) == 0 {
		paths = slices.Sorted(slices.Values(step.Diffs))
	}
	var out []driftChange
	for _, text := range paths {
		c := driftChange{Path: text}
		path, err := property.ParsePath(text)
		if err != nil {
			path = property.Path{property.Key(text)}
		}
		inputs := step.DetailedDiff[text].InputDiff
		if hasSecret(step.Old, path, inputs) || hasSecret(step.New, path, inputs) {
			c.Recorded, c.Actual = json.RawMessage(masked), json.RawMessage(masked)
			out = append(out, c)
			continue
		}
		if c.Recorded, err = valueAt(ctx, step.Old, path, inputs); err != nil {
			return nil, err
		}
		if c.Actual, err = valueAt(ctx, step.New, path, inputs); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// masked is what stands for both values of a property of which one is secret: providers do not say which of what they read is.
const masked = `"[secret]"`

// propertiesOf returns the properties that a path of a diff is about.
func propertiesOf(r *state.Resource, inputs bool) property.Map {
	switch {
	case r == nil:
		return property.Map{}
	case inputs:
		return r.Inputs
	}
	return r.Outputs
}

// hasSecret reports whether a property, what it is in, or something in it is secret.
func hasSecret(r *state.Resource, path property.Path, inputs bool) bool {
	in := propertiesOf(r, inputs)
	for i := range path {
		v, there := in.Lookup(path[:i+1])
		if there && (v.IsSecret() || i == len(path)-1 && v.HasSecrets()) {
			return true
		}
	}
	return false
}

// valueAt returns a property as JSON, nil if there is none.
func valueAt(ctx context.Context, r *state.Resource, path property.Path, inputs bool) (json.RawMessage, error) {
	v, there := propertiesOf(r, inputs).Lookup(path)
	if !there {
		return nil, nil
	}
	text, err := property.EncodeState(ctx, property.NewMap(map[string]property.Value{"value": v}), property.StateOptions{Secrets: property.SecretsMasked})
	if err != nil {
		return nil, err
	}
	var one struct{ Value json.RawMessage }
	err = json.Unmarshal(text, &one)
	return one.Value, err
}

// planned says of each resource that has moved what an update would do.
func planned(ctx context.Context, open *session.Opener, f *driftFlags, doc *driftDocument) error {
	o := &f.Operation       // what was read is known
	o.Display.EventLog = "" // it has what was read
	o.Targeting = flags.Targeting{}
	o.Program.MakeRefresh()
	for _, e := range doc.Resources {
		o.Targeting.Targets = append(o.Targeting.Targets, string(e.URN))
	}
	s, err := operate.Open(ctx, open, o)
	if err != nil {
		return err
	}
	job, err := operate.Prepare(ctx, s, operate.Update(), o)
	if err != nil {
		return err
	}
	if job.Creates, err = pending.ForUpdate(ctx, s, &o.Creates); err != nil {
		return err
	}
	result, err := resultOf(ctx, job)
	if err != nil {
		return err
	}
	entries := make(map[urn.URN]*driftEntry, len(doc.Resources))
	for i := range doc.Resources {
		entries[doc.Resources[i].URN] = &doc.Resources[i]
	}
	for _, step := range result.Steps {
		if e := entries[step.URN]; e != nil && (e.Update == "" || e.Update == stages.OpSame) {
			e.Update, e.Why = step.Op, strings.TrimSpace(step.Reason.String())
		}
	}
	return nil
}

// readNote remembers when each resource was read.
const readNote = "read"

// readTime is when each resource was read by drift.
type readTime map[urn.URN]time.Time

func readTimes(ctx context.Context, s *session.Stack) readTime {
	out := readTime{}
	text, err := s.Notes(ctx).Read(readNote)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return readTime{} // then everything is read
	}
	return out
}

// within returns what was read within a time, sorted.
func (r readTime) within(d time.Duration, now time.Time) []string {
	var out []string
	for u, at := range r {
		if d > 0 && now.Sub(at) < d {
			out = append(out, string(u))
		}
	}
	slices.Sort(out)
	return out
}

// keep remembers what was read. What has moved is read again the next time.
func (r readTime) keep(ctx context.Context, s *session.Stack, found *sluice.Result, at time.Time) {
	for _, step := range found.Steps {
		switch {
		case !isRead(step):
		case step.Op == stages.OpSame || step.Op == stages.OpRefresh:
			r[step.URN] = at.UTC()
		default:
			delete(r, step.URN)
		}
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = s.Notes(ctx).Write(readNote, text)
	}
	if err != nil {
		s.Terminal.Warn("the next `sluice drift --since` will read everything: %v", err)
	}
}

func writeDrift(s *session.Stack, f *driftFlags, doc *driftDocument) error {
	if f.save != "" {
		text, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		if err := private.Write(f.save, append(text, '\n')); err != nil {
			return fmt.Errorf("write what has moved: %w", err)
		}
	}
	out := s.Terminal.Out
	if f.json {
		return format.JSON(out, doc)
	}
	fmt.Fprintf(out, "Drift of %s: %s\n", doc.Stack, driftSummary(doc))
	for _, e := range doc.Resources {
		fmt.Fprintf(out, "\n  %s %s%s\n", e.Type, e.Name, goneText(e))
		for _, c := range e.Changes {
			fmt.Fprintf(out, "    %s: %s → %s\n", c.Path, shown(c.Recorded), shown(c.Actual))
		}
		if text := updateText(e); text != "" {
			fmt.Fprintf(out, "    %s\n", text)
		}
	}
	if doc.Unplanned != "" {
		s.Terminal.Warn("what `up --refresh` would do is not known: %s", doc.Unplanned)
	}
	return nil
}

func driftSummary(doc *driftDocument) string {
	text := fmt.Sprintf("%d of the %d resources that were read are not as they are recorded", doc.Moved, doc.Read)
	if doc.Moved == 0 {
		text = fmt.Sprintf("none; %d resources were read", doc.Read)
	}
	if doc.Skipped > 0 {
		text += fmt.Sprintf(", and %d were not, as they had been read since", doc.Skipped)
	}
	return text
}

func goneText(e driftEntry) string {
	if e.Gone {
		return " does not exist any more"
	}
	return ""
}

func shown(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	return string(v)
}

func updateText(e driftEntry) string {
	switch e.Update {
	case "":
		return ""
	case stages.OpSame:
		return "`up --refresh` would record it and leave it so"
	}
	return strings.TrimSpace(fmt.Sprintf("`up --refresh` would %s it %s", e.Update, e.Why))
}
