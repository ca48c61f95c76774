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

// Draw runs a Bubble Tea program that asks something on the terminal, until it ends or ctx is done.
func (t *Terminal) Draw(ctx context.Context, m tea.Model) error {
	return t.console.question(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// Show runs a Bubble Tea program that shows something on the terminal, until it ends or ctx is done. A question takes the terminal from it; the
// same model is run again afterwards. Signals are handled elsewhere.
func (t *Terminal) Show(ctx context.Context, m tea.Model) error {
	return t.console.screen(ctx, func(ctx context.Context) error { return t.draw(ctx, m) })
}

// draw runs a Bubble Tea program and gives the terminal back.
func (t *Terminal) draw(ctx context.Context, m tea.Model) error {
	ctx, done := context.WithCancel(ctx)
	var p *tea.Program
	in, leave := t.console.in, func() {}
	if f, is := in.(*os.File); is { // the library reads a terminal in its own way, which needs a file
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

// GoneMsg is told to a model when the terminal has gone away: nobody presses a key any more. Who has no controlling terminal gets no signal of it.
type GoneMsg struct{}

// input is a file that tells when it has ended. The library waits half a second at most for its own reader; what is typed after that is for a question,
// and a reader that comes late must not have it.
type input struct {
	*os.File
	ended func()

	reading sync.Mutex // held while the file is read
	left    atomic.Bool
}

// leave ends the input. What was not read yet stays.
func (i *input) leave() {
	i.left.Store(true)
	i.reading.Lock() // until a reader that came before has what it was waiting for
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
