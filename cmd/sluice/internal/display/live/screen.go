package live

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
)

// Options are what a screen needs besides its report.
type Options struct {
	In    io.Reader
	Out   io.Writer
	Color bool
	// Interrupt is called for each Ctrl-C. A terminal that is drawn on does not make signals of keys.
	Interrupt func()
	// Hold passes what the command says on its error stream to a function, until release is called.
	Hold func(func(text string)) (release func())
	// Delay is how long an operation has to take before the screen is opened.
	Delay time.Duration
}

// program returns the options of a Bubble Tea program. Signals are handled elsewhere.
func (o Options) program() []tea.ProgramOption {
	options := []tea.ProgramOption{tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !o.Color {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	return options
}

// runUntil runs a program until it ends or ctx is done, and gives the terminal back.
func runUntil(ctx context.Context, m tea.Model, o Options) error {
	p := tea.NewProgram(m, o.program()...)
	ctx, done := context.WithCancel(ctx)
	var wg conc.WaitGroup
	wg.Go(func() {
		<-ctx.Done()
		p.Quit()
	})
	_, err := p.Run()
	done()
	wg.Wait()
	return err
}

// Screen shows a report while it grows. It is safe for concurrent use.
type Screen struct {
	*display.Report
	options Options
	stop    context.CancelFunc
	release func() // what was held back on the error stream
	wg      conc.WaitGroup
	once    sync.Once
}

// Open shows a report on a screen until [Screen.Close] is called.
func Open(report *display.Report, o Options) *Screen {
	ctx, stop := context.WithCancel(context.Background())
	s := &Screen{Report: report, options: o, stop: stop}
	report.Hold()
	s.release = o.Hold(func(text string) { report.Note(strings.TrimSuffix(text, "\n")) })
	s.wg.Go(func() { s.run(ctx) })
	return s
}

func (s *Screen) run(ctx context.Context) {
	delay := time.NewTimer(s.options.Delay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-ctx.Done():
		return
	}
	// If the terminal cannot be drawn on, nothing is shown; the report is written in any case.
	_ = runUntil(ctx, newModel(s.Report, s.options.Interrupt), s.options)
}

// Browse shows a report that is closed until the user has seen enough of it.
func Browse(ctx context.Context, report *display.Report, o Options) error {
	m := newModel(report, nil)
	if err := runUntil(ctx, m, o); err != nil {
		return err
	}
	if m.broken {
		return ErrInterrupted
	}
	return nil
}

// Tick does nothing: the screen shows what takes long.
func (*Screen) Tick() {}

// Leave is [Screen.Close] for the end of the process in the middle of the operation.
func (s *Screen) Leave() { s.Close() }

// Close gives the terminal back, and writes the report. Further calls do nothing.
func (s *Screen) Close() {
	s.once.Do(func() {
		s.stop()
		s.wg.Wait()
		s.release()
		s.Report.Close()
	})
}
