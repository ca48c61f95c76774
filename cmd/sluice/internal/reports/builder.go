package reports

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Options describe the subject of a report.
type Options struct {
	Operation Operation
	Limits    Limits
	// Runtime is that of the program, "" if it is unknown. It is the language of aliases.
	Runtime string
	// Failure are the display options for the text about a failure.
	Failure display.Options
	// Mask hides the secrets in a text from elsewhere; nil hides nothing.
	Mask func(string) string
}

// Builder collects the events of a preview or an operation. It is safe for concurrent use.
type Builder struct {
	o  Options
	mu sync.Mutex // guards the rest

	failure  *display.FailureText
	tree     *tree.Tree
	steps    map[urn.URN][]Step
	latest   map[urn.URN]stages.StepInfo // of each resource
	messages map[urn.URN][]Message
	unsaid   int // messages about no resource that were dropped
	policies []Violation
	waves    []Waves
	summary  *stages.Summary
	broken   bool            // there was an error of the operation as a whole
	stack    stages.StepInfo // the stack itself, for its outputs
	last     time.Time       // of the last event
	preview  bool
}

// NewBuilder begins a report.
func NewBuilder(o Options) *Builder {
	if o.Mask == nil {
		o.Mask = func(text string) string { return text }
	}
	return &Builder{
		o: o, failure: display.NewFailureText(o.Failure), tree: tree.New(0), steps: map[urn.URN][]Step{}, latest: map[urn.URN]stages.StepInfo{}, messages: map[urn.URN][]Message{},
		preview: o.Operation.Preview,
	}
}

// Observe processes an event.
func (b *Builder) Observe(e stages.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tree.Observe(e)
	if d, is := e.(stages.Diagnostic); is && d.URN == "" && d.IsFailure() && b.summary != nil {
		b.failure.Fail(d)
	} else {
		b.failure.Observe(e)
	}
	switch e := e.(type) {
	case stages.StepStarted:
		b.begin(e)
	case stages.StepDone:
		b.end(e.Step, e.At, false)
	case stages.StepFailed:
		b.end(e.Step, e.At, true)
	case stages.Diagnostic:
		b.broken = b.broken || e.URN == "" && e.IsFailure()
		b.diagnose(e)
	case stages.PolicyViolation:
		b.policies = append(b.policies, Violation{
			URN: e.URN, Pack: e.Policy.Pack, Version: e.Policy.Version, Policy: e.Policy.Name, Level: e.Level.String(), Severity: e.Severity,
			Text: b.text(e.Message),
		})
	case stages.DeletionWaves:
		b.waves = append(b.waves, Waves{e.Root, e.Waves})
	case stages.Summary:
		b.summary = &e
	}
}

// text returns the kept part of a message.
func (b *Builder) text(message string) string {
	message = strings.TrimSpace(display.Clean(b.o.Mask(message)))
	if most := b.o.Limits.Message; len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return message
}

func (b *Builder) begin(e stages.StepStarted) {
	if e.Step.Internal {
		return
	}
	b.last = e.At
	b.note(e.Step)
	if b.preview || !tree.IsCustom(&e.Step) || e.Step.Op == stages.OpSame || e.Step.Op == stages.OpReplace {
		return
	}
	u := b.tree.Resource(&e.Step)
	b.steps[u] = append(b.steps[u], Step{Operation: e.Step.Op, Began: e.At.UTC()})
}

func (b *Builder) end(s stages.StepInfo, at time.Time, failed bool) {
	if s.Internal {
		return
	}
	b.last = at
	b.note(s)
	steps := b.steps[b.tree.Resource(&s)]
	i := slices.IndexFunc(steps, func(t Step) bool {
		return t.Ended.IsZero() && (t.Operation == s.Op || t.Operation == stages.OpRefresh || s.Op == stages.OpReplace)
	})
	if i >= 0 {
		steps[i].Ended, steps[i].Failed = at.UTC(), failed
	}
}

// note keeps the most significant step of a resource.
func (b *Builder) note(s stages.StepInfo) {
	if s.URN.IsRootStack() && s.New != nil {
		b.stack = s
	}
	u := b.tree.Resource(&s)
	if was, known := b.latest[u]; known && s.New == nil && was.New != nil {
		return // an old copy is deleted
	}
	b.latest[u] = s
	if former := s.FormerURN(); former != "" && b.tree.Node(former) == nil {
		b.steps[u] = append(b.steps[former], b.steps[u]...) // of a refresh, or of a delete before its registration
		delete(b.steps, former)
		delete(b.latest, former)
	}
}

func (b *Builder) diagnose(d stages.Diagnostic) {
	if d.Ephemeral || d.Severity == stages.Debug || strings.TrimSpace(d.Message) == "" {
		return
	}
	list := b.messages[d.URN]
	if d.StreamID != 0 && len(list) > 0 && list[len(list)-1].Severity == d.Severity.String() && len(list[len(list)-1].Text) < b.o.Limits.Message {
		list[len(list)-1].Text = b.text(list[len(list)-1].Text + "\n" + d.Message)
		return
	}
	if len(list) >= b.o.Limits.Messages {
		if d.URN == "" {
			b.unsaid++
		}
		return
	}
	b.messages[d.URN] = append(list, Message{d.Severity.String(), b.text(d.Message)})
}

