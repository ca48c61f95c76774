package live

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/picture"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "write the golden files")

// stage is a fake operation.
type stage struct {
	now    time.Time
	report *display.Report
	left   string // the remaining time
}

func newStage(o display.Options) *stage { return newStageOn(io.Discard, o) }

func newStageOn(out io.Writer, o display.Options) *stage {
	s := &stage{now: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)}
	o.Out, o.Now = out, func() time.Time { return s.now }
	o.Left = func(time.Time) string { return s.left }
	s.report = display.NewReport(o)
	s.report.Hold()
	return s
}

func options(preview bool) display.Options {
	if preview {
		return display.Options{Title: "Previewing update (dev):", IsPreview: true, WaitsFor: "the program or a provider"}
	}
	return display.Options{Title: "Updating (dev):", Expected: 120, WaitsFor: "the program or a provider"}
}

func (s *stage) after(d time.Duration) { s.now = s.now.Add(d) }

// step returns a step. In a name, the text before the last slash is the parent: "net/vpc" is in "net", and everything in "shop-dev".
func step(op stages.Op, name string) stages.StepInfo {
	parent, kind := "shop-dev", urn.Type("aws:s3/bucket:Bucket")
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		parent = name[:i]
	}
	custom := true
	switch {
	case name == "shop-dev":
		parent, kind, custom = "", "pulumi:pulumi:Stack", false
	case strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], "net"):
		kind, custom = "my:index:Network", false
	}
	r := &state.Resource{URN: nameOf(name, kind), Custom: custom, Inputs: property.NewMap(map[string]property.Value{"size": property.Number(3)})}
	if parent != "" {
		r.Parent = step(stages.OpSame, parent).URN
	}
	info := stages.StepInfo{Op: op, URN: r.URN, New: r}
	switch {
	case stages.Removes(op):
		info.Old, info.New = r, nil
		info.Reason = stages.Reason{Kind: "gone"}
	case op != stages.OpCreate:
		was := *r
		was.Inputs = property.NewMap(map[string]property.Value{"size": property.Number(2)})
		info.Old = &was
	}
	return info
}

func nameOf(name string, kind urn.Type) urn.URN { return urn.New("dev", "shop", "", kind, name) }

func (s *stage) begin(op stages.Op, names ...string) {
	for _, n := range names {
		s.report.Observe(stages.StepStarted{Step: step(op, n), At: s.now})
	}
}

func (s *stage) end(op stages.Op, names ...string) {
	for _, n := range names {
		s.report.Observe(stages.StepDone{Step: step(op, n), At: s.now})
	}
}

// complete registers the outputs of components.
func (s *stage) complete(names ...string) {
	for _, n := range names {
		s.report.Observe(stages.StepDone{Step: step(stages.OpSame, n), Outputs: true, At: s.now})
	}
}

func (s *stage) fail(op stages.Op, name, why string) {
	s.report.Observe(stages.StepFailed{Step: step(op, name), Err: errors.New(why), At: s.now})
}

