package terminal

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/sourcegraph/conc"
)

// Draw runs a Bubble Tea program on the terminal until it ends or ctx is done, and gives the terminal back. Signals are handled elsewhere.
func (t *Terminal) Draw(ctx context.Context, m tea.Model) error {
	options := []tea.ProgramOption{tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithoutSignalHandler(), tea.WithFPS(20)}
	if !t.Colored() {
		options = append(options, tea.WithColorProfile(colorprofile.Ascii))
	}
	p := tea.NewProgram(m, options...)
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
