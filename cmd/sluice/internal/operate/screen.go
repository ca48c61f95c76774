package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/autolog"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/decisions"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/live"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/estimate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// screen shows one phase of an operation: to people, as JSON to programs, and in the event log.
type screen struct {
	masks    *redact.Set              // nil if secrets are shown
	log      view                     // nil in JSON modes
	document *display.PreviewDocument // nil unless preview --json
	summary  *display.SummaryLine     // nil unless --output json
	events   []*display.EventLog
	auto     *autolog.Log // nil in a preview, and if there is none
	warn     func(format string, args ...any)
	report   *report // nil without --report
	out, err io.Writer
	// data is the stream for programs, commands that for commands to a CI service.
	data, commands io.Writer
	named          func(text string) string // replaces the command name in a text by the name of this program
	page           *jobPage                 // nil if no CI service has one
	last           bool                     // no other phase follows if this one succeeds
	work           *estimate.Work           // nil in a preview
	options        display.Options

	stop func() // stops the ticker
	wg   conc.WaitGroup

	mu   sync.Mutex // guards the fields below
	said bool       // an error was shown
	// advised are the resources whose errors contained advice about the next step.
	advised map[urn.URN]bool
	// warned is true if interrupted operations have been listed, on this screen or on that of the preceding preview.
	warned bool
}

// view shows a phase to people.
type view interface {
	Observe(stages.Event)
	Tick() // called every [tick]
	Note(text, onScreen string)
	Running() []string
	Leave() // when the process ends during the phase
	Explain(display.Ending)
	Close()
}

// tick is the interval between calls of a view's Tick.
const tick = 100 * time.Millisecond

// openScreen opens the screen of a phase.
func openScreen(ctx context.Context, o *operation, run backend.Run, preview bool, expected int) (*screen, error) {
	j, f := o.job, o.job.Flags
	s := &screen{
		out: j.Terminal.Styled(), data: j.Terminal.Data(), commands: j.Terminal.Commands(), err: j.Terminal.Err, named: j.Terminal.Named, masks: j.masks(), warned: o.warnedOfPending, advised: map[urn.URN]bool{},
	}
	options := displayOptions(j, preview, expected, o.forecast)
	if f.Display.EventLog != "" {
		l, err := display.OpenEventLog(ctx, f.Display.EventLog, options.Extended)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		s.events = append(s.events, l)
	}
	if !preview {
		s.auto, s.warn = openAutomaticLog(j), j.remarks.warn
	}
	if followed := run.Events(); followed != nil {
		s.events = append(s.events, display.StreamEvents(followed, options.Extended))
	}
	options.Departures = decisions.ReadDepartures(ctx, j.Stack)
	if preview {
		options.Unrealized = decisions.ReadUnrealized(ctx, j.Stack)
	} else {
		s.work = o.work
		options.Left, options.Planned = o.left, o.planned
	}
	s.options, s.report = options, newReport(o, preview, options)
	switch {
	case !f.Display.JSON():
		if !preview && !f.Confirmation.SkipPreview {
			fmt.Fprintln(s.out) // between the preview and the operation
		}
		s.page = newJobPage(o)
		s.last = !preview || f.Confirmation.PreviewOnly
		s.log = openView(o, options)
		s.startTicking()
	case f.Display.Summary():
		s.summary = display.NewSummaryLine(options)
	case f.Confirmation.PreviewOnly && !j.Terminal.EnvIsTrue("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") && j.Kind.NeedsProgram:
		s.document = display.NewPreviewDocument(options)
	default:
		s.events = append(s.events, display.StreamEvents(s.data, options.Extended))
	}
	return s, nil
}

// openAutomaticLog begins the log that `sluice logs` shows. Without it, the operation goes on.
func openAutomaticLog(j *Job) *autolog.Log {
	if on := j.Terminal.Env(autolog.EnvOn); on != "" && !terminal.IsTrue(on) {
		return nil
	}
	limits, err := autolog.LimitsOf(j.Terminal.Lookup)
	var l *autolog.Log
	if err == nil {
		l, err = autolog.Open(autolog.Options{
			Home: j.Stack.Session.Home, Stack: j.Stack.Ref.String(), Operation: j.Kind.History, Known: &j.known, Now: time.Now(), Limits: limits,
		})
	}
	if err != nil {
		j.remarks.warnOnce(j.Terminal.Named("there is no log for `sluice logs`, or old ones are left: %v"), err)
	}
	return l
}

// openDelay is how long a phase has to take before the whole screen is used.
const openDelay = 400 * time.Millisecond

func openView(o *operation, d display.Options) view {
	if o.service != nil {
		if d.Job = true; !o.job.Flags.Confirmation.PreviewOnly { // otherwise only the preview is written
			if frame := o.service.Frame(o.job.Terminal.Commands()); frame != nil {
				d.Frame = frame
			}
		}
	} else if o.job.Terminal.OutTerminal {
		d.Width = o.job.Terminal.Width
	}
	if !o.screens() {
		d.Legend, d.Hidden, o.explained = !o.explained, true, true
	}
	form := o.job.Flags.Display.Form
	if form == flags.Unset && o.job.Terminal.AsPulumi && !o.job.Terminal.OutTerminal && o.service == nil {
		form = flags.Events // scripts read them
	}
	if form == flags.Events {
		d.Events = true
		return display.NewLog(d)
	}
	// A preview has no natural order, so it is always a tree.
	if !d.IsPreview && (form == flags.Log || form == flags.Unset && !o.job.Terminal.Drawable()) {
		return display.NewLog(d)
	}
	report := display.NewReport(d)
	if d.IsPreview {
		o.previewed = report
	}
	if !o.screens() || d.SuppressProgress {
		return report
	}
	how := live.Options{Terminal: o.job.Terminal, Interrupt: o.guard.Press, Delay: openDelay}
	if !d.IsPreview {
		how.Pauser = &o.interrupts
	}
	return live.Open(report, how)
}