func names(format string, from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// frames checks the drawing, without colours, on screens of several sizes. A line that is too long would wrap.
func frames(t *testing.T, name string, m tea.Model) {
	t.Helper()
	var b strings.Builder
	for _, size := range []tea.WindowSizeMsg{{Width: 60, Height: 20}, {Width: 100, Height: 30}} {
		m, _ = m.Update(size)
		fmt.Fprintf(&b, "%d × %d\n", size.Width, size.Height)
		lines := strings.Split(ansi.Strip(m.View().Content), "\n")
		require.LessOrEqual(t, len(lines), size.Height)
		for _, line := range lines {
			require.LessOrEqual(t, ansi.StringWidth(line), size.Width)
			b.WriteString("|" + strings.TrimRight(line, " ") + "\n")
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// screenOf returns the model of a running operation.
func screenOf(s *stage) *model {
	return newModel(s.report, func() {}, &pauses{})
}

// pauses is an operation that can be paused.
type pauses struct{ paused bool }

func (p *pauses) Pause()       { p.paused = true }
func (p *pauses) Resume()      { p.paused = false }
func (p *pauses) Paused() bool { return p.paused }

func press(m tea.Model, keys ...string) tea.Model {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k, Code: []rune(k)[0]}
		switch k {
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		case "left":
			msg = tea.KeyPressMsg{Code: tea.KeyLeft}
		case "right":
			msg = tea.KeyPressMsg{Code: tea.KeyRight}
		case "ctrl-c":
			msg = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		case "esc":
			msg = tea.KeyPressMsg{Code: tea.KeyEscape}
		}
		m, _ = m.Update(msg)
	}
	return m
}

// moments are defined by functions that return the keys to press.
func moments() map[string]func(s *stage) []string {
	return map[string]func(s *stage) []string{
		"start": func(s *stage) []string { s.after(3 * time.Second); return nil },
		"few": func(s *stage) []string {
			s.begin(stages.OpUpdate, "shop-dev", "net")
			s.begin(stages.OpCreate, "net/vpc", "assets")
			s.after(2300 * time.Millisecond)
			s.end(stages.OpCreate, "net/vpc")
			s.complete("net")
			s.begin(stages.OpUpdate, "logs")
			s.after(time.Second)
			return nil
		},
		"forty_running": func(s *stage) []string {
			s.begin(stages.OpSame, "shop-dev")
			s.end(stages.OpSame, names("old%d", 0, 500)...)
			s.begin(stages.OpCreate, names("new%d", 0, 100)...)
			s.after(12 * time.Second)
			s.end(stages.OpCreate, names("new%d", 0, 60)...)
			return nil
		},
		"failure": func(s *stage) []string {
			s.begin(stages.OpSame, "shop-dev", "net")
			s.begin(stages.OpCreate, names("net/subnet%d", 0, 50)...)
			s.after(4 * time.Second)
			s.fail(stages.OpCreate, "net/subnet17", "no addresses are left in 10.0.0.0/24")
			s.end(stages.OpCreate, names("net/subnet%d", 20, 50)...)
			return nil
		},
		"cancelled": func(s *stage) []string {
			s.begin(stages.OpCreate, "shop-dev", "db", "cache")
			s.after(40 * time.Second)
			s.report.Note("", "^C received; cancelling. No new operations start; waiting for 2 to finish.\n"+
				"To ask the providers to abort them, press ^C again. That may leave resources in an unknown state.")
			return []string{"ctrl-c"}
		},
		"time_left": func(s *stage) []string {
			s.left = "about 2 min left"
			s.begin(stages.OpSame, "shop-dev")
			s.begin(stages.OpCreate, names("new%d", 0, 60)...)
			s.after(40 * time.Second)
			s.end(stages.OpCreate, names("new%d", 0, 50)...)
			return nil
		},
		"paused": func(s *stage) []string {
			s.begin(stages.OpCreate, "shop-dev", "db")
			s.after(5 * time.Second)
			return []string{"p"}
		},
		"limit": func(s *stage) []string {
			s.begin(stages.OpCreate, "shop-dev", "db")
			s.report.Observe(stages.LimitWait{Limit: "aws.create", Waiting: true})
			return nil
		},
		"found": func(s *stage) []string {
			s.begin(stages.OpSame, "shop-dev")
			s.end(stages.OpSame, names("old%d", 0, 500)...)
			return []string{"/", "d", "4", "9", "enter", "down", "down"}
		},
		"opened": func(s *stage) []string {
			s.begin(stages.OpSame, "shop-dev")
			s.begin(stages.OpUpdate, "db")
			s.report.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{URN: step(stages.OpUpdate, "db").URN, Severity: stages.Warning, Message: "it restarts"}})
			return []string{"down", "down", "enter"}
		},
		"folded": func(s *stage) []string {
			s.begin(stages.OpSame, "shop-dev", "net")
			s.begin(stages.OpCreate, "net/vpc", "db")
			return []string{"down", "down", "down", "left"}
		},
		"odd_names": func(s *stage) []string {
			s.begin(stages.OpCreate, "shop-dev", "a\x1b[2Jb", "\u202egnp", "日本語", strings.Repeat("long", 300))
			return nil
		},
	}
}

// at returns the model of a screen at a moment.
func at(moment func(s *stage) []string, o display.Options, size tea.WindowSizeMsg) tea.Model {
	s := newStage(o)
	keys := moment(s)
	m := tea.Model(screenOf(s))
	m, _ = m.Update(size)
	m.View()
	for _, k := range keys {
		m = press(m, k)
		m.View()
	}
	return m
}

func TestFrames(t *testing.T) {
	for name, moment := range moments() {
		t.Run(name, func(t *testing.T) {
			frames(t, name, at(moment, options(false), tea.WindowSizeMsg{Width: 60, Height: 20}))
		})
	}
}

func colored(preview bool) display.Options {
	o := options(preview)
	o.Color = true
	return o
}

