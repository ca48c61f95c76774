package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/progress"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

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

// model is the state of the screen.
type model struct {
	report    *display.Report
	interrupt func() // for each Ctrl-C; nil if the operation is over
	pauser    Pauser // nil if the operation cannot be paused

	width, height int
	frame         int
	presses       int  // of Ctrl-C, while the operation runs
	broken        bool // Ctrl-C was pressed, and no operation runs
	mode          mode
	browser       browser
	detail        viewport.Model
}

func newModel(report *display.Report, interrupt func(), pauser Pauser) *model {
	filter := textinput.New()
	filter.Prompt = "/"
	detail := viewport.New()
	detail.SoftWrap = true // the new value is at the end of the line
	on := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	detail.KeyMap = viewport.KeyMap{Up: on("up"), Down: on("down"), PageUp: on("pgup"), PageDown: on("pgdown")}
	return &model{report: report, interrupt: interrupt, pauser: pauser, browser: browser{folds: map[urn.URN]bool{}, filter: filter}, detail: detail}
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
		m.browser.filter.Reset()
		fallthrough
	case "enter":
		m.browser.filter.Blur()
		m.mode = browsing
		return nil
	}
	var cmd tea.Cmd
	m.browser.filter, cmd = m.browser.filter.Update(key)
	m.browser.first = 0
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
		m.browser.move(-1)
	case "down":
		m.browser.move(1)
	case "pgup":
		m.browser.move(-m.room())
	case "pgdown":
		m.browser.move(m.room())
	case "home":
		m.browser.selectAt(0, 1)
	case "end":
		m.browser.selectAt(len(m.browser.lines)-1, -1)
	case "right":
		m.browser.fold(false)
	case "left":
		m.browser.fold(true)
	case "enter":
		m.browser.choose()
		if m.browser.selected != "" {
			m.mode = opened
			m.detail.GotoTop()
		}
	case "p":
		m.pause()
	case "/":
		m.mode = filtering
		m.browser.filter.Focus()
	case "esc":
		m.browser.filter.Reset()
		m.browser.selected, m.browser.first = "", 0
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

// spinner shows that the process is alive.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// View implements [tea.Model].
func (m *model) View() tea.View {
	var content string
	if m.width >= minWidth && m.height >= minHeight {
		m.report.Look(func(s display.Sight) { content = m.draw(s) })
	} else if m.width > 0 {
		content = ansi.Truncate("too small", m.width, "")
	}
	v := tea.NewView(content)
	v.AltScreen = true
	return v
}

// The smallest readable screen.
const (
	minWidth  = 20
	minHeight = 6
)

func (m *model) draw(s display.Sight) string {
	head := m.head(s)
	foot, at := m.foot(s)
	room := max(m.height-len(head)-len(foot), 1)
	body := m.body(s, room)
	if n := len(m.outOfSight(s, room)); n > 0 {
		room = max(room-n, 1)
		body = m.body(s, room)
		foot = slices.Insert(foot, at, m.outOfSight(s, room)[:n]...)
	}
	for len(body) < room {
		body = append(body, "")
	}
	all := append(append(head, body[:room]...), foot...)
	for i, text := range all {
		all[i] = ansi.Truncate(text, m.width, "…")
	}
	return strings.Join(all[:min(len(all), m.height)], "\n")
}

// room returns how many lines of the tree have been drawn.
func (m *model) room() int { return max(m.height-6, 1) }

func (m *model) head(s display.Sight) []string {
	if m.isOver() {
		return []string{bold.Render(s.Title)}
	}
	return []string{bold.Render(s.Title) + faint.Render("  "+s.Elapsed.Truncate(time.Second).String())}
}

func (m *model) body(s display.Sight, room int) []string {
	if m.mode == opened {
		m.detail.SetWidth(m.width)
		m.detail.SetHeight(room)
		m.detail.SetContentLines(s.Details(m.browser.selected, m.width))
		return strings.Split(m.detail.View(), "\n")
	}
	m.browser.list(s, m.isOver(), room)
	if wanted := m.browser.filter.Value(); len(m.browser.lines) == 0 && wanted != "" {
		what := "nothing has"
		if s.Waiting > 0 { // waiting resources have no rows yet
			what = "nothing that has begun has"
		}
		return []string{faint.Render(what + " \"" + wanted + "\" in its name or type")}
	}
	return m.browser.rows(s, m.width, room, m.frame)
}

