package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// phaseScreen shows one phase of an operation to everybody who looks: people, programs that read JSON, the event log.
type phaseScreen struct {
	scrub    func(sluice.Event) sluice.Event
	log      *display.Log             // nil in JSON modes
	document *display.PreviewDocument // nil unless preview --json
	events   []*display.EventLog
	out      io.Writer

	stop func() // ends the ticking
	wg   conc.WaitGroup

	mu   sync.Mutex // guards said and warned
	said bool       // an error was shown
	// warned is true once interrupted operations have been listed, on this screen or on that of the preview before.
	warned bool
}

// tick is how often the live line is redrawn.
const tick = 100 * time.Millisecond

func (o *operation) openScreen(preview bool, expected int) (*phaseScreen, error) {
	s := &phaseScreen{out: o.cli.Out, scrub: display.Scrub(o.secretTexts()), warned: o.warnedOfPending}
	if o.flags.Display.EventLog != "" {
		l, err := display.OpenEventLog(o.flags.Display.EventLog)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		s.events = append(s.events, l)
	}
	options := o.displayOptions(preview, expected)
	switch {
	case !o.flags.Display.JSON:
		if !preview && !o.flags.Confirmation.SkipPreview {
			fmt.Fprintln(o.cli.Out) // between the preview and the operation
		}
		s.log = display.NewLog(options)
		s.startTicking()
	case o.flags.Confirmation.PreviewOnly && !o.cli.EnvIsTrue("PULUMI_ENABLE_STREAMING_JSON_PREVIEW") && o.kind.needsProgram:
		s.document = display.NewPreviewDocument(options)
	default:
		s.events = append(s.events, display.StreamEvents(o.cli.Out))
	}
	return s, nil
}

func (o *operation) displayOptions(preview bool, expected int) display.Options {
	title := o.kind.doing
	if preview {
		title = o.kind.previewing
	}
	options := o.flags.Display.Options()
	options.Title, options.IsPreview, options.Expected = fmt.Sprintf("%s (%s):", title, o.name()), preview, expected
	options.Out, options.Color, options.Width = o.cli.Out, o.cli.Colored(), o.cli.Width
	if o.kind.needsProgram {
		options.Beginning, options.WaitsFor = "starting the program", "the program or a provider"
	} else {
		options.Beginning, options.WaitsFor = "starting the providers", "a provider"
	}
	if o.cli.Live() {
		options.Live = o.cli.Out
	}
	return options
}

// secretTexts are the decrypted settings that must not appear in messages.
func (o *operation) secretTexts() []string {
	if o.flags.Display.ShowSecrets() {
		return nil
	}
	var out []string
	for _, v := range o.config {
		if v.Secret {
			out = append(out, v.Text)
		}
	}
	return out
}

func (s *phaseScreen) startTicking() {
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

func (s *phaseScreen) observe(e sluice.Event) {
	e = s.scrub(e)
	s.mu.Lock()
	again := false
	switch e := e.(type) {
	case sluice.Diagnostic:
		s.said = s.said || e.Severity == sluice.Error
		again = s.warned && e.Pending != nil
		s.warned = s.warned || e.Pending != nil
	case sluice.StepFailed:
		s.said = true
	case sluice.PolicyViolation:
		s.said = s.said || e.Level == sluice.Mandatory
	}
	s.mu.Unlock()
	if s.log != nil && !again {
		s.log.Observe(e)
	}
	if s.document != nil {
		s.document.Observe(e)
	}
	for _, l := range s.events {
		l.Observe(e)
	}
}

// close shows what comes at the end. An error that nobody has been told of goes into the event logs as a message.
func (s *phaseScreen) close(r *sluice.Result, runErr error) error {
	if runErr != nil && !s.saidWhy() {
		for _, l := range s.events {
			l.Observe(s.scrub(sluice.Diagnostic{LogMessage: sluice.LogMessage{Severity: sluice.Error, Message: runErr.Error()}}))
		}
	}
	if s.stop != nil {
		s.stop()
		s.wg.Wait()
	}
	if s.log != nil {
		s.log.Close()
	}
	var errs []error
	if s.document != nil {
		errs = append(errs, s.document.Write(s.out, r))
	}
	for _, l := range s.events {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

func (s *phaseScreen) saidWhy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}