// The pictures of docs/screens.md are of these moments.
func TestPictures(t *testing.T) {
	for name, size := range map[string]tea.WindowSizeMsg{
		"start": {Width: 80, Height: 10}, "few": {Width: 80, Height: 14}, "time_left": {Width: 60, Height: 20}, "forty_running": {Width: 100, Height: 24},
		"failure": {Width: 80, Height: 20}, "cancelled": {Width: 80, Height: 16}, "opened": {Width: 80, Height: 18}, "found": {Width: 80, Height: 14},
	} {
		t.Run(name, func(t *testing.T) {
			m := at(moments()[name], colored(false), size)
			picture.Check(t, root, name, size.Width, size.Height, m.View().Content, *update)
		})
	}
	t.Run("end", func(t *testing.T) {
		var out strings.Builder
		s := newStageOn(&out, colored(false))
		s.begin(stages.OpUpdate, "shop-dev", "net")
		s.begin(stages.OpCreate, names("net/subnet%d", 0, 12)...)
		s.begin(stages.OpUpdate, "db")
		s.after(4 * time.Second)
		s.end(stages.OpUpdate, "net", "db")
		s.fail(stages.OpCreate, "net/subnet7", "no addresses are left in 10.0.0.0/24")
		s.end(stages.OpCreate, append(names("net/subnet%d", 0, 7), names("net/subnet%d", 8, 12)...)...)
		s.report.Observe(stages.Summary{Duration: 4 * time.Second, Changes: map[stages.Op]int{stages.OpCreate: 11, stages.OpUpdate: 2}})
		s.report.Close()
		picture.Check(t, root, "end", 100, 1+strings.Count(out.String(), "\n"), out.String(), *update)
	})
}

// root is the path to the root of the project.
const root = "../../../../.."

func TestAPreviewIsBrowsedInTheOrderOfDanger(t *testing.T) {
	s := newStage(options(true))
	for op, name := range map[stages.Op]string{stages.OpSame: "shop-dev", stages.OpCreate: "a", stages.OpUpdate: "b", stages.OpReplace: "c", stages.OpDelete: "net/d"} {
		s.end(op, name)
	}
	s.end(stages.OpSame, "net", "e")
	frames(t, "browse", newModel(s.report, nil, nil))
}

func TestWhatIsEquallyDangerousIsBrowsedInTheOrderOfNames(t *testing.T) {
	browsed := func(names ...string) string {
		s := newStage(options(true))
		s.end(stages.OpReplace, names...)
		m := newModel(s.report, nil, nil)
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		return m.View().Content
	}
	text := browsed("r10", "r2", "r1")
	require.Equal(t, text, browsed("r1", "r2", "r10"))
	require.Less(t, strings.Index(text, "r2 "), strings.Index(text, "r10 "))
}

func TestKeysActOnTheFirstResourceIfNoneIsSelected(t *testing.T) {
	s := newStage(options(true))
	s.end(stages.OpCreate, "a", "b")
	draw := func(keys ...string) (*model, string) {
		m := newModel(s.report, nil, nil)
		m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
		m.View() // keys act on visible rows
		press(m, keys...)
		return m, m.View().Content
	}
	m, _ := draw("left")
	require.Equal(t, "shop-dev", m.browser.selected.Name())
	m, _ = draw("enter")
	require.Equal(t, opened, m.mode)
	require.Equal(t, "shop-dev", m.browser.selected.Name())
	_, text := draw("/", "z", "z", "enter")
	require.Contains(t, text, `nothing has "zz" in its name or type`)
	_, text = draw("/", "b", "enter")
	require.NotContains(t, text, "nothing has")
}

// Changes that were unrealized the last time, and the components around them, come after all other changes.
func TestAPreviewIsBrowsedWithWhatDidNotHappenLast(t *testing.T) {
	o := options(true)
	o.Unrealized = map[urn.URN]stages.Op{}
	for _, name := range []string{"net/a", "b", "e"} {
		o.Unrealized[step(stages.OpReplace, name).URN] = stages.OpReplace
	}
	s := newStage(o)
	possibly := func(op stages.Op, name string) {
		info := step(op, name)
		info.Reason.Possible = &stages.Possibility{Otherwise: stages.OpSame}
		s.report.Observe(stages.StepDone{Step: info, Planning: true, At: s.now})
	}
	s.end(stages.OpSame, "shop-dev", "net")
	possibly(stages.OpReplace, "net/a")
	possibly(stages.OpReplace, "b")
	possibly(stages.OpReplace, "c") // for the first time
	s.end(stages.OpReplace, "e")    // for certain
	s.end(stages.OpUpdate, "d")
	frames(t, "browse_unrealized", newModel(s.report, nil, nil))
}

