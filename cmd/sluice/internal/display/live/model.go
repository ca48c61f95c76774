package live

import (
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/urn"
)

// redraw is the interval between two drawings. Keys redraw at once.
const redraw = 200 * time.Millisecond

type tickMsg time.Time

func tick() tea.Cmd {
	return tea.Tick(redraw, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// mode determines what keys act on.
type mode int

const (
	browsing  mode = iota // the tree
	filtering             // the text of the filter
	opened                // one resource
)

// model is the state of the screen that the user controls: the selection, the folds and the filter.
type model struct {
	report    *display.Report
	interrupt func() // for each Ctrl-C; nil if the operation is over
	pauser    Pauser // nil if the operation cannot be paused

	width, height int
	frame         int
	presses       int  // of Ctrl-C, while the operation runs
	broken        bool // Ctrl-C was pressed, and no operation runs
	mode          mode
	selected      urn.URN // "" if none
	first         int     // the first line of the tree that is shown
	folds         map[urn.URN]bool
	filter        textinput.Model
	detail        viewport.Model
	lines         []line // as last drawn
}

func newModel(report *display.Report, interrupt func(), pauser Pauser) *model {
	filter := textinput.New()
	filter.Prompt = "/"
	detail := viewport.New()
	detail.SoftWrap = true // the new value is at the end of the line
	on := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	detail.KeyMap = viewport.KeyMap{Up: on("up"), Down: on("down"), PageUp: on("pgup"), PageDown: on("pgdown")}
	return &model{report: report, interrupt: interrupt, pauser: pauser, folds: map[urn.URN]bool{}, filter: filter, detail: detail}
}

// Init implements [tea.Model].
func (m *model) Init() tea.Cmd {
	if m.isOver() {
		return nil
	}
	return tick()
}

// isOver reports whether the operation is over, so that the content no longer changes.
func (m *model) isOver() bool { return m.interrupt == nil }

// Update implements [tea.Model].
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		m.frame++
		return m, tick()
	case terminal.GoneMsg:
		if m.isOver() {
			m.broken = true
			return m, tea.Quit
		}
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "ctrl+c":
		if m.isOver() {
			m.broken = true
			return tea.Quit
		}
		m.presses++
		m.interrupt()
		return nil
	case "ctrl+z":
		return tea.Suspend
	}
	switch m.mode {
	case filtering:
		return m.pressFiltering(key)
	case opened:
		return m.pressOpened(key)
	}
	if m.isOver() && key.String() == "q" {
		return tea.Quit
	}
	m.pressBrowsing(key)
	return nil
}

func (m *model) pressFiltering(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc":
		m.filter.Reset()
		fallthrough
	case "enter":
		m.filter.Blur()
		m.mode = browsing
		return nil
	}
	var cmd tea.Cmd
	m.filter, cmd = m.filter.Update(key)
	m.first = 0
	return cmd
}

func (m *model) pressOpened(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc", "enter":
		m.mode = browsing
		return nil
	}
	switch key.String() {
	case "home":
		m.detail.GotoTop()
	case "end":
		m.detail.GotoBottom()
	}
	var cmd tea.Cmd
	m.detail, cmd = m.detail.Update(key)
	return cmd
}

func (m *model) pressBrowsing(key tea.KeyPressMsg) {
	switch key.String() {
	case "up":
		m.move(-1)
	case "down":
		m.move(1)
	case "pgup":
		m.move(-m.room())
	case "pgdown":
		m.move(m.room())
	case "home":
		m.selectAt(0, 1)
	case "end":
		m.selectAt(len(m.lines)-1, -1)
	case "right":
		m.fold(false)
	case "left":
		m.fold(true)
	case "enter":
		m.choose()
		if m.selected != "" {
			m.mode = opened
			m.detail.GotoTop()
		}
	case "p":
		m.pause()
	case "/":
		m.mode = filtering
		m.filter.Focus()
	case "esc":
		m.filter.Reset()
		m.selected, m.first = "", 0
	}
}

// pause pauses or resumes the operation.
func (m *model) pause() {
	switch {
	case m.pauser == nil:
	case m.pauser.Paused():
		m.pauser.Resume()
	default:
		m.pauser.Pause()
	}
}

func (m *model) isPaused() bool { return m.pauser != nil && m.pauser.Paused() }

// move moves the selection by a number of lines.
func (m *model) move(by int) {
	at := slices.IndexFunc(m.lines, func(l line) bool { return l.node != nil && l.node.URN == m.selected })
	if at < 0 {
		at, by = m.first, min(by, 0)
	}
	m.selectAt(min(max(at+by, 0), len(m.lines)-1), sign(by))
}

// selectAt selects the resource of a line, or of the next one in the direction of step if the line stands for
// several.
func (m *model) selectAt(at, step int) {
	for ; at >= 0 && at < len(m.lines); at += step {
		if n := m.lines[at].node; n != nil {
			m.selected = n.URN
			return
		}
	}
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// choose selects the first visible resource if none is selected, so that keys have something to act on.
func (m *model) choose() {
	if m.selected == "" {
		m.move(0)
	}
}

// fold hides or shows what is below the selected resource.
func (m *model) fold(hide bool) {
	m.choose()
	if m.selected != "" {
		m.folds[m.selected] = hide
	}
}
