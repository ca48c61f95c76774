package terminal

import (
	"context"
	"os"

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
	in := t.console.in
	if f, is := in.(*os.File); is { // the library reads a terminal in its own way, which needs a file
		in = &input{f, func() { p.Send(GoneMsg{}) }}
	}
	options := []tea.ProgramOption{tea.WithInput(in), tea.WithOutput(t.console.out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !t.Colored() {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	p = tea.NewProgram(m, options...)
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

// GoneMsg is told to a model when the terminal has gone away: nobody presses a key any more. Who has no controlling terminal gets no signal of it.
type GoneMsg struct{}

// input is a file that tells when it has ended.
type input struct {
	*os.File
	ended func()
}

func (i *input) Read(b []byte) (int, error) {
	n, err := i.File.Read(b)
	if err != nil {
		i.ended()
	}
	return n, err
}
