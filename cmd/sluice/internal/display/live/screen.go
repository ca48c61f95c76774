package live

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// Options configure a screen.
type Options struct {
	Terminal *terminal.Terminal
	// Interrupt is called for each Ctrl-C. A terminal in raw mode does not turn keys into signals.
	Interrupt func()
	// Pauser pauses the operation; nil if it cannot be paused.
	Pauser Pauser
	// Delay is how long an operation has to take before the screen is opened.
	Delay time.Duration
}

// Pauser prevents an operation from starting new steps.
type Pauser interface {
	Pause()
	Resume()
	Paused() bool
}

// Screen shows a report while it grows. It is safe for concurrent use.
type Screen struct {
	*display.Report
	options Options
	stop    context.CancelFunc
	release func() // writes what was held back on the error stream
	wg      conc.WaitGroup
	once    sync.Once
}

// Open shows a report on a screen until [Screen.Close] is called.
func Open(report *display.Report, o Options) *Screen {
	ctx, stop := context.WithCancel(context.Background())
	s := &Screen{Report: report, options: o, stop: stop}
	report.Hold()
	s.release = o.Terminal.HoldErr(func(text string) {
		text = strings.TrimSuffix(text, "\n")
		report.Note(text, text)
	})
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
	// If the terminal cannot show a screen, nothing is shown. The report is written in any case.
	_ = s.options.Terminal.Show(ctx, newModel(s.Report, s.options.Interrupt, s.options.Pauser))
}

// Browse shows a closed report until the user leaves it.
func Browse(ctx context.Context, report *display.Report, t *terminal.Terminal) error {
	m := newModel(report, nil, nil)
	if err := t.Draw(ctx, m); err != nil {
		return err
	}
	if m.broken {
		return terminal.ErrInterrupted
	}
	return nil
}

// Tick does nothing: the screen already shows slow steps.
func (*Screen) Tick() {}

// Leave is [Screen.Close] for a process that ends during the operation.
func (s *Screen) Leave() { s.Close() }

// Close restores the terminal, and writes the report. Further calls do nothing.
func (s *Screen) Close() {
	s.once.Do(func() {
		s.stop()
		s.wg.Wait()
		s.release()
		s.Report.Close()
	})
}
