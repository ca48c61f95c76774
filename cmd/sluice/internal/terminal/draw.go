package terminal

import (
	"context"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/sourcegraph/conc"
)

// Draw runs a Bubble Tea program on the terminal until it ends or ctx is done, and gives the terminal back. Signals are handled elsewhere.
func (t *Terminal) Draw(ctx context.Context, m tea.Model) error {
	in := &input{Reader: t.In}
	options := []tea.ProgramOption{tea.WithInput(in.reader()), tea.WithOutput(t.Out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !t.Colored() {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	p := tea.NewProgram(m, options...)
	in.ended = func() { p.Send(GoneMsg{}) }
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

// GoneMsg is told to a model when the terminal has gone away: nobody presses a key any more. Who has no controlling terminal gets no signal of it.
type GoneMsg struct{}

// input tells when what it reads has ended.
type input struct {
	io.Reader
	ended func()
}

func (i *input) Read(b []byte) (int, error) {
	n, err := i.Reader.Read(b)
	if err != nil {
		i.ended()
	}
	return n, err
}

// reader is the input, as a file if it is one: the library reads a terminal in its own way.
func (i *input) reader() io.Reader {
	if f, ok := i.Reader.(*os.File); ok {
		return &inputFile{f, i}
	}
	return i
}

// inputFile is a file that is read through an input.
type inputFile struct {
	*os.File
	input *input
}

func (f *inputFile) Read(b []byte) (int, error) { return f.input.Read(b) }
