package terminal

import (
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/sourcegraph/conc"
)

// Draw runs a Bubble Tea program for a question on the terminal, until it ends or ctx is done.
func (t *Terminal) Draw(ctx context.Context, m tea.Model) error {
	return t.console.question(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// Show runs a Bubble Tea program for output on the terminal, until it ends or ctx is done. A question takes the terminal from it; the same model is
// run again afterwards. Signals are handled elsewhere.
func (t *Terminal) Show(ctx context.Context, m tea.Model) error {
	return t.console.screen(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// draw runs a Bubble Tea program and restores the terminal.
func (t *Terminal) draw(ctx context.Context, m tea.Model) error {
	ctx, done := context.WithCancel(ctx)
	var p *tea.Program
	in, leave := t.console.in, func() {}
	if f, is := in.(*os.File); is { // the library needs a file to read from a terminal
		i := &input{File: f, ended: func() { p.Send(GoneMsg{}) }}
		in, leave = i, i.leave
	}
	options := []tea.ProgramOption{tea.WithInput(in), tea.WithOutput(t.console.out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !t.Colored() {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	p = tea.NewProgram(m, options...)
	var wg conc.WaitGroup
	wg.Go(func() {
		<-ctx.Done()
		leave()
		p.Quit()
	})
	_, err := p.Run()
	done()
	wg.Wait()
	return err
}

// GoneMsg is sent to a model when the terminal has gone away, so that no more keys arrive. A process without a controlling terminal gets no signal of
// it.
type GoneMsg struct{}

// input is a file whose end can be forced. The library waits at most half a second for its own reader. Later input is for the next question, so a
// delayed reader must not get it.
type input struct {
	*os.File
	ended func()

	reading sync.Mutex // held while the file is read
	left    atomic.Bool
}

// leave ends the input. Unread input stays.
func (i *input) leave() {
	i.left.Store(true)
	i.reading.Lock() // until a read in progress has returned
	defer i.reading.Unlock()
}

func (i *input) Read(b []byte) (int, error) {
	n, err := i.read(b)
	if err != nil && !i.left.Load() {
		i.ended()
	}
	return n, err
}

func (i *input) read(b []byte) (int, error) {
	i.reading.Lock()
	defer i.reading.Unlock()
	if i.left.Load() {
		return 0, io.EOF
	}
	return i.File.Read(b)
}