// Fail adds the reason of the failure, unless it has been reported.
func (b *Builder) Fail(message string) {
	b.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: message}})
}

// Document makes the report. The ending may be empty, for a running operation or one with events only. Document may be called during an operation.
func (b *Builder) Document(e display.Ending, now time.Time) *Document {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &Document{Version: Version, Operation: b.o.Operation, Resources: []Resource{}, Policies: b.policies, DeletionWaves: b.waves}
	d.Operation.Sluice = sluice.Version
	if d.Operation.Ended.IsZero() {
		d.Operation.Ended = now.UTC()
	}
	d.Operation.Result = b.result(e.Log)
	log := e.Log
	if log == nil {
		log = b.seen(d.Operation)
	}
	if b.summary != nil {
		d.Summary.MaybeCorrupt = b.summary.MaybeCorrupt
	}
	if e.Canceled = d.Operation.Result == Canceled; e.Canceled || d.Operation.Result == Failed {
		e.Failed = cmp.Or(e.Failed, d.Operation.Kind)
		d.Failure = b.text(b.failure.Text(e))
	}
	d.Messages = b.said(d.Failure != "")
	w := writer{seen: b, decided: decisionsOf(log), counted: b.failure.Counts(e), d: d}
	w.resources()
	w.counts()
	w.outputs()
	w.causes(log)
	if !d.Operation.Preview {
		d.CriticalPath = criticalPath(d.Resources)
	}
	if b.unsaid > 0 {
		w.omitted().Messages = b.unsaid
	}
	return d
}

// said returns the messages about no resource. For a failed operation it leaves out the echoes of SDKs.
func (b *Builder) said(failed bool) []Message {
	all := slices.Clone(b.messages[""])
	if !failed {
		return all
	}
	for i, m := range all {
		if m.Severity == stages.Info.String() || m.Severity == stages.InfoErr.String() {
			all[i].Text = strings.TrimSpace(display.WithoutEchoes(m.Text))
		}
	}
	return slices.DeleteFunc(all, func(m Message) bool { return m.Text == "" })
}

// seen reconstructs the decisions from events, which do not show which settings have changed.
func (b *Builder) seen(o Operation) *why.Log {
	var decided []stages.Decided
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		for _, c := range inOrder(n) {
			if s := c.Step; s.URN != "" {
				if s.Old == nil && s.New != nil && s.Reason.Kind != stages.ReasonNew && s.Reason.Kind != stages.ReasonImport {
					s.Reason = stages.Reason{} // without a decision, there is no reason
				}
				one := stages.Decided{StepInfo: &s, Wanted: s.New}
				if c.Status == tree.Failed {
					one.Fate = stages.FateFailed
				}
				decided = append(decided, one)
			}
			walk(c)
		}
	}
	walk(b.tree.Top)
	return why.New(why.About{
		Operation: o.Kind, Preview: b.preview, Project: o.Project, Stack: o.Stack, Began: o.Began, Ended: o.Ended, Result: stages.RunResult(o.Result),
	}, decided, why.Known{IsSensitive: func(text string) bool { return b.o.Mask(text) != text }})
}

func (b *Builder) result(log *why.Log) Result {
	switch {
	case b.summary != nil && b.summary.Result != "":
		return Result(b.summary.Result)
	case log != nil && log.Result != "":
		return Result(log.Result)
	case b.broken:
		return Failed
	}
	return Interrupted
}

// learn derives from a step what the events of an operation lack. Pulumi's logs have no more.
func (b *Builder) learn(u urn.URN, planning bool) {
	o := &b.o.Operation
	b.preview = b.preview || planning
	if o.Stack == "" {
		o.Stack, o.Project = u.Stack(), u.Project()
	}
}

// decisionsOf returns the most significant decision about each resource.
func decisionsOf(log *why.Log) map[urn.URN]*why.Decision {
	out := map[urn.URN]*why.Decision{}
	if log == nil {
		return out
	}
	for i := range log.Decisions {
		d := &log.Decisions[i]
		if was, known := out[d.URN]; !known || tells(d) > tells(was) {
			out[d.URN] = d
		}
	}
	return out
}

// tells returns the rank of a decision among those about one resource.
func tells(d *why.Decision) int {
	switch d.Op {
	case stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		return 0 // about an old copy
	case stages.OpSame, stages.OpRemovePendingReplace, stages.OpRefresh:
		return 1
	}
	return 2
}

// inOrder returns the children of a node in the order of drawing: by types, then names.
func inOrder(n *tree.Node) []*tree.Node {
	out := slices.Collect(n.Children())
	compare := display.ByKindAndName()
	slices.SortFunc(out, func(a, b *tree.Node) int { return compare(a.URN, b.URN) })
	return out
}