func displayOptions(j *Job, preview bool, expected int, forecast *display.Forecast) display.Options {
	title, noun := j.Kind.Doing, j.Kind.Noun
	if preview {
		title, noun = j.Kind.Previewing, "preview"
	}
	t := j.Terminal
	options := j.Flags.Display.Options()
	options.Title, options.IsPreview, options.Expected = fmt.Sprintf("%s (%s):", title, j.Stack.Name()), preview, expected
	options.Extended = j.Flags.Display.Extended(t.AsPulumi)
	options.Noun, options.IsRefresh = noun, j.Kind.History == Refresh().History
	options.Out, options.Color, options.Command = t.Styled(), t.Colored(), t.Command()
	options.Forecast, options.Runtime = forecast, j.Stack.Session.Project.Runtime
	if j.Kind.NeedsProgram {
		options.Beginning, options.WaitsFor = "starting the program", "the program or a provider"
	} else {
		options.Beginning, options.WaitsFor = "starting the providers", "a provider"
	}
	return options
}

func (s *screen) startTicking() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.wg.Go(func() {
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.log.Tick()
			case <-ctx.Done():
				return
			}
		}
	})
}

func (s *screen) observe(e stages.Event) {
	s.mu.Lock()
	if d, is := e.(stages.Diagnostic); is && d.Severity == stages.Error && slices.ContainsFunc(d.Advice, isNextStep) {
		s.advised[d.URN] = true
	}
	e = s.advise(e)
	again := false
	switch e := e.(type) {
	case stages.Diagnostic:
		s.said = s.said || e.Severity == stages.Error
		again = s.warned && e.Pending != nil
		s.warned = s.warned || e.Pending != nil
	case stages.StepFailed:
		s.said = true
	case stages.PolicyViolation:
		s.said = s.said || e.Level == stages.Mandatory
	}
	if s.page != nil && !again {
		s.page.observe(e)
	}
	s.mu.Unlock()
	if s.work != nil {
		s.work.Observe(e)
	}
	if s.log != nil && !again {
		s.log.Observe(e)
	}
	if s.document != nil {
		s.document.Observe(e)
	}
	if s.summary != nil {
		s.summary.Observe(e)
	}
	if d, ok := e.(stages.Diagnostic); ok && d.Debugger != nil && (s.document != nil || s.summary != nil) {
		fmt.Fprintln(s.err, s.masks.Mask(d.Message)) // now, because the output for programs is written only after the wait
	}
	for _, l := range s.events {
		l.Observe(e)
	}
	if s.auto != nil {
		s.auto.Observe(e)
	}
	if s.report != nil {
		s.report.builder.Observe(e)
	}
}

// isNextStep reports whether advice says how to go on, and not only how to correct the cause.
func isNextStep(a advice.Advice) bool {
	return a.Action != advice.Unprotect && a.Action != advice.RemoveProtection
}

// advise returns an event with the words for its advice.
func (s *screen) advise(e stages.Event) stages.Event {
	e = advise.Event(e)
	if d, is := e.(stages.Diagnostic); is {
		if s.options.Command == "sluice" {
			d.Message = advise.Translated(d.Message)
		}
		d.Message = s.named(d.Message)
		return d
	}
	return e
}

// close shows the end of the phase. It writes an error that has not been reported as a message for programs. next says how the operation
// goes on although the phase has failed; "" if it does not.
func (s *screen) close(ctx context.Context, r *sluice.Result, log *why.Log, runErr error, next string) error {
	if runErr != nil && !s.saidWhy() {
		said := stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, Message: s.masks.Mask(s.named(advise.Text(runErr)))}}
		for _, l := range s.events {
			l.Observe(said)
		}
		if s.auto != nil {
			s.auto.Observe(said)
		}
		if s.summary != nil {
			s.summary.Observe(said)
		}
		if s.report != nil {
			s.report.builder.Observe(said)
		}
	}
	if s.stop != nil {
		s.stop()
		s.wg.Wait()
	}
	var errs []error
	end := ending(log, runErr, s.advised, s.named, next)
	if s.options.IsPreview && r != nil {
		end.Planned = r.Steps()
	}
	if s.log != nil {
		s.closeLog(ctx, end)
		if log != nil && runErr == nil {
			errs = append(errs, display.WriteRenames(s.out, s.options, log.Renames()))
		}
	}
	if s.document != nil {
		errs = append(errs, s.document.Write(s.data, r.Steps(), log))
	}
	if s.summary != nil {
		errs = append(errs, s.summary.Write(s.data))
	}
	for _, l := range s.events {
		errs = append(errs, l.Close())
	}
	if s.auto != nil {
		if err := s.auto.Close(); err != nil { // the operation does not depend on it
			s.warn(s.named("the log for `sluice logs` is incomplete: %v"), err)
		}
	}
	if s.report != nil {
		errs = append(errs, s.report.close(ctx, end))
	}
	return errors.Join(errs...)
}

// closeLog shows the end of the phase to people.
func (s *screen) closeLog(ctx context.Context, e display.Ending) {
	if s.page != nil {
		s.page.annotate(s.commands, e)
	}
	s.log.Explain(e)
	s.log.Close()
	if s.page == nil || s.report == nil || !s.last && e.Failed == "" { // the next phase has more details
		return
	}
	if err := s.report.summarize(ctx, s.page.service, e); err != nil {
		fmt.Fprintf(s.err, "warning: %v\n", err)
	}
}

func (s *screen) saidWhy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}