func TestScreensThatAreTooSmallAreNotDrawnOn(t *testing.T) {
	s := newStage(options(false))
	s.begin(stages.OpCreate, "shop-dev", "a")
	m := screenOf(s)
	for width := range 25 {
		for height := range 10 {
			m.Update(tea.WindowSizeMsg{Width: width, Height: height})
			lines := strings.Split(m.View().Content, "\n")
			require.LessOrEqual(t, len(lines), max(height, 1))
			for _, l := range lines {
				require.LessOrEqual(t, ansi.StringWidth(l), width)
			}
		}
	}
}

func TestSiblingsStayInTheOrderOfTypesAndNames(t *testing.T) {
	rows := func(size tea.WindowSizeMsg, names ...string) (out []string) {
		s := newStage(options(false))
		s.begin(stages.OpCreate, "shop-dev")
		m := screenOf(s)
		m.Update(size)
		for _, n := range names {
			s.begin(stages.OpCreate, n)
			m.View() // later nodes are put in their places
		}
		for _, l := range m.browser.lines[1:] {
			if l.node != nil {
				out = append(out, l.node.URN.Name())
			}
		}
		return out
	}
	large, small := tea.WindowSizeMsg{Width: 80, Height: 24}, tea.WindowSizeMsg{Width: 80, Height: 9}
	want := []string{"r1", "r2", "r3", "r10", "r20", "net"}
	require.Equal(t, want, rows(large, "r10", "r2", "net", "r20", "r1", "r3"))
	require.Equal(t, want, rows(large, "r3", "net", "r1", "r20", "r2", "r10"))
	require.Equal(t, want[:5], rows(small, "r10", "r2", "net", "r20", "r1", "r3"), "there is only room for what runs")
}

func TestTheBarCountsResources(t *testing.T) {
	o := options(false)
	o.Expected = 4
	s := newStage(o)
	foot := func() string {
		m := screenOf(s)
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
		_, foot, _ := strings.Cut(ansi.Strip(m.View().Content), "░ ")
		line, _, _ := strings.Cut(foot, "\n")
		return strings.TrimSpace(line)
	}
	s.begin(stages.OpCreateReplacement, "a", "b")
	require.Equal(t, "0 of 4 done, 2 running, 2 waiting", foot())
	s.end(stages.OpCreateReplacement, "a", "b")
	s.end(stages.OpReplace, "a", "b")
	s.end(stages.OpUpdate, "c")
	require.Equal(t, "1 of 4 done, 2 old to delete, 1 waiting", foot())
	s.begin(stages.OpDeleteReplaced, "a")
	require.Equal(t, "1 of 4 done, 2 old to delete, 1 running, 1 waiting", foot())
	s.end(stages.OpDeleteReplaced, "a")
	require.Equal(t, "2 of 4 done, 1 old to delete, 1 waiting", foot())
	s.end(stages.OpDeleteReplaced, "d") // it is deleted first
	require.Equal(t, "2 of 4 done, 1 old to delete, 1 waiting", foot())
	s.end(stages.OpCreateReplacement, "d")
	s.end(stages.OpRefresh, "e")
	require.Equal(t, "3 of 4 done, 1 old to delete", foot())
}

func TestKeysThatAreTypedByAccidentDoNothing(t *testing.T) {
	m := at(moments()["few"], options(false), tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, view := range []string{"", "enter"} { // the tree, a resource
		if view != "" {
			m = press(m, view)
		}
		before := m.View().Content
		for _, key := range []string{"h", "j", "k", "l", "g", "G", "q", "b", "f", "u", "d", "x"} {
			m = press(m, key)
			require.Equal(t, before, m.View().Content, key)
		}
	}
}

func TestTheSlowestOperationsAreBelowTheBarAsFarAsThereIsRoom(t *testing.T) {
	for height, want := range map[int]int{8: 1, 20: 3, 30: 5, 50: 8, 90: 8} {
		s := newStage(options(false))
		s.begin(stages.OpCreate, "shop-dev", "z") // z began first
		s.after(time.Second)
		s.begin(stages.OpCreate, names("new%d", 0, 150)...)
		m := screenOf(s)
		m.Update(tea.WindowSizeMsg{Width: 100, Height: height})
		text := ansi.Strip(m.View().Content)
		_, foot, _ := strings.Cut(text, " done")
		require.Equal(t, want, strings.Count(foot, "creating aws:s3:Bucket"), height)
		require.Less(t, strings.Index(foot, "Bucket z (1s)"), 100)
		require.Contains(t, foot, "Bucket z (1s)")
	}
}

func TestWhatRunsIsNotSaidTwiceIfTheWholeTreeIsInSight(t *testing.T) {
	s := newStage(options(false))
	s.begin(stages.OpCreate, "shop-dev", "a", "b")
	m := screenOf(s)
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 20})
	running := func() int { return strings.Count(m.View().Content, "creating aws:s3:Bucket") }
	require.Zero(t, running())
	press(m, "left") // the stack is folded
	require.Equal(t, 2, running())
	press(m, "right")
	press(m, "enter") // only the stack is in sight
	require.Equal(t, 2, running())
}