// foot returns the lines below the tree, and the index at which the slowest operations belong.
func (m *model) foot(s display.Sight) (lines []string, slowest int) {
	if m.isOver() {
		return []string{m.keys()}, 0
	}
	out := []string{m.progress(s)}
	switch {
	case m.isPaused():
		out = append(out, bold.Render("paused")+": nothing new begins until you press p")
	case s.Limit != "":
		out = append(out, "waiting for the "+s.Limit)
	case s.Doing != "":
		out = append(out, faint.Render(spinner[m.frame%len(spinner)]+" "+s.Doing))
	}
	slowest = len(out)
	if s.Note != "" {
		out = append(out, faint.Render(s.Note))
	}
	said := s.Remarks(m.width)
	return append(append(out, said[:min(len(said), m.height/3)]...), m.keys()), slowest
}

// outOfSight describes the slowest operations that have no row among the lines drawn last, in so much room.
func (m *model) outOfSight(s display.Sight, room int) []string {
	if m.isOver() {
		return nil
	}
	var inSight map[urn.URN]bool
	if m.mode != opened {
		inSight = m.browser.inSight(room)
	}
	var rows []string
	for _, text := range s.Slowest(min(max(m.height/6, 1), maxSlowest), func(u urn.URN) bool { return inSight[u] }) {
		rows = append(rows, faint.Render(spinner[m.frame%len(spinner)]+" "+text))
	}
	return rows
}

// maxSlowest is how many of the slowest operations the footer has on a tall screen.
const maxSlowest = 8

// progress draws a bar, if the number of resources is known, and as many counts as fit.
func (m *model) progress(s display.Sight) string {
	bar := ""
	if s.Expected > 0 {
		width := 30
		if m.width < roomy {
			width = m.width / 6
		}
		p := progress.New(progress.WithWidth(width), progress.WithoutPercentage())
		done := float64(s.Done) + float64(s.Remaining)/2 // half of a replacement
		bar = p.ViewAs(min(done/float64(s.Expected), 1)) + " "
	}
	parts := counted(s)
	for len(parts) > 1 && lipgloss.Width(bar+strings.Join(parts, ", ")) > m.width {
		parts = parts[:len(parts)-1]
	}
	return bar + strings.Join(parts, ", ")
}

// roomy is the width of a screen with room for a long bar.
const roomy = 100

// counted returns counts of the progress, the most important first.
func counted(s display.Sight) []string {
	parts := []string{fmt.Sprintf("%d done", s.Done)}
	if s.Expected > 0 {
		parts[0] = fmt.Sprintf("%d of %d done", s.Done, s.Expected)
	}
	if s.Remaining > 0 && !s.IsPreview {
		parts = append(parts, fmt.Sprintf("%d old to delete", s.Remaining))
	}
	if s.Errored > 0 {
		parts = append(parts, failing.Render(fmt.Sprintf("%d failed", s.Errored)))
	}
	if s.Left != "" {
		parts = append(parts, bold.Render(s.Left))
	}
	if s.Running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", s.Running))
	}
	if s.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", s.Waiting))
	}
	if seconds := s.Elapsed.Seconds(); s.Done >= 20 && seconds >= 2 {
		parts = append(parts, fmt.Sprintf("%.0f/s", float64(s.Done)/seconds))
	}
	return parts
}

func (m *model) keys() string {
	switch m.mode {
	case filtering:
		return m.browser.filter.View()
	case opened:
		return faint.Render("↑↓ scroll  esc back  " + m.stop())
	}
	text := "↑↓ select  enter open  ←→ fold  / find  "
	if m.browser.filter.Value() != "" {
		text = "found: " + m.browser.filter.Value() + "  enter open  esc all  "
	}
	if m.isOver() {
		text += "q back"
	} else {
		switch {
		case m.isPaused():
			text += "p go on  "
		case m.pauser != nil:
			text += "p pause  "
		}
		text += m.stop()
	}
	return faint.Render(text)
}

// stop describes the effect of the next Ctrl-C.
func (m *model) stop() string {
	switch m.presses {
	case 0:
		return "^C cancel"
	case 1:
		return "^C abort"
	}
	return "^C leave"
}

var (
	faint         = lipgloss.NewStyle().Faint(true)
	bold          = lipgloss.NewStyle().Bold(true)
	selectedStyle = lipgloss.NewStyle().Reverse(true)
	failing       = lipgloss.NewStyle().Foreground(lipgloss.Red)
)