func TestAHundredThousandResourcesAreDrawnAndFound(t *testing.T) {
	o := options(false)
	o.Expected = 100_000
	s := newStage(o)
	s.begin(stages.OpSame, "shop-dev")
	all := names("r%d", 0, 100_000)
	for _, name := range all[:99_960] {
		info := step(stages.OpCreate, name)
		s.report.Observe(stages.StepStarted{Step: info, At: s.now})
		s.report.Observe(stages.StepDone{Step: info, At: s.now})
	}
	s.begin(stages.OpCreate, all[99_960:]...)
	m := tea.Model(screenOf(s))
	m, _ = m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.View()
	shown := func(keys ...string) string {
		m = press(m, keys...)
		return ansi.Strip(m.View().Content)
	}
	require.Contains(t, shown(), "99960 of 100000 done, 40 running")
	require.Contains(t, shown(), "r99960")
	require.Contains(t, shown("end"), "99960 created")
	require.Contains(t, shown("/", "4", "2", "4", "2", "4", "enter"), "r42424   created")
	require.Contains(t, shown("end", "enter"), "Bucket r42424 created")
	text := shown("esc", "esc", "down", "right") // the stack is unfolded
	require.Contains(t, text, "r0 ")
	require.Contains(t, text, "more lines")
}

func TestWhatIsSelectedIsInSight(t *testing.T) {
	s := newStage(options(false))
	s.begin(stages.OpSame, "shop-dev")
	s.end(stages.OpCreate, "done")
	s.begin(stages.OpCreate, names("r%d", 0, 60)...)
	m := screenOf(s)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.View()
	inSight := func() {
		require.Regexp(t, regexp.MustCompile(m.browser.selected.Name()+" +(creating|unchanged)"), ansi.Strip(m.View().Content))
	}
	for range 70 {
		press(m, "down")
		inSight()
	}
	require.Equal(t, "r59", m.browser.selected.Name())
	require.Contains(t, m.View().Content, "1 created", "what is said of others is behind the last row")
	for range 70 {
		press(m, "up")
		inSight()
	}
	require.Equal(t, "shop-dev", m.browser.selected.Name())
}

// The cost of a drawing depends on the visible part, and not on the number of resources.
func BenchmarkView(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStage(options(false))
			s.begin(stages.OpSame, "shop-dev")
			for _, name := range names("r%d", 0, n) {
				s.begin(stages.OpCreate, name)
			}
			s.after(time.Second)
			for _, name := range names("r%d", 0, n-16) {
				s.end(stages.OpCreate, name)
			}
			m := screenOf(s)
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
			for b.Loop() {
				m.View()
			}
		})
	}
}

// BenchmarkMemory measures the memory of a report for each resource, without the states, which the operation keeps anyway.
func BenchmarkMemory(b *testing.B) {
	const n = 10_000
	var made []stages.StepInfo
	for _, name := range names("r%d", 0, n) {
		made = append(made, step(stages.OpCreate, name))
	}
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := newStage(options(false))
		for _, info := range made {
			s.report.Observe(stages.StepStarted{Step: info, At: s.now})
			s.report.Observe(stages.StepDone{Step: info, At: s.now})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(s)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/resource")
}

// BenchmarkObserve measures the work of a report for each resource.
func BenchmarkObserve(b *testing.B) {
	const n = 10_000
	var made []stages.StepInfo
	for _, name := range names("r%d", 0, n) {
		made = append(made, step(stages.OpCreate, name))
	}
	b.ReportAllocs()
	for b.Loop() {
		s := newStage(options(false))
		for _, info := range made {
			s.report.Observe(stages.StepStarted{Step: info, At: s.now})
			s.report.Observe(stages.StepDone{Step: info, At: s.now})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/resource")
}
